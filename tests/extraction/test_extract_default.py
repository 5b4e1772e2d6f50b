"""`wfalens extract` without options is worth more than a bag of words wherever anything is."""

import resource

import numpy as np
import pytest

from tests.intents import intents, last_classes
from wfalens.evaluation import measure_fidelity
from wfalens.evaluation.baselines import bag_of_words
from wfalens.extraction import extract
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.models.inference import last_outputs
from wfalens.text import load_dataset

pytestmark = pytest.mark.slow  # nothing is made smaller but the networks


def film_model(path):
    train = load_dataset("rotten_tomatoes", "train")
    Trainer(config=RNNConfig(embedding=50, hidden=32), epochs=5, max_length=60).train(train).model.save(path)


def test_it_beats_a_bag_of_words_on_film_reviews(once):
    model = RNNClassifier.load(once("films.rnn", film_model))
    train, test = (load_dataset("rotten_tomatoes", split) for split in ("train", "test"))
    wfa = extract(model, train)
    found = measure_fidelity(wfa, model, test, reference=train)
    assert found.overall.cr.value > found.baselines["bag of words"].cr.value + 0.03
    assert found.readable.cr.value > found.baselines["bag of words"].cr.value - 0.05
    assert wfa.readable is not wfa


def test_it_beats_a_bag_of_words_on_a_hundred_and_fifty_classes_in_bounded_memory():
    model, texts, fresh = intents(150, 3000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wfa = extract(model, texts)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    known, ids = model.encoder.encode(texts), model.encoder.encode(fresh)
    guessed = bag_of_words(known, last_outputs(model, known).astype(float), ids, len(model.encoder.vocabulary))
    label = last_classes(model, fresh)
    assert np.mean(wfa.predict_indices(fresh) == label) > max(0.9, np.mean(guessed.argmax(1) == label))
    assert grown < 1_500_000  # kB
