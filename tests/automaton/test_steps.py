"""The sparse kernels do what the dense formulas say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from tests.automata import sample, samples
from wfalens.automaton import Empirical, StochasticWFA
from wfalens.automaton.rows import rows_from_keys
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder, Vocabulary


def test_worked_example_of_the_paper():
    counts = np.array([[1, 3, 0], [1, 1, 0], [0, 0, 0]])
    # one-dimensional positions 0, ?, ? would do; distances with g(3,1) = 2·g(3,2): M[2,1] − M[2,0] = ln 2
    third = np.array([0.5, 0.5])
    first = third + 0.1 * np.array([1, -1]) / np.sqrt(2)
    second = third - (0.1 + np.log(2)) * np.array([1, -1]) / np.sqrt(2)
    assert second.min() > -0.1
    keys = np.flatnonzero(counts.ravel()) + 2 * 9
    wfa = StochasticWFA(
        encoder=TextEncoder(Vocabulary.of_words(["a"]), "whitespace"),
        class_names=("x", "y"),
        centres=np.array([first, second, third]),
        rows=rows_from_keys(keys, counts.ravel()[keys - 18], 3, 3),
        completion=Empirical(0.5),
        alpha=0.0,
        state_visits=np.ones(3, int),
        word_counts=np.array([0, 0, 6]),
    )
    expected = [[0.25, 0.75, 0], [0.5, 0.5, 0], [0.15, 0.35, 0.5]]
    np.testing.assert_allclose(wfa.matrix("a"), expected, atol=1e-12)
    enhanced = StochasticWFA(
        **{**{name: getattr(wfa, name) for name in _FIELDS}, "alpha": 0.2},
    )
    np.testing.assert_allclose(enhanced.matrix("a"), [[0.4, 0.6, 0], [0.4, 0.6, 0], [0.12, 0.28, 0.6]], atol=1e-12)


_FIELDS = ("encoder", "class_names", "centres", "rows", "completion", "alpha", "state_visits", "word_counts")


@given(samples())
def test_sparse_matrix_equals_the_dense_formulas(item):
    for word, name in enumerate(item.wfa.encoder.vocabulary.words):
        if word:
            np.testing.assert_allclose(item.wfa.matrix(name), item.matrix(word), atol=1e-6)


@given(samples(), st.lists(st.integers(1, 100), max_size=30))
def test_sparse_evaluation_equals_the_dense_product(item, raw):
    sentence = [1 + word % (len(item.counts) - 1) for word in raw]
    ids = Ragged.from_lists([sentence], np.int32)
    matrices = {word: item.matrix(word) for word in set(sentence)}
    expected = oracle.evaluate(sentence, matrices, item.centres)
    np.testing.assert_allclose(item.wfa.weights(ids)[0], expected, atol=1e-6)


@given(samples(completions=("uniform", "empirical", "probe")))
def test_rows_sum_to_one(item):
    for word in item.wfa.encoder.vocabulary.words[1:]:
        matrix = item.wfa.matrix(word)
        assert matrix.min() >= 0
        np.testing.assert_allclose(matrix.sum(1), 1, atol=1e-12)


@given(samples(completions=("null",)))
def test_null_rows_sum_to_one_or_to_alpha(item):
    alpha = item.wfa.alpha
    for word in item.wfa.encoder.vocabulary.words[1:]:
        sums = item.wfa.matrix(word).sum(1)
        assert np.all(np.isclose(sums, 1) | np.isclose(sums, alpha))


@pytest.mark.parametrize("completion", ["null", "uniform", "empirical", "probe", "fit", "shared"])
def test_batch_order_and_threads_do_not_change_a_bit(completion, monkeypatch):
    item = sample(completion, 5, n=10, words=30)
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 20, 3000)
    ids = Ragged.from_lengths(rng.integers(1, 30, lengths.sum()).astype(np.int32), lengths)
    monkeypatch.setenv("WFALENS_THREADS", "1")
    single = item.wfa.weights(ids)
    monkeypatch.setenv("WFALENS_THREADS", "3")
    np.testing.assert_array_equal(item.wfa.weights(ids), single)
    order = rng.permutation(len(ids))
    np.testing.assert_array_equal(item.wfa.weights(ids.take(order)), single[order])


@given(samples(), st.lists(st.lists(st.integers(1, 100), min_size=1, max_size=8), min_size=1, max_size=5))
def test_trace_ends_where_prediction_ends(item, raw):
    words = len(item.counts)
    ids = Ragged.from_lists([[1 + word % (words - 1) for word in text] for text in raw], np.int32)
    np.testing.assert_allclose(item.wfa.trace(ids).last(), item.wfa.predict_proba(ids), atol=1e-5)  # single precision


@given(samples())
def test_words_without_kept_scales_step_alike(item):
    """Scales are kept for the frequent words only; the others compute them on the way."""
    words = item.wfa.encoder.vocabulary.words[1:]
    kept = [item.wfa.matrix(word) for word in words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wfalens.automaton.kernels.steps._KEPT_FLOATS", item.wfa.states)  # room for one word
        bare = StochasticWFA(**{name: getattr(item.wfa, name) for name in _FIELDS})
        np.testing.assert_allclose([bare.matrix(word) for word in words], kept, atol=1e-15)


def test_texts_longer_than_the_stack_go_on():
    item = sample("empirical", 8)
    sentence = np.random.default_rng(0).integers(1, len(item.counts), 500)
    matrices = {word: item.matrix(word) for word in set(sentence.tolist())}
    ids = Ragged.from_lists([sentence.tolist(), [2]], np.int32)
    expected = [oracle.evaluate(words, matrices, item.centres) for words in (sentence.tolist(), [2])]
    np.testing.assert_allclose(item.wfa.weights(ids), expected, atol=1e-9)
    np.testing.assert_allclose(item.wfa.trace(ids).last(), expected, atol=1e-9)


_KEEPING = ("uniform", "empirical", "probe", "fit", "shared")  # no mass is lost: predictions have single precision


@pytest.mark.parametrize("n", [3, 15, 16, 17, 40, 50])
@pytest.mark.parametrize("kept", [0, 4, 1 << 20])
@pytest.mark.parametrize("completion", _KEEPING)
def test_predictions_are_the_weights_in_single_precision(completion, kept, n, monkeypatch):
    """Whether all words have a matrix, some or none."""
    monkeypatch.setattr("wfalens.automaton.stochastic._KEPT_BYTES", kept * 4 * n**2)
    item = sample(completion, 3, n=n, words=9)
    rng = np.random.default_rng(0)
    ids = Ragged.from_lists([rng.integers(1, 9, length).tolist() for length in (0, 1, 5, 70)], np.int32)
    assert item.wfa.single_vectors(ids).dtype == np.float32
    np.testing.assert_allclose(item.wfa.single_vectors(ids), item.wfa.state_vectors(ids, every=False), atol=2e-6)


@pytest.mark.parametrize("completion", _KEEPING)
def test_batch_order_and_threads_do_not_change_a_bit_of_predictions(completion, monkeypatch):
    monkeypatch.setattr("wfalens.automaton.stochastic._KEPT_BYTES", 10 * 4 * 10**2)  # a third of the words
    item = sample(completion, 5, n=10, words=30)
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 20, 3000)
    ids = Ragged.from_lengths(rng.integers(1, 30, lengths.sum()).astype(np.int32), lengths)
    monkeypatch.setenv("WFALENS_THREADS", "1")
    single = item.wfa.prediction_weights(ids)
    monkeypatch.setenv("WFALENS_THREADS", "3")
    np.testing.assert_array_equal(item.wfa.prediction_weights(ids), single)
    order = rng.permutation(len(ids))
    np.testing.assert_array_equal(item.wfa.prediction_weights(ids.take(order)), single[order])


def test_lost_mass_is_told_from_little_mass():
    """Of null completion, so little may be left that single precision could not hold it."""
    item = sample("null", 0, n=4, words=6)
    wfa = item.wfa.with_rule(0.2, item.wfa.completion)
    ids = Ragged.from_lists([[1, 2, 3, 4, 5] * 40], np.int32)
    assert 0 < wfa.weights(ids).max() < np.finfo(np.float32).smallest_subnormal
    np.testing.assert_array_equal(wfa.predict_indices(ids), wfa.decide(wfa.weights(ids)))
    assert np.isfinite(wfa.predict_proba(ids)).all()
