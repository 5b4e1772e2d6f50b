"""What cannot be explained is refused in one sentence that says what to do."""

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from wfalens.automaton import StochasticWFA
from wfalens.errors import InputError
from wfalens.explanation.shapley import banzhaf, interactions, shapley, shapley_each
from wfalens.ragged import Ragged


@pytest.fixture
def wfa():
    return sample("fit", 2).wfa


@pytest.mark.parametrize("explain", [shapley, banzhaf, interactions])
def test_a_text_without_words(wfa, explain):
    with raises("no-words"):
        explain(wfa, "  ")


def test_one_of_many_texts_without_words(wfa):
    with raises("no-words"):
        shapley_each(wfa, ["w1", ""])
    with raises("texts-not-list"):
        shapley_each(wfa, "w1")
    assert shapley_each(wfa, []) == []


@pytest.mark.parametrize("explain", [shapley, banzhaf, interactions])
def test_an_absence_that_does_not_exist(wfa, explain):
    with raises("absence"):
        explain(wfa, "w1", absence="mask")


def test_a_text_of_a_hundred_thousand_words(wfa):
    text = "w1 " * 100_000
    with raises("text-too-long"):
        shapley(wfa, text)
    with raises("text-too-long"):
        interactions(wfa, text)
    with raises("text-too-long"):
        shapley(linear_sample(1).wfa, text, unit="probability")


def test_a_class_that_does_not_exist(wfa):
    with raises("option-value"):
        shapley(wfa, "w1").of_class("x")
    with raises("option-value"):
        interactions(wfa, "w1 w2").top("x")


def test_units(wfa):
    with raises("unit"):
        shapley(wfa, "w1", unit="bits")
    with raises("unit"):
        shapley(wfa, "w1", unit="log-odds")


def test_bad_tolerances(wfa):
    for bad in (-1, float("nan"), float("inf")):
        with raises("tolerance"):
            shapley(wfa, "w1", tolerance=bad)


def test_a_text_of_unknown_words_only_is_explained(wfa):
    found = shapley(wfa, "zzz qqq", absence="unknown")
    assert found.words == ("zzz", "qqq")
    np.testing.assert_allclose(found.values, 0, atol=1e-12)
    np.testing.assert_allclose(found.output, found.base)
    deleted = shapley(wfa, "zzz qqq")
    np.testing.assert_allclose(deleted.gap, 0, atol=1e-12)


def test_a_random_word_where_none_was_counted():
    seen = sample("fit", 2).wfa
    unseen = StochasticWFA(
        encoder=seen.encoder,
        class_names=seen.class_names,
        centres=seen.centres,
        rows=seen.rows,
        completion=seen.completion,
        alpha=seen.alpha,
        state_visits=seen.state_visits,
        word_counts=np.zeros_like(seen.word_counts),
    )
    with raises("no-word-counts"):
        shapley(unseen, "w1", absence="background")


def test_ids_outside_the_vocabulary(wfa):
    with pytest.raises(InputError, match="word ids must lie between"):
        shapley_each(wfa, Ragged(np.array([99], np.int32), np.array([0, 1])))


def test_a_text_that_lost_all_mass_has_no_label():
    item = sample("null", 0, alpha=0.0)
    lost = next(
        word for word in item.wfa.encoder.vocabulary.words[2:] if not item.wfa.weights([" ".join([word] * 8)]).any()
    )
    found = shapley(item.wfa, " ".join([lost] * 8))
    assert found.label is None
    with raises("undecided"):
        found.of_class()
    np.testing.assert_allclose(found.gap, 0, atol=1e-12)
    assert "c0" in found.to_html()
