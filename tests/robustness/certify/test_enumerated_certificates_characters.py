"""Certificates of texts of characters are true: by brute force over all edits, on automaton and network."""

import json

import numpy as np
import pytest

from tests.errors import raises
from tests.robustness.attack.test_run_attack_edits import NAMES
from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.robustness import CertifyOptions, certify_edits, certify_model
from wfalens.text import TextEncoder
from wfalens.text.character_edits import edited_texts


def holds_dan(token_lists):
    """Whether the letters d, a, n stand in a row; surer where they do."""
    yes = np.array(["dan" in "".join([*tokens[:1], *(token[-1] for token in tokens[1:])]) for tokens in token_lists])
    return np.where(yes[:, None], [0.2, 0.8], [0.9, 0.1])


@pytest.fixture(scope="module", params=["characters", "bigrams"])
def pair(request):
    encoder = TextEncoder.of_texts(NAMES, request.param)
    model = wrap(holds_dan, vocab=encoder, classes=("other", "dan"), reads="tokens")
    return extract(model, NAMES, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs")), model


def within(encoder, text, changes):
    """All texts that up to so many edits lead to, by plain recursion."""
    found = {edit.text for edit in edited_texts(encoder, text).edits}
    return found if changes == 1 else found | {far for near in found for far in within(encoder, near, changes - 1)}


@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.parametrize("of", ["automaton", "network"])
def test_a_certificate_says_what_brute_force_says(pair, changes, of):
    wfa, model = pair
    texts = ["hannah", "nan", "dana", "ian"] if changes == 1 else ["ann", "nan"]
    found = certify_edits(wfa, texts, model=model if of == "network" else None, changes=changes, budget=10**6)
    for text, certificate in zip(texts, found.certificates, strict=True):
        every = sorted(within(wfa.encoder, text, changes))
        ids = wfa.encoder.encode([text, *every])
        said = (model.trace(ids).last() if of == "network" else wfa.predict_proba(ids)).argmax(1)
        assert certificate.status == ("certified" if (said == said[0]).all() else "broken")
        if certificate.witness is not None:
            assert certificate.witness in every
            assert said[1 + every.index(certificate.witness)] != said[0]
            assert certificate.witness_label == wfa.class_names[said[1 + every.index(certificate.witness)]]


def test_a_budget_that_does_not_suffice_leaves_it_open(pair):
    wfa, model = pair
    model.queries = 0
    (certificate,) = certify_edits(wfa, ["iel"], model=model, budget=2).certificates
    assert (certificate.status, certificate.read) == ("open", 2)
    assert model.queries == 3


def test_every_form_tells_the_same(pair):
    found = certify_edits(pair[0], ["dana", "iel"], model=pair[1])
    assert [each.status for each in found.certificates] == ["broken", "certified"]
    assert json.loads(json.dumps(found.to_dict()))["texts"][0]["status"] == found.certificates[0].status
    assert found.certificates[0].witness in found.to_html()
    assert found.certified.value == 1 / 2


def test_bad_input_is_refused(pair):
    with raises("no-words"):
        certify_edits(pair[0], [""])
    with raises("option-value"):
        certify_edits(pair[0], ["dana"], changes=0)


def test_the_door_certifies_texts_of_characters(pair):
    wfa, model = pair
    found = certify_model(wfa, ["dana"])
    assert (found.of, found.changes) == ("automaton", 1)
    assert found.certificates == certify_edits(wfa, ["dana"]).certificates
    assert certify_model(wfa, ["dana"], CertifyOptions(of="network"), model=model).of == "network"
    with raises("subject"):
        certify_model(wfa, ["dana"], CertifyOptions(of="readable"))
