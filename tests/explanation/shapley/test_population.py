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


def short_texts(rng) -> WordBigrams:
    """Three words, `<unk>` among them, in two clusters; texts of more than six words are rarer than one in 10^9."""
    counts = rng.integers(1, 9, (3, 3))
    counts[:2, 2] = 10**6
    return WordBigrams(np.array([0, 0, 1, 0], np.int32), counts)


@pytest.mark.parametrize("absence", ["delete", "unknown", "background"])
@pytest.mark.parametrize("make", [lambda: sample("probe", 5, n=4, words=WORDS), lambda: linear_sample(5, words=WORDS)])
def test_means_equal_enumeration_over_all_texts(make, absence):
    wfa, rng = make().wfa, np.random.default_rng(1)
    wfa.word_counts, wfa.bigrams = np.array([0, 3, 2, 6]), short_texts(rng)
    chain, shares = wfa.bigrams.transitions, wfa.bigrams.word_shares(wfa.word_counts)
    sums, visits = np.zeros((WORDS, len(wfa.class_names))), np.zeros(WORDS)
    for length in range(1, LONGEST):
        for text in product(range(1, WORDS), repeat=length):
            clusters = wfa.bigrams.cluster[list(text)]
            path = chain[np.append(2, clusters), np.append(clusters, 2)].prod()
            likely = path * shares[clusters, list(text)].prod()
            ids = np.array(text, np.int32)
            values = exact_shapley(wfa, Ragged(ids, np.array([0, length])), absence)[0].values
            np.add.at(sums, ids, likely * values)
            np.add.at(visits, ids, likely)
    found, error = population_values(wfa, np.arange(1, WORDS, dtype=np.int32), absence)
    scale = np.abs(sums).max() / visits.max()
    np.testing.assert_allclose(found, sums[1:] / visits[1:, None], atol=1e-6 + 1e-3 * error + 1e-9 * scale)
    assert error < 1e-4
