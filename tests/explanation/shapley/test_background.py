"""Random words that fit their neighbours: values equal enumeration over all coalitions and all background texts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, sample
from tests.explanation.shapley.brute import (
    Case,
    banzhaf_by_definition,
    close,
    dense_matrices,
    shapley_by_definition,
)
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError
from wfalens.explanation.shapley import interactions, n_shapley, shapley
from wfalens.explanation.shapley.background import MOST_BIGRAM_WORDS
from wfalens.explanation.shapley.coalitions import all_coalitions
from wfalens.explanation.shapley.game import coalition_weights
from wfalens.explanation.shapley.quadrature import exact_marginals, exact_shapley
from wfalens.ragged import Ragged


@st.composite
def bigram_cases(draw, most_words: int = 4) -> Case:
    """An automaton of either kind over four words, `<unk>` among them, with random clusters and counts of pairs."""
    seed, words = draw(st.integers(0, 10**6)), 5
    rng = np.random.default_rng(seed)
    if draw(st.booleans()):
        item = sample(draw(st.sampled_from(["empirical", "probe", "shared"])), seed, n=4, words=words)
    else:
        item = linear_sample(seed, layers=2, width=2, words=words)
    clusters = draw(st.integers(1, words))
    cluster = np.append(np.arange(clusters), rng.integers(0, clusters, words - clusters)).astype(np.int32)
    item.wfa.word_counts = rng.integers(1, 9, words) * (np.arange(words) > 0)
    item.wfa.bigrams = WordBigrams(cluster, rng.integers(0, 6, (clusters + 1, clusters + 1)))
    ids = draw(st.lists(st.integers(1, words - 1), min_size=1, max_size=most_words))
    assume(len(np.unique(cluster[1:])) == clusters)  # every cluster has a word that can be drawn
    return Case(item.wfa, dense_matrices(item), np.array(ids, np.int32))


def by_enumeration(case: Case) -> np.ndarray:
    """`E[A(X) | X_S = w_S]` of every coalition S, over all texts X of the same length; -> (2^L, C)"""
    wfa, bigrams = case.wfa, case.wfa.bigrams
    chain, shares, edge = bigrams.transitions, bigrams.word_shares(wfa.word_counts), len(bigrams.counts) - 1
    final, words = wfa.read_out(np.eye(wfa.states)), range(1, len(wfa.word_counts))
    texts = list(product(words, repeat=len(case.ids)))
    weights, probability = [], []
    for text in texts:
        vector, likely, last = wfa.initial, 1.0, edge
        for word in text:
            vector = vector @ case.matrices[word]
            likely *= chain[last, bigrams.cluster[word]] * shares[bigrams.cluster[word], word]
            last = bigrams.cluster[word]
        weights.append(vector @ final)
        probability.append(likely * chain[last, edge])
    found = []
    for present in all_coalitions(len(case.ids)):
        fits = (np.array(texts) == case.ids)[:, present].all(1) * np.array(probability)
        found.append(fits @ np.array(weights) / fits.sum())
    return np.array(found)


@settings(max_examples=25, deadline=None)
@given(bigram_cases())
def test_values_equal_enumeration_over_coalitions_and_background_texts(case):
    values = by_enumeration(case)
    close(coalition_weights(case.wfa, case.ids, all_coalitions(len(case.ids)), "bigram"), values, values)
    close(exact_shapley(case.wfa, case.ragged, "bigram")[0].values, shapley_by_definition(values), values)
    close(exact_marginals(case.wfa, case.ragged, "bigram", 0.5).values, banzhaf_by_definition(values), values)


@settings(max_examples=10, deadline=None)
@given(bigram_cases(most_words=9), st.integers(0, 99))
def test_values_of_longer_texts_equal_those_of_all_coalitions(case, seed):
    ids = np.random.default_rng(seed).integers(1, 5, 9).astype(np.int32)
    values = coalition_weights(case.wfa, ids, all_coalitions(9), "bigram")
    found = exact_shapley(case.wfa, Ragged(ids, np.array([0, 9])), "bigram")[0].values
    close(found, shapley_by_definition(values), values)
    close(found.sum(0), values[-1] - values[0], values)


def a_case() -> Case:
    item = sample("probe", 3, n=4, words=5)
    item.wfa.word_counts = np.array([0, 1, 5, 3, 2])
    item.wfa.bigrams = WordBigrams.of_texts(Ragged.from_lists([[2, 3, 2, 4], [2, 3], [1]], np.int32), 5)
    return Case(item.wfa, dense_matrices(item), np.array([2, 3, 4], np.int32))


def test_the_door_explains_with_bigrams_and_says_what_it_cannot():
    wfa = a_case().wfa
    text = " ".join(wfa.encoder.vocabulary.decode(np.array([2, 3, 4], np.int32)))
    found = wfa.explain(text, absence="bigram")
    assert found.absence == "bigram"
    np.testing.assert_allclose(found.gap, 0, atol=1e-9)
    np.testing.assert_allclose(n_shapley(wfa, text, order=1, absence="bigram").values, found.values, atol=1e-9)
    with pytest.raises(InputError) as raised:
        interactions(wfa, text, absence="bigram")
    assert raised.value.code == "absence"
    with pytest.raises(InputError) as raised:
        shapley(wfa, " ".join([text] * MOST_BIGRAM_WORDS), absence="bigram")
    assert raised.value.code == "text-too-long"
    wfa.bigrams = None
    with pytest.raises(InputError) as raised:
        wfa.explain(text, absence="bigram")
    assert raised.value.code == "no-bigrams"


def test_words_that_always_stand_together_lose_no_weight_by_absence():
    """With deletion every word counts; a word that its neighbour implies is drawn again where it is absent."""
    case = a_case()
    counts = np.zeros((6, 6), np.int64)
    for before, after in ((5, 2), (2, 3), (3, 4), (4, 5)):
        counts[before, after] = 10**9
    case.wfa.bigrams = WordBigrams(np.arange(5, dtype=np.int32), counts)
    found = exact_shapley(case.wfa, case.ragged, "bigram")[0].values
    np.testing.assert_allclose(found, 0, atol=1e-6)
