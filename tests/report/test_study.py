"""What belongs to an automaton: found, checked, and shown in short."""

import sys

import numpy as np
import pytest

from tests.automata import sample
from tests.errors import raises
from tests.studies import counting_model, letter_texts
from wfalens.report import serve, study_of
from wfalens.report.server import serve_study


def test_texts_may_be_a_list_an_array_or_a_corpus():
    wfa, corpus = sample("fit", 0).wfa, letter_texts(20, 3)
    assert study_of(wfa, texts=corpus, vectors=None).corpus is corpus
    for texts in (list(corpus.texts), np.array(corpus.texts)):
        assert study_of(wfa, texts=texts, vectors=None).corpus.texts == corpus.texts
    with raises("texts"):
        study_of(wfa, texts="one text", vectors=None)


def test_vectors_are_left_out_where_wordllama_is_not_installed_and_asked_for_in_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    wfa = sample("fit", 0).wfa
    study = study_of(wfa)
    assert study.vectors is None
    with raises("no-vectors"):
        study.meanings  # noqa: B018 - a property that raises
    with raises("no-vectors"):
        study_of(wfa, vectors="model")


def test_a_study_prints_in_a_line():
    corpus = letter_texts(300, 3)
    study = study_of(sample("fit", 0).wfa, texts=corpus, vectors=None, name="news\n.wfa")
    assert len(str(study)) < 200
    assert "\n" not in str(study)
    assert corpus.texts[0] not in str(study)


def test_serving_takes_an_automaton_with_its_model_and_texts(monkeypatch):
    served = []
    monkeypatch.setattr(sys.modules["wfalens.report.server.serve"], "serve_study", lambda *given: served.append(given))
    wfa, model = sample("fit", 0).wfa, None
    serve(wfa, model, ["w0 w1"], vectors=None, name="some.wfa", port=8123)
    ((study, host, port, _ready),) = served
    assert (study.name, study.corpus.texts, host, port) == ("some.wfa", ("w0 w1",), "127.0.0.1", 8123)


@pytest.mark.parametrize("port", [0, 70_000])
def test_a_port_that_does_not_exist_is_rejected(port):
    with raises("option-value"):
        serve_study(study_of(sample("fit", 0).wfa, vectors=None), "127.0.0.1", port, print)


def test_a_model_with_other_classes_is_rejected():
    with raises("other-model"):
        study_of(sample("fit", 0).wfa, counting_model(7), vectors=None)
