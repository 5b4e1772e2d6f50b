"""The effect of a phrase in a random context: exactly the mean over all texts of random words."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, linear_samples, sample, samples
from wfalens.explanation.phrase_candidates import GAP, PhraseCandidates
from wfalens.explanation.phrases import RandomContext
from wfalens.ragged import Ragged


def one(key):
    """A phrase by its key, as a list of candidates with nothing else."""
    at = key.index(GAP) if GAP in key else 0
    words = np.array([[word for word in key if word != GAP]], np.int32)
    return PhraseCandidates(words, np.array([at], np.int8), np.ones(1), np.zeros(1, np.int32), np.zeros(1, np.int32))


def places_of(lengths):
    """How many words stand before a random word: every place of every text counts once."""
    before = np.concatenate([np.arange(length) for length in lengths])
    return [(words, np.mean(before == words)) for words in np.unique(before)]


def by_matrices(wfa, matrices, key, lengths, gap):
    """The definition with dense matrices, one term for every number of words before, after and within."""
    shares = wfa.word_counts / wfa.word_counts.sum()
    mean = np.einsum("w,wij->ij", shares, matrices)
    total = np.zeros(len(wfa.class_names))
    sizes = range(1, gap + 1) if GAP in key else [0]
    for (a, first), (b, second), size in product(places_of(lengths), places_of(lengths), sizes):
        phrase, instead = np.eye(wfa.states), np.linalg.matrix_power(mean, len(key) - (GAP in key) + size)
        for word in key:
            phrase = phrase @ (np.linalg.matrix_power(mean, size) if word == GAP else matrices[word])
        start = wfa.initial @ np.linalg.matrix_power(mean, a)
        end = np.linalg.matrix_power(mean, b) @ wfa.read_out(np.eye(wfa.states))
        total += first * second / len(sizes) * (start @ (phrase - instead) @ end)
    return total


def keys(words):
    plain = st.lists(st.integers(1, words - 1), min_size=1, max_size=4)
    return plain.flatmap(
        lambda row: st.integers(0, len(row) - 1).map(lambda at: tuple(row[:at]) + (GAP,) * (at > 0) + tuple(row[at:]))
    )


@given(samples(), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_effects_of_stochastic_automata(drawn, lengths, gap, data):
    wfa = drawn.wfa
    if wfa.word_counts.sum() == 0:
        return
    key = data.draw(keys(len(wfa.word_counts)))
    matrices = np.array([drawn.matrix(word) for word in range(len(wfa.word_counts))])
    effect = RandomContext.of(wfa, np.array(lengths), gap).effects(one(key))[0]
    np.testing.assert_allclose(effect, by_matrices(wfa, matrices, key, lengths, gap), atol=1e-10)


@given(linear_samples(), st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 3), st.data())
def test_effects_of_linear_automata_are_log_odds(drawn, lengths, gap, data):
    key = data.draw(keys(len(drawn.wfa.word_counts)))
    effect = RandomContext.of(drawn.wfa, np.array(lengths), gap).effects(one(key))[0]
    expected = by_matrices(drawn.wfa, drawn.matrices, key, lengths, gap)
    np.testing.assert_allclose(effect, expected, atol=1e-8 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("key", [(2,), (2, 3), (3, GAP, 2), (1, 2, GAP, 4)])
@pytest.mark.parametrize("kind", ["stochastic", "linear"])
def test_effects_are_means_over_all_texts_of_random_words(key, kind):
    """Every text of random words with the phrase in it, by its probability, minus every text of the same length."""
    wfa = sample("probe", 3, n=4, words=5).wfa if kind == "stochastic" else linear_sample(3, words=5).wfa
    lengths, gap = [1, 2, 2], 2
    shares = wfa.word_counts / wfa.word_counts.sum()

    def mean_over_texts(slots):
        texts = [
            (np.prod([shares[word] for word, slot in zip(text, slots, strict=True) if slot is None]), text)
            for text in product(*(range(len(shares)) if slot is None else [slot] for slot in slots))
        ]
        weights = wfa.weights(Ragged.from_lists([text for _, text in texts], np.int32))
        return np.array([share for share, _ in texts]) @ weights

    expected = np.zeros(len(wfa.class_names))
    sizes = range(1, gap + 1) if GAP in key else [0]
    for (a, first), (b, second), size in product(places_of(lengths), places_of(lengths), sizes):
        phrase = [slot for word in key for slot in ([None] * size if word == GAP else [word])]
        with_phrase = mean_over_texts([None] * a + phrase + [None] * b)
        random = mean_over_texts([None] * (a + len(phrase) + b))
        expected += first * second / len(sizes) * (with_phrase - random)
    found = RandomContext.of(wfa, np.array(lengths), gap).effects(one(key))[0]
    np.testing.assert_allclose(found, expected, atol=1e-5 if kind == "linear" else 1e-10)


def test_many_phrases_have_the_effects_of_each_alone(monkeypatch):
    wfa = linear_sample(1).wfa
    context = RandomContext.of(wfa, np.array([4, 7]), 3)
    some = [(2, GAP, 3), (4, 5), (3, 3), (6, GAP, 1)]
    alone = [context.effects(one(key))[0] for key in some]
    words = np.array([[word for word in key if word != GAP] for key in some], np.int32)
    gaps = np.array([int(GAP in key) for key in some], np.int8)
    every = PhraseCandidates(words, gaps, np.ones(4), np.zeros(4, np.int32), np.zeros(4, np.int32))
    monkeypatch.setattr("wfalens.explanation.phrases._VECTOR_FLOATS", 3 * wfa.states)
    np.testing.assert_allclose(context.effects(every), alone, atol=1e-12)
