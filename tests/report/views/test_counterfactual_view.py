"""Flips of character models on the page: texts, each tried on automaton and network."""

import json

import numpy as np
import pytest

from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.report import Study
from wfalens.report.views import attacks, counterfactuals
from wfalens.text import Corpus, TextEncoder
from wfalens.text.character_edits import single_edits

NAMES = ["anna", "hanna", "hannah", "ann", "nan", "dan", "daniel", "dana", "diana", "ian", "ana maria"] * 6


def ends_in_a(token_lists):
    yes = np.array([bool(tokens) and tokens[-1].endswith("a") for tokens in token_lists])
    return np.where(yes[:, None], [0.1, 0.9], [0.9, 0.1])


@pytest.fixture(scope="module", params=["characters", "bigrams"])
def study(request):
    encoder = TextEncoder.of_texts(NAMES, request.param)
    model = wrap(ends_in_a, vocab=encoder, classes=("other", "a"), reads="tokens")
    wfa = extract(model, NAMES, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs"))
    return Study("names", wfa, model, Corpus.of(NAMES))


def test_every_flip_that_is_shown_is_a_text_and_holds(study):
    found = counterfactuals(study, "ana maria")
    letters = sorted({letter for name in NAMES for letter in name})
    possible = {edit.text for edit in single_edits("ana maria", letters)}
    assert found["edits"]
    assert found["before"] == {"automaton": 1, "network": 1}
    for edit in found["edits"]:
        assert edit["text"] in possible
        said = ends_in_a([study.wfa.encoder.tokens(edit["text"])])[0]
        assert edit["network"] == [int(said.argmax()), pytest.approx(said.max(), abs=1e-3)]
        assert edit["network"][0] == 0 or edit["automaton"][0] == 0
    json.dumps(found)


def test_without_a_network_the_automaton_is_told_alone(study):
    found = counterfactuals(Study("names", study.wfa, None, study.corpus), "dan")
    assert set(found["before"]) == {"automaton"}
    assert all("network" not in edit for edit in found["edits"])


def test_attacks_on_the_page_are_edits_whose_results_are_texts(study):
    labelled = Corpus.of(NAMES, ["a" if name.endswith("a") else "other" for name in NAMES], ("other", "a"))
    found = attacks(Study("names", study.wfa, study.model, labelled))
    assert [each["recipe"] for each in found["recipes"]] == ["guided", "random-tries"]
    assert found["vectors"] is None
    assert found["examples"]
    for example in found["examples"]:
        ((before,), (after,)) = example["before"], example["after"]
        assert before.endswith("a") != after.endswith("a")
    json.dumps(found)
