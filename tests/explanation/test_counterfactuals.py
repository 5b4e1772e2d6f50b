"""Counterfactuals of character models are texts, sorted by how sure they are, and tried on the network."""

import numpy as np
import pytest

from tests.errors import raises
from wfalens.explanation import counterfactuals
from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.text import TextEncoder
from wfalens.text.character_edits import edited_texts

NAMES = ["anna", "hanna", "hannah", "ann", "nan", "dan", "daniel", "dana", "diana", "ian", "adrian", "hadrian"] * 8


def ends_in_a(token_lists):
    """Whether the last run of characters ends in a."""
    yes = np.array([bool(tokens) and tokens[-1].endswith("a") for tokens in token_lists])
    return np.where(yes[:, None], [0.1, 0.9], [0.9, 0.1])


@pytest.fixture(scope="module", params=["characters", "bigrams"])
def pair(request):
    encoder = TextEncoder.of_texts(NAMES, request.param)
    model = wrap(ends_in_a, vocab=encoder, classes=("other", "a"), reads="tokens")
    return extract(model, NAMES, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs")), model


def test_they_are_all_edits_that_change_the_class_and_the_network_agrees(pair):
    wfa, model = pair
    found = counterfactuals(wfa, "dana", model=model, most=10_000)
    assert found.label == "a"
    every = edited_texts(wfa.encoder, "dana")
    assert found.tried == len(every)
    assert {each.edit.text for each in found.items} == {
        edit.text for edit in every.edits if not edit.text.endswith("a")
    }
    assert all(each.holds and each.label == "other" for each in found.items)


def test_every_one_is_a_text(pair):
    wfa, _ = pair
    for each in counterfactuals(wfa, "hannah").items:
        tokens = wfa.encoder.tokens(each.edit.text)
        assert wfa.encoder.joined(tokens) == each.edit.text
        np.testing.assert_allclose(wfa.probabilities(wfa.weights([each.edit.text]))[0], each.automaton)
        assert each.network is None is each.holds


def test_the_surest_stand_first_and_every_form_tells_the_same(pair):
    wfa, model = pair
    found = counterfactuals(wfa, "adrian", model=model, most=5)
    margins = [abs(each.automaton[0] - each.automaton[1]) for each in found.items]
    assert margins == sorted(margins, reverse=True)
    assert len(found) == len(found.to_dict()["items"]) == len(found.to_dataframe()) <= 5
    assert "other" in found.to_html()
    assert "adrian" not in repr(found)


def test_a_text_of_nothing_is_refused(pair):
    with raises("no-words"):
        counterfactuals(pair[0], "")
