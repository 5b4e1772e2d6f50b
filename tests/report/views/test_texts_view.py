"""Texts and problems: every figure by hand, on one sample."""

import numpy as np
import pytest

from tests.studies import counting_model, letter_texts
from wfalens.extraction import Paper, extract
from wfalens.report import Study
from wfalens.report.views import texts
from wfalens.report.views.texts_view import broken_texts, confusion, surest_mistakes
from wfalens.text import Corpus


@pytest.fixture(scope="module")
def counting():
    model, corpus = counting_model(3), letter_texts(400, 3)
    wfa = extract(model, corpus, Paper(states=3))
    return Study("letters.wfa", wfa, model, corpus)


def test_confusions_count_every_text_once():
    rows, columns = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, -1, 2])
    assert confusion(rows, columns, 3) == [[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def test_the_table_says_what_truth_network_and_automaton_say(counting):
    found = texts(counting, most=100)
    model, wfa = counting.model, counting.wfa
    assert (len(found["rows"]), found["of"]) == (100, 400)
    labels = dict(zip(counting.corpus.texts, counting.corpus.labels, strict=True))
    for text, truth, network, automaton, probability, confidence in found["rows"][:30]:
        output = model.trace(model.encoder.encode([text])).last()[0]
        assert network == output.argmax()
        assert probability == pytest.approx(output.max(), abs=1e-3)
        assert automaton == wfa.predict_indices([text])[0]
        assert confidence == pytest.approx(wfa.confidence([text])[0], abs=1e-3)
        if counting.corpus.texts.count(text) == 1:
            assert truth == labels[text]
    for name, one, other in (("network", 1, 2), ("automaton", 2, 3)):
        for at, row in enumerate(found["confusions"][name]):
            for column, count in enumerate(row[:3]):
                assert count == sum(each[one] == at and each[other] == column for each in found["rows"])


def test_the_surest_mistakes_come_first():
    truth = np.array([0, 0, 0, 1, 1])
    outputs = np.array([[0.9, 0.1], [0.4, 0.6], [0.05, 0.95], [0.1, 0.9], [0.3, 0.7]])
    found = surest_mistakes(truth, outputs)
    assert [(each["text"], each["label"], each["predicted"]) for each in found] == [(2, 0, 1), (1, 0, 1)]
    assert surest_mistakes(None, outputs) is None
    assert surest_mistakes(truth, None) is None


def test_a_planted_mistake_comes_first(counting):
    model = counting.model
    said = model.trace(model.encoder.encode(counting.corpus.texts)).last()
    labels = said.argmax(1)
    surest = int(said.max(1).argmax())
    labels[surest] = (labels[surest] + 1) % 3
    corpus = Corpus(counting.corpus.texts, labels, counting.corpus.class_names, "planted")
    found = texts(Study("letters.wfa", counting.wfa, model, corpus))
    first = found["problems"]["mistakes"][0]
    assert found["rows"][first["text"]][0] == corpus.texts[surest]


def test_broken_characters_are_named():
    found = broken_texts(("all is well", "caf\u00c3\u00a9 and caf\u00c3\u00a9", "a\x07b &nbsp; word"))
    assert [(each["text"], each["words"]) for each in found] == [(1, 2), (2, 2)]
    assert found[1]["kinds"] == "control character, markup"


def test_without_labels_and_network_the_rest_remains(counting):
    found = texts(Study("letters.wfa", counting.wfa, None, Corpus.of(counting.corpus.texts)))
    assert found["confusions"] == {"network": None, "automaton": None}
    assert found["problems"]["mistakes"] is None
    assert found["rows"][0][1:3] == [None, None]
