"""End to end on real text: the paper's orderings hold on news titles with a quickly trained LSTM."""

import numpy as np
import pytest

from wfalens.evaluation import jensen_shannon, measure_fidelity
from wfalens.extraction import Augmentation, Stochastic, completion_method, extract
from wfalens.models import RNNClassifier, Trainer
from wfalens.models.rnn.training import accuracy
from wfalens.text import read_vectors, wordllama_vectors

pytestmark = pytest.mark.slow  # with an LSTM of real size


@pytest.fixture(scope="module")
def glove(data_folder):
    return read_vectors(data_folder / "glove" / "glove.6B.100d.subset.txt.gz")


@pytest.fixture(scope="module")
def titles(once, news_data, glove):
    """The paper's LSTM, started from GloVe so that a few epochs are enough."""
    train, test = news_data
    trainer = Trainer(epochs=5, learning_rate=4e-3, max_length=25)
    path = once("titles.rnn", lambda path: trainer.train(train, glove).model.save(path))
    return RNNClassifier.load(path), train, test


@pytest.fixture(scope="module")
def fidelity(titles):
    model, train, test = titles
    ids = model.encoder.encode(test.texts)
    outputs = model.trace(ids).last()
    vectors = wordllama_vectors(model.encoder.vocabulary.words[2:])

    def measure(completion, context=False, augmented=False):
        rule = Augmentation(vectors=vectors, epochs=2) if augmented else None
        fewer = {"representatives": 5} if completion == "probe" else {}
        extractor = completion_method(completion, alpha=0.4 * context, augmentation=rule, **fewer)
        wfa = extract(model, train, extractor)
        rate = np.mean(wfa.predict_indices(ids) == outputs.argmax(1))
        return float(rate), float(jensen_shannon(wfa.predict_proba(ids), outputs).mean())

    return measure


def test_the_lstm_has_learned_something(titles):
    model, _, test = titles
    assert accuracy(model, test) > 0.75


def test_null_uniform_empirical_probe_in_the_papers_order(fidelity):
    rates = [fidelity(name) for name in ("null", "uniform", "empirical", "probe")]
    assert rates == sorted(rates)
    assert [jsd for _, jsd in rates] == sorted((jsd for _, jsd in rates), reverse=True)
    assert rates[-1][0] > 0.85


def test_context_and_augmentation_raise_the_empirical_rate(fidelity):
    plain, context, augmented = fidelity("empirical"), fidelity("empirical", True), fidelity("empirical", True, True)
    assert plain[0] < context[0]
    assert augmented[0] > plain[0]


def test_the_automaton_beats_the_trivial_stand_ins(titles):
    model, train, test = titles
    wfa = extract(
        model, train, Stochastic(states=40, completion="probe", alpha=0.0, representatives=5, abstraction="outputs")
    )
    report = measure_fidelity(wfa, model, test, reference=train)
    assert report.overall.cr.low > report.baselines["bag of words"].cr.high


def test_glove_of_the_data_folder_has_sensible_neighbours(glove):
    assert len(glove) == 56_865
    assert {word for word, _ in glove.nearest("basketball", 5)} & {"football", "baseball", "hockey", "soccer"}
