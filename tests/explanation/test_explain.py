"""Attributions add up, and forward-backward equals recomputation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, samples
from tests.errors import raises
from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.explanation import best_replacements, explain, network_shapley, shapley
from wfalens.ragged import Ragged
from wfalens.text.datasets import newsroom

sentences = st.lists(st.integers(0, 100), min_size=1, max_size=12)


def text_of(item, raw):
    words = item.wfa.encoder.vocabulary.words
    return [words[2 + number % (len(words) - 2)] if len(words) > 2 and number < 90 else "zzz" for number in raw]


@given(samples(), sentences, st.sampled_from(["shapley", "additive"]))
def test_values_sum_to_output_minus_base(item, raw, method):
    found = explain(item.wfa, " ".join(text_of(item, raw)), method=method)
    np.testing.assert_allclose(found.values.sum(0), found.output - found.base, atol=1e-6)
    np.testing.assert_allclose(found.output, item.wfa.weights([" ".join(found.words)])[0], atol=1e-9)
    assert found.to_dict()["method"] == method


@given(samples(), sentences)
def test_contributions_are_shapley_values_unless_additive_ones_are_asked_for(item, raw):
    text = " ".join(text_of(item, raw))
    usual, additive = explain(item.wfa, text), explain(item.wfa, text, method="additive")
    np.testing.assert_array_equal(usual.values, shapley(item.wfa, text).values)
    np.testing.assert_array_equal(additive.values, np.diff(item.wfa.walk(text).weights, axis=0))
    np.testing.assert_array_equal(usual.without, additive.without)


@given(samples(), sentences)
def test_leave_one_out_equals_recomputation(item, raw):
    words = text_of(item, raw)
    found = explain(item.wfa, " ".join(words))
    for position in range(len(words)):
        rest = " ".join(words[:position] + words[position + 1 :])
        np.testing.assert_allclose(found.without[position], item.wfa.weights([rest])[0], atol=1e-6)


@given(samples(), sentences)
def test_replacement_equals_recomputation(item, raw):
    ids = item.wfa.encoder.encode([" ".join(text_of(item, raw))]).values
    forward, backward = forward_backward(item.wfa, ids)
    candidates = np.arange(1, len(item.wfa.encoder.vocabulary), dtype=np.int32)
    for position in range(len(ids)):
        outputs = replacement_outputs(item.wfa, forward, backward, position, candidates)
        for word, output in zip(candidates, outputs, strict=True):
            changed = ids.copy()
            changed[position] = word
            expected = item.wfa.weights(Ragged(changed, np.array([0, len(ids)])))[0]
            np.testing.assert_allclose(output, expected, atol=1e-6)


def test_the_topic_word_carries_the_attribution(newsroom_wfa):
    found = explain(newsroom_wfa, "the new senate after week")
    assert found.label == "us"
    assert found.words[int(found.of_class().argmax())] == "senate"
    assert found.row_shares[:, 2].max() == 0
    assert found.row_shares.sum(1) == pytest.approx(1)
    assert explain(newsroom_wfa, "zzzz qqqq").row_shares[:, 2] == pytest.approx(1)


def test_best_replacement_replaces_the_topic_word_by_another_topic(newsroom_wfa):
    text = "the new senate after week"
    best = min(best_replacements(newsroom_wfa, text).items, key=lambda found: found.output[2])
    assert (best.position, best.old) == (2, "senate")
    assert newsroom.TRUTH.topic_of(best.new) not in (None, "us")
    expected = newsroom_wfa.predict_proba([text.replace("senate", best.new)])[0]
    np.testing.assert_allclose(best.output, expected, atol=1e-6)


def test_html_is_escaped_and_has_sign_and_legend(newsroom_wfa):
    html = explain(newsroom_wfa, 'senate <img onerror="x"> votes').to_html()
    assert "<img" not in html
    assert "&lt;img" in html
    assert "for</span>" in html
    assert "against</span>" in html
    assert "probability" in html
    assert len(explain(newsroom_wfa, "the senate").to_dataframe()) == 2
    assert explain(newsroom_wfa, "the senate").to_dict()["label"] == "us"


def test_a_text_without_words_and_an_unknown_class_are_refused(newsroom_wfa):
    with raises("no-words"):
        explain(newsroom_wfa, " ")
    with raises("option-value"):
        explain(newsroom_wfa, "senate").of_class("x")
    with raises("option-value"):
        best_replacements(newsroom_wfa, "senate", "x")
    with raises("option-value"):
        explain(newsroom_wfa, "senate", method="x")
    with raises("option-value"):
        explain(newsroom_wfa, "senate", class_name="x")
    with raises("not-a-text"):
        explain(newsroom_wfa, ["senate"])
    with raises("no-model"):
        explain(newsroom_wfa, "senate", queries=10)
    with raises("absence"):
        explain(newsroom_wfa, "senate", method="additive", absence="unknown")
    with raises("unit"):
        explain(linear_sample(1).wfa, "w1", method="banzhaf", unit="probability")


def test_with_a_model_the_values_are_those_of_the_network(newsroom_wfa, newsroom_model):
    text = "the new senate after week"
    found = explain(newsroom_wfa, text, newsroom_model, queries=32, class_name="world")
    expected = network_shapley(newsroom_model, newsroom_wfa, text, queries=32)
    np.testing.assert_array_equal(found.values, expected.values)
    assert (found.source, found.queries, found.without) == ("network", expected.queries, None)
    assert found.ranking[0] == "world"
    np.testing.assert_array_equal(found.of_class(), expected.of_class("world"))
    for options in ({"method": "banzhaf"}, {"unit": "log-odds"}):
        with raises("network-method"):
            explain(newsroom_wfa, text, newsroom_model, **options)


def test_the_predicted_class_comes_first_then_the_runners_up(newsroom_wfa):
    found = explain(newsroom_wfa, "the new senate after week")
    outputs = [found.output[found.class_names.index(name)] for name in found.ranking]
    assert outputs == sorted(outputs, reverse=True)
    assert sorted(found.ranking) == sorted(found.class_names)
    assert list(found.to_dataframe().columns) == ["word", "row", *found.ranking]
    assert found.to_dict()["label"] == found.ranking[0] == "us"


def test_the_printed_form_is_short_and_without_the_text(newsroom_wfa):
    found = explain(newsroom_wfa, "the new senate after week " * 100)
    assert len(repr(found)) < 2000
    assert "senate" not in repr(found) + str(found)


def test_probabilities_of_linear_automata_are_consistent():
    wfa = linear_sample(1).wfa
    found = explain(wfa, "w1 w2 w3")
    assert (found.unit, explain(wfa, "w1", method="additive").unit) == ("probability", "probability")
    np.testing.assert_allclose(found.values.sum(0), found.output - found.base, atol=1e-6)
    np.testing.assert_allclose(found.without[0], wfa.predict_proba(["w2 w3"])[0], atol=1e-6)
    assert explain(wfa, "w1 w2", method="banzhaf").unit == "log-odds"
