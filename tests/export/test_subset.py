"""The part that is exported: what is chosen, what is scaled, what is lost, and what is refused."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from tests.errors import raises
from tests.export.conformance import our_weights, texts_of
from wfalens.automaton import Null, StochasticWFA
from wfalens.automaton.rows import rows_from_keys
from wfalens.errors import MissingDependencyError
from wfalens.export import frequent_words, subset, to_networkx, to_onnx
from wfalens.export.subset import LOST
from wfalens.text import TextEncoder, Vocabulary


def automaton(*matrices, completion=None):
    """An automaton of a word `a` (and `b`) with the given counts; states 0, 1, 2 speak for classes x, y, y."""
    dense = np.zeros((4, 3, 3))
    dense[2 : 2 + len(matrices)] = matrices
    keys = np.flatnonzero(dense)
    return StochasticWFA(
        encoder=TextEncoder(Vocabulary.of_words("ab"), "whitespace"),
        class_names=("x", "y"),
        centres=np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]),
        rows=rows_from_keys(keys, dense.reshape(-1)[keys], 4, 3),
        completion=completion or Null(),
        alpha=0.0,
        state_visits=np.array([5, 3, 2]),
        word_counts=np.array([0, 0, 7, 9]),
    )


FULL = [[5, 25, 70], [0, 50, 50], [100, 0, 0]]


def test_a_threshold_leaves_out_small_weights_and_scales_the_rest():
    part = subset(automaton(FULL), ["a"], threshold=0.1)
    np.testing.assert_allclose(part.matrices()[0], [[0, 25 / 95, 70 / 95], [0, 0.5, 0.5], [1, 0, 0]], rtol=1e-15)
    assert part.lost is None


def test_a_row_keeps_its_largest_weight_whatever_the_threshold():
    part = subset(automaton(FULL), ["a"], threshold=0.9)
    np.testing.assert_array_equal(part.matrices()[0], [[0, 0, 1], [0, 0.5, 0.5], [1, 0, 0]])


def test_rows_share_what_led_to_a_state_that_is_left_out():
    part = subset(automaton(FULL), ["a"], states=[1])
    assert part.states.tolist() == [0, 1]  # the initial state is always in
    np.testing.assert_allclose(part.matrices()[0], [[5 / 30, 25 / 30], [0, 1]], rtol=1e-15)


def test_a_row_that_led_only_to_states_left_out_is_lost():
    part = subset(automaton([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), ["a"], states=[0, 1])
    assert part.states.tolist() == [0, 1, LOST]
    np.testing.assert_array_equal(part.matrices()[0], [[0, 1, 0], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(part.final[2], [0, 0])
    np.testing.assert_array_equal(part.decided, [0, 1, -1])


def test_what_null_completion_loses_goes_to_a_state_that_speaks_for_no_class():
    wfa = automaton([[0, 1, 1], [0, 0, 0], [0, 0, 1]])
    part = subset(wfa, ["a"])
    np.testing.assert_array_equal(part.matrices()[0][0], [0, 0.5, 0.5, 0])
    np.testing.assert_array_equal(part.matrices()[0][1], [0, 0, 0, 1])
    np.testing.assert_allclose(part.weights([["a", "a"]]), wfa.weights(["a a"]), rtol=1e-15)
    assert part.weights([["a", "a"]]).sum() == pytest.approx(0.5)


@given(samples(), st.integers(0, 10**6), st.sampled_from([0.0, 0.05, 0.4]))
def test_every_row_sums_to_one_but_for_rounding_and_no_text_changes_its_weights(item, seed, threshold):
    part = subset(item.wfa, threshold=threshold)
    for row in part.matrices().reshape(-1, len(part.states)):
        assert abs(math.fsum(row) - 1) <= 1e-15
    order = np.lexsort((part.target, part.word, part.source))
    np.testing.assert_array_equal(order, np.arange(len(order)))
    if not threshold:
        texts = texts_of(part.words, seed)
        np.testing.assert_allclose(part.weights(texts), our_weights(item.wfa, texts), atol=1e-14)


def test_frequent_words_come_first_and_unseen_ones_never():
    wfa = automaton(FULL, FULL)
    assert frequent_words(wfa, 1) == ["<unk>", "b"]
    assert frequent_words(wfa, 9) == ["<unk>", "b", "a"]


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ({"words": ["zebra"]}, "unknown-word"),
        ({"words": ["<pad>"]}, "unknown-word"),
        ({"words": ["a", "b", "a"]}, "words"),
        ({"words": []}, "words"),
        ({"words": "a"}, "words"),
        ({"states": [3]}, "states"),
        ({"states": [-1]}, "states"),
        ({"threshold": 1.0}, "option-value"),
        ({"threshold": math.nan}, "option-value"),
    ],
)
def test_a_choice_that_cannot_be_kept_is_refused(choice, code):
    with raises(code):
        subset(automaton(FULL), **choice)


@pytest.mark.parametrize("choice", [{"states": [0, 1]}, {"threshold": 0.1}])
def test_a_linear_automaton_keeps_all_states_and_weights(choice):
    for export in (subset, to_onnx):
        with raises("states"):
            export(linear_sample(0).wfa, **choice)


def test_what_would_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(sys.modules["wfalens.export.subset"], "MOST_TRANSITIONS", 100)
    with raises("too-large"):
        subset(sample("fit", 0, words=11).wfa)


def test_a_word_that_was_not_exported_has_no_weight():
    with raises("unknown-word"):
        subset(automaton(FULL), ["a"]).weights([["a", "b"]])


@pytest.mark.parametrize(
    ("package", "extra", "export"), [("onnx", "onnx", to_onnx), ("networkx", "graph", to_networkx)]
)
def test_a_missing_extra_names_itself(monkeypatch, package, extra, export):
    wfa = automaton(FULL)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"{package} is not installed; .*wfalens\[{extra}\]"):
        export(wfa if package == "onnx" else subset(wfa))


def test_exporting_asks_for_no_other_tool_until_it_is_needed():
    heavy = ("torch", "sklearn", "onnx", "onnxruntime", "networkx", "stormpy", "aalpy", "pywrapfst")
    code = f"import sys, wfalens.export; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
