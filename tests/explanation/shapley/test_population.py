"""Means over all texts of a bigram model equal enumeration over texts."""

from itertools import product

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.explanation.shapley.population import population_values
from wfalens.explanation.shapley.quadrature import exact_shapley
from wfalens.ragged import Ragged

WORDS, LONGEST = 4, 6
KINDS = [lambda: sample("probe", 5, n=4, words=WORDS), lambda: linear_sample(5, words=WORDS)]


def short_texts(rng, ends) -> WordBigrams:
    """Three words, `<unk>` among them, in two clusters; texts of more than six words are rare."""
    counts = rng.integers(1, 9, (3, 3))
    counts[:2, 2] = ends
    return WordBigrams(np.array([0, 0, 1, 0], np.int32), counts)


def enumerated(wfa, absence):
    """E[φ] and E|φ| by enumeration; (words, C) each"""
    chain, shares = wfa.bigrams.transitions, wfa.bigrams.word_shares(wfa.word_counts)
    texts = [text for length in range(1, LONGEST) for text in product(range(1, WORDS), repeat=length)]
    ids = Ragged.from_lists(texts, np.int32)
    values = exact_shapley(wfa, ids, absence)[0].values
    likely = np.empty(len(texts))
    for at, text in enumerate(texts):
        clusters = wfa.bigrams.cluster[list(text)]
        path = chain[np.append(2, clusters), np.append(clusters, 2)].prod()
        likely[at] = path * shares[clusters, list(text)].prod()
    weight = likely[ids.item_of_value()]
    visits = np.bincount(ids.values, weight)
    of_words = weight[:, None] * (ids.values[:, None] == np.arange(1, WORDS)) / visits[1:]
    return of_words.T @ values, of_words.T @ np.abs(values)


@pytest.mark.parametrize("absence", ["delete", "unknown", "background"])
@pytest.mark.parametrize("make", KINDS)
def test_means_equal_enumeration_over_all_texts(make, absence):
    wfa, rng = make().wfa, np.random.default_rng(1)
    wfa.word_counts, wfa.bigrams = np.array([0, 3, 2, 6]), short_texts(rng, 10**6)
    mean, size = enumerated(wfa, absence)
    found = population_values(wfa, np.arange(1, WORDS, dtype=np.int32), absence, 3, rng)
    scale = size.max()
    np.testing.assert_allclose(found["mean"], mean, atol=1e-6 + 1e-3 * found["error"] + 1e-9 * scale)
    assert found["error"] < 1e-4


@pytest.mark.parametrize("make", KINDS)
def test_sizes_lie_within_their_standard_errors_of_enumeration(make):
    wfa, rng = make().wfa, np.random.default_rng(1)
    wfa.word_counts, wfa.bigrams = np.array([0, 3, 2, 6]), short_texts(rng, 40)
    _, size = enumerated(wfa, "background")
    found = population_values(wfa, np.arange(1, WORDS, dtype=np.int32), "background", 200, rng)
    missed = 0.01 * size.max()  # by enumeration: longer texts
    assert (np.abs(found["size"] - size) <= 4 * found["size_error"] + missed).all()
    assert 0 < found["size_error"].max() < 0.2 * size.max()  # so that the intervals say something
