"""The measures of explanations against examples that were computed by hand."""

import numpy as np
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.evaluation import compare_explanations, evaluate_explanations
from wfalens.evaluation.explanations import (
    area_under_precision_recall,
    leave_one_out_scores,
    marked_words,
    plausibility,
    rank_agreement,
)
from wfalens.models import wrap
from wfalens.text import TextEncoder, Vocabulary, load_dataset

# the probability of class 1 for the words that are there
TABLE = {
    "": 0.5,
    "a": 0.7,
    "b": 0.6,
    "c": 0.4,
    "d": 0.5,
    "ab": 0.85,
    "ac": 0.6,
    "ad": 0.7,
    "bc": 0.55,
    "bd": 0.6,
    "cd": 0.45,
    "abc": 0.8,
    "abd": 0.8,
    "acd": 0.65,
    "bcd": 0.5,
    "abcd": 0.9,
}
TEXT = "a b c d"
SCORES = [0.9, 0.5, -0.2, 0.1]  # order: a, b, d, c


@pytest.fixture
def model():
    def predict(texts):
        ones = np.array([TABLE["".join(sorted(text))] for text in texts])
        return np.stack([1 - ones, ones], 1)

    encoder = TextEncoder(Vocabulary.of_words("abcd"), "whitespace")
    return wrap(predict, vocab=encoder, classes=("no", "yes"), name="table", reads="tokens")


def value(found, measure, method="mine"):
    return found.estimate(method, measure).value


def test_comprehensiveness_and_sufficiency_by_hand(model):
    found = evaluate_explanations({"mine": lambda text: SCORES}, model, [TEXT], shares=(0.25, 0.5, 0.75))
    # without a: .5, without ab: .45, without abd: .4; from .9: .4, .45, .5
    assert value(found, "comprehensiveness") == pytest.approx((0.4 + 0.45 + 0.5) / 3)
    # only a: .7, ab: .85, abd: .8; from .9: .2, .05, .1
    assert value(found, "sufficiency") == pytest.approx((0.2 + 0.05 + 0.1) / 3)


def test_every_number_of_words_as_ferret_does(model):
    found = evaluate_explanations({"mine": lambda text: SCORES}, model, [TEXT], shares=None)
    # the last step removes all words, which leaves the prior .5, and keeps all
    assert value(found, "comprehensiveness") == pytest.approx((0.4 + 0.45 + 0.5 + 0.4) / 4)
    assert value(found, "sufficiency") == pytest.approx((0.2 + 0.05 + 0.1 + 0.0) / 4)


def test_correlation_with_leave_one_out_by_hand(model):
    # leaving out a: .4, b: .25, c: .1, d: .1; pairs of SCORES: ab, ac, ad, bc, bd agree, cd is tied in one of the two
    found = evaluate_explanations({"mine": lambda text: SCORES}, model, [TEXT])
    assert value(found, "tau_loo") == pytest.approx(5 / np.sqrt(6 * 5))
    turned = evaluate_explanations({"mine": lambda text: [-s for s in SCORES]}, model, [TEXT])
    assert value(turned, "tau_loo") == pytest.approx(-5 / np.sqrt(6 * 5))


def test_leave_one_out_tells_the_fall_of_every_class(model):
    falls = leave_one_out_scores(model, TEXT)
    np.testing.assert_allclose(falls[:, 1], [0.4, 0.25, 0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(falls.sum(1), 0, atol=1e-6)
    found = evaluate_explanations({"mine": lambda text: leave_one_out_scores(model, text)}, model, [TEXT])
    assert value(found, "tau_loo") == pytest.approx(1)


def test_plausibility_by_hand(model):
    found = evaluate_explanations({"mine": lambda text: SCORES}, model, [TEXT], rationales=[[1, 0, 1, 0]])
    # the two highest words are a and b; the rationale is a and c: one in common
    assert value(found, "token_f1") == pytest.approx(0.5)
    assert value(found, "token_iou") == pytest.approx(1 / 3)
    # a, b, d, c: recall ½ at precision 1, ½ and 1/3, then 1 at 2/4: trapezoids over the two steps of recall
    assert value(found, "auprc") == pytest.approx(0.5 * 1 + 0.5 * (1 / 3 + 2 / 4) / 2)
    one = evaluate_explanations({"mine": lambda text: SCORES}, model, [TEXT], rationales=[[1, 0, 0, 0]])
    assert value(one, "token_f1") == value(one, "token_iou") == 1  # as many words as people marked


def test_a_perfect_rationale_scores_one():
    scores, marked = [np.array([3.0, 2.0, 1.0])], [np.array([True, True, False])]
    assert [float(each[0]) for each in plausibility(scores, marked)] == [1, 1, 1]
    assert area_under_precision_recall(scores[0], marked[0]) == 1


def test_the_length_of_a_methods_rationale_is_the_mean_of_the_peoples():
    scores = [np.array([4.0, 3.0, 2.0, 1.0])] * 2
    marked = [np.array([True, True, True, False]), np.array([True, False, False, False])]
    _, f1, iou = plausibility(scores, marked)  # k = 2
    np.testing.assert_allclose(f1, [2 * 2 / 5, 2 * 1 / 3])
    np.testing.assert_allclose(iou, [2 / 3, 1 / 2])


def test_scores_of_all_classes_are_read_in_the_column_of_the_models_class(model):
    both = np.stack([[9, 9, 9, 0], SCORES], 1)
    one, two = (evaluate_explanations({"mine": lambda text, s=s: s}, model, [TEXT]).values for s in (both, SCORES))
    np.testing.assert_array_equal(one, two)


def test_what_is_not_defined_is_left_out_and_counted(model):
    texts = [TEXT, "a", "a b"]
    found = evaluate_explanations(
        {"flat": lambda text: [0] * len(text.split())}, model, texts, rationales=[[0] * 4, [1], [0, 0]]
    )
    assert found.estimate("flat", "tau_loo") is None
    assert found.defined("flat", "tau_loo") == 0
    assert found.defined("flat", "auprc") == 1
    assert found.to_dict()["flat"]["tau_loo"] is None
    assert "tau_loo –" in str(found)
    assert np.isnan(rank_agreement([np.array([1.0])], [np.array([1.0])])).all()


def test_many_methods_with_intervals(model):
    texts = [TEXT, "a b c", "a b d", "b c d", "a d"]

    def good(text):
        return [TABLE[word] for word in text.split()]

    found = evaluate_explanations({"good": good, "bad": lambda text: [-s for s in good(text)]}, model, texts)
    better, worse = (found.estimate(name, "comprehensiveness") for name in ("good", "bad"))
    assert worse.value < better.value
    assert better.low <= better.value <= better.high
    table = found.to_dataframe()
    assert list(table.columns) == ["method", "measure", "value", "low", "high", "texts"]
    assert len(table) == 6
    told = found.to_dict()["good"]
    assert told["comprehensiveness"]["texts"] == 5
    assert told["ms"] > 0
    assert found.measures == ("comprehensiveness", "sufficiency", "tau_loo")
    again = evaluate_explanations({"good": good}, model, texts)
    assert again.estimate("good", "tau_loo") == found.estimate("good", "tau_loo")


def test_bad_input(model):
    def mine(text):
        return SCORES

    with pytest.raises(InputError, match="at least one scorer and one text"):
        evaluate_explanations({}, model, [TEXT])
    with raises("texts"):
        evaluate_explanations({"mine": mine}, model, TEXT)
    with pytest.raises(InputError, match="text 1 has no words"):
        evaluate_explanations({"mine": mine}, model, [TEXT, " "])
    with pytest.raises(InputError, match=r"mine returned scores of the shape \(4,\) for a text of 2 words"):
        evaluate_explanations({"mine": mine}, model, ["a b"])
    with pytest.raises(InputError, match="mine returned scores that are not numbers"):
        evaluate_explanations({"mine": lambda text: [np.nan] * 4}, model, [TEXT])
    with pytest.raises(InputError, match="there are 2 rationales for 1 texts"):
        evaluate_explanations({"mine": mine}, model, [TEXT], rationales=[[1], [1]])
    with pytest.raises(InputError, match="rationale 0 must be a 0 or 1 for each of the 4 words"):
        evaluate_explanations({"mine": mine}, model, [TEXT], rationales=[[1, 2, 0, 0]])
    with raises("option-value"):
        evaluate_explanations({"mine": mine}, model, [TEXT]).estimate("mine", "x")


def test_explanations_are_more_faithful_than_chance(newsroom_wfa, newsroom_model):
    found = compare_explanations(newsroom_wfa, newsroom_model, load_dataset("newsroom", "test").texts, limit=80)

    def mean(method, measure):
        return found.estimate(method, measure).value

    *ours, random = found.methods
    assert random == "random"
    assert found.values.shape[2] == 80
    for method in ours:
        assert mean(method, "comprehensiveness") > mean(random, "comprehensiveness") + 0.1, method
        assert mean(method, "sufficiency") < mean(random, "sufficiency") - 0.1, method


def test_texts_without_words_are_left_out(newsroom_wfa, newsroom_model):
    found = compare_explanations(newsroom_wfa, newsroom_model, ["", "the senate votes", " "])
    assert found.values.shape[2] == 1
    with raises("no-words"):
        compare_explanations(newsroom_wfa, newsroom_model, ["", " "])


def test_marked_characters_become_marked_words():
    encoder = TextEncoder.of_texts(["that is a bad , bad film !"], "basic_english")
    text = 'That is  "a BAD, bad" film!'
    assert marked_words(encoder, text, []) == [0] * len(encoder.tokens(text))
    start = text.index("BAD")
    found = marked_words(encoder, text, [*range(start, start + 3), text.index('"')])  # a mark before a word is not one
    assert [word for word, one in zip(encoder.tokens(text), found, strict=True) if one] == ["bad"]
    assert marked_words(encoder, text, [len(text) - 1])[-1] == 1
