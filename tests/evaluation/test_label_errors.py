"""Likely label errors: planted ones are found as often as by confident learning, none without a second opinion."""

import numpy as np
import pytest

import wfalens as wl
from tests.planted import corpus
from wfalens.evaluation.baselines import cross_fitted_bag_of_words
from wfalens.evaluation.label_errors import find_label_errors
from wfalens.models.inference import final_outputs
from wfalens.text import Corpus

FLIPPED = 60


@pytest.fixture(scope="module")
def planted():
    """A network that was trained on texts of which some have the wrong label, its automaton, the texts, the rows."""
    clean = corpus("plain", 1200, 3)
    rows = np.random.default_rng(0).choice(len(clean), FLIPPED, replace=False)
    labels = clean.labels.copy()
    labels[rows] = 1 - labels[rows]
    train = Corpus(clean.texts, labels, clean.class_names, "flipped")
    shape = wl.RNNConfig(embedding=16, hidden=16)
    model = wl.train(train, config=shape, epochs=12, patience=12, learning_rate=1e-2, seed=0).model
    return model, wl.extract(model, train, wl.Paper(states=10)), train, rows


def test_planted_errors_come_first_and_at_least_as_often_as_by_confident_learning(planted):
    model, wfa, train, rows = planted
    found = find_label_errors(wfa, model, train)
    ours = np.isin([each.row for each in found.errors[:FLIPPED]], rows).mean()
    # the ranking of cleanlab: the probability of the label by a model that was fitted to the other texts
    ids = wfa.encoder.encode(train.texts)
    outside = cross_fitted_bag_of_words(ids, np.eye(2)[train.labels], len(wfa.encoder.vocabulary))
    theirs = np.isin(np.argsort(outside[np.arange(len(train)), train.labels])[:FLIPPED], rows).mean()
    assert ours >= max(0.8, theirs - 0.02)


def test_a_mistake_of_the_network_without_a_second_opinion_is_no_label_error(planted):
    model, wfa, train, _ = planted
    ids = wfa.encoder.encode(train.texts)
    outside = cross_fitted_bag_of_words(ids, np.eye(2)[train.labels], len(wfa.encoder.vocabulary))
    supported = outside.argmax(1) != train.labels
    found = find_label_errors(wfa, model, train)
    assert all(supported[each.row] for each in found)
    wrong = final_outputs(model, ids).argmax(1) != train.labels
    assert set(np.flatnonzero(wrong & ~supported)).isdisjoint(each.row for each in found)
    assert all(each.label != each.likelier and each.doubt > 0 for each in found)
    assert [each.doubt for each in found] == sorted((each.doubt for each in found), reverse=True)
