"""Attributions add up, and forward-backward equals recomputation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import samples
from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.errors import InputError
from wfalens.explanation import attribute, best_replacements, shapley
from wfalens.ragged import Ragged
from wfalens.text.datasets import newsroom

sentences = st.lists(st.integers(0, 100), min_size=1, max_size=12)


def text_of(item, raw):
    words = item.wfa.encoder.vocabulary.words
    return [words[2 + number % (len(words) - 2)] if len(words) > 2 and number < 90 else "zzz" for number in raw]


@given(samples(), sentences, st.sampled_from(["shapley", "walk"]))
def test_contributions_sum_to_output_minus_prior(item, raw, method):
    found = attribute(item.wfa, " ".join(text_of(item, raw)), method)
    np.testing.assert_allclose(found.contributions.sum(0), found.output - found.prior, atol=1e-6)
    np.testing.assert_allclose(found.output, item.wfa.weights([" ".join(found.words)])[0], atol=1e-9)
    assert found.to_json()["method"] == method


@given(samples(), sentences)
def test_contributions_are_shapley_values_unless_the_walk_is_wanted(item, raw):
    text = " ".join(text_of(item, raw))
    usual, walk = attribute(item.wfa, text), attribute(item.wfa, text, "walk")
    np.testing.assert_array_equal(usual.contributions, shapley(item.wfa, text).values)
    np.testing.assert_array_equal(walk.contributions, np.diff(item.wfa.walk(text).weights, axis=0))
    np.testing.assert_array_equal(usual.without, walk.without)


@given(samples(), sentences)
def test_leave_one_out_equals_recomputation(item, raw):
    words = text_of(item, raw)
    found = attribute(item.wfa, " ".join(words))
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
    found = attribute(newsroom_wfa, "the new senate after week")
    assert found.label == "us"
    assert found.words[int(found.of_class().argmax())] == "senate"
    assert found.trust["unknown"] == 0
    assert sum(found.trust.values()) == pytest.approx(1)
    assert attribute(newsroom_wfa, "zzzz qqqq").trust["unknown"] == 1


def test_best_replacement_replaces_the_topic_word_by_another_topic(newsroom_wfa):
    text = "the new senate after week"
    best = min(best_replacements(newsroom_wfa, text), key=lambda found: found.output[2])
    assert (best.position, best.old) == (2, "senate")
    assert newsroom.TRUTH.topic_of(best.new) not in (None, "us")
    expected = newsroom_wfa.predict_proba([text.replace("senate", best.new)])[0]
    np.testing.assert_allclose(best.output, expected, atol=1e-6)


def test_html_is_escaped_and_has_sign_and_legend(newsroom_wfa):
    html = attribute(newsroom_wfa, 'senate <img onerror="x"> votes').to_html()
    assert "<img" not in html
    assert "&lt;img" in html
    assert "for</span>" in html
    assert "against</span>" in html
    assert "probability" in html
    assert len(attribute(newsroom_wfa, "the senate").to_dataframe()) == 2
    assert attribute(newsroom_wfa, "the senate").to_json()["label"] == "us"


def test_a_text_without_words_and_an_unknown_class_are_refused(newsroom_wfa):
    with pytest.raises(InputError, match="no words"):
        attribute(newsroom_wfa, " ")
    with pytest.raises(InputError, match="unknown class 'x'"):
        attribute(newsroom_wfa, "senate").of_class("x")
    with pytest.raises(InputError, match="unknown class 'x'"):
        best_replacements(newsroom_wfa, "senate", "x")
    with pytest.raises(InputError, match="unknown method 'x'; choose one of shapley, walk"):
        attribute(newsroom_wfa, "senate", "x")
