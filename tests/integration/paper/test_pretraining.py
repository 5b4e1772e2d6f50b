"""Pretraining with transition matrix embeddings, compared with other starts."""

import numpy as np
import pytest
from benchmarks.paper.pretraining import Curve, compare_pretraining, pretraining_curves

from wfalens.errors import InputError
from wfalens.explanation import TransitionEmbeddings
from wfalens.models import RNNConfig, Trainer
from wfalens.text import load_dataset
from wfalens.text.datasets import newsroom


def test_pretraining_compares_starts_at_equal_width(newsroom_wfa):
    train, test = load_dataset("newsroom"), load_dataset("newsroom", "test")
    starts = {
        "TME": TransitionEmbeddings.of(newsroom_wfa).reduced(32).vectors,
        "vectors": newsroom.vectors(),
        "random": None,
    }
    trainer = Trainer(config=RNNConfig(embedding=8, hidden=16, dropout=0.2), epochs=2, learning_rate=3e-3)
    part = train.subset(np.arange(2000))
    result = compare_pretraining(part, test, starts, trainer, seeds=(0, 1))
    first = {curve.start: curve.accuracy[:, 0].mean() for curve in result.curves}
    assert all(curve.accuracy.shape == (2, 2) for curve in result.curves)
    assert first["TME"] > first["random"]
    assert len(result.to_dataframe()) == 12
    assert len(result.to_json()["curves"]) == 3
    assert pretraining_curves(result).axes
    narrow = TransitionEmbeddings.of(newsroom_wfa).reduced(5).vectors
    with pytest.raises(InputError, match="different widths: 5, 32"):
        compare_pretraining(part, test, {"a": narrow, "b": newsroom.vectors()}, trainer)


def test_epochs_to_an_accuracy():
    curve = Curve("x", np.zeros((2, 3)), np.array([[0.5, 0.7, 0.8], [0.1, 0.2, 0.3]]))
    assert curve.epochs_to(0.7) == [2, None]
