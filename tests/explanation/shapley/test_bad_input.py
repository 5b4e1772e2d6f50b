"""What cannot be explained is refused in one sentence that says what to do."""

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from wfalens.automaton import StochasticWFA
from wfalens.errors import InputError
from wfalens.explanation.shapley import banzhaf, interactions, shapley, shapley_each
from wfalens.ragged import Ragged


@pytest.fixture
def wfa():
    return sample("fit", 2).wfa


@pytest.mark.parametrize("explain", [shapley, banzhaf, interactions])
def test_a_text_without_words(wfa, explain):
    with pytest.raises(InputError, match=r"^the text has no words$"):
        explain(wfa, "  ")


def test_one_of_many_texts_without_words(wfa):
    with pytest.raises(InputError, match=r"^one of the texts has no words$"):
        shapley_each(wfa, ["w1", ""])
    with pytest.raises(InputError, match="wrap a single text in a list"):
        shapley_each(wfa, "w1")
    assert shapley_each(wfa, []) == []


@pytest.mark.parametrize("explain", [shapley, banzhaf, interactions])
def test_an_absence_that_does_not_exist(wfa, explain):
    with pytest.raises(InputError, match=r"^unknown absence 'mask'; choose one of delete, unknown, background$"):
        explain(wfa, "w1", absence="mask")


def test_a_text_of_a_hundred_thousand_words(wfa):
    text = "w1 " * 100_000
    with pytest.raises(InputError, match=r"^a text of 100,000 words is too long to be explained word by word; cut it"):
        shapley(wfa, text)
    with pytest.raises(InputError, match="too long to be explained by pairs of words; cut it to 500 words"):
        interactions(wfa, text)
    with pytest.raises(InputError, match="too long to be sampled; cut it to 1,000 words"):
        shapley(linear_sample(1).wfa, text, unit="probability")


def test_a_class_that_does_not_exist(wfa):
    with pytest.raises(InputError, match=r"^unknown class 'x'; choose one of c0, c1"):
        shapley(wfa, "w1").of_class("x")
    with pytest.raises(InputError, match="unknown class 'x'"):
        interactions(wfa, "w1 w2").top("x")


def test_units(wfa):
    with pytest.raises(InputError, match="unknown unit 'bits'; choose probability or log-odds"):
        shapley(wfa, "w1", unit="bits")
    with pytest.raises(InputError, match="a stochastic automaton has values in probabilities only"):
        shapley(wfa, "w1", unit="log-odds")


def test_tolerances_and_pairs(wfa):
    for bad in (-1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="the tolerance must be 0 or a positive number"):
            shapley(wfa, "w1", tolerance=bad)
    with pytest.raises(InputError, match="at least 2 pairs of orders"):
        shapley(wfa, "w1", pairs=1)


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
    with pytest.raises(InputError, match="no word was counted in extraction"):
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
    with pytest.raises(InputError, match="undecided on this text: all mass was lost; name a class"):
        found.of_class()
    np.testing.assert_allclose(found.gap, 0, atol=1e-12)
    assert "c0" in found.to_html()
