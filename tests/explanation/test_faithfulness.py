"""Attributions of automata are more faithful to the network than chance."""

from tests.errors import raises
from wfalens.explanation.faithfulness import compare_explanations
from wfalens.text import load_dataset


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
