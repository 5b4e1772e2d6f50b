"""An automaton of the generated headlines, whose truth is known."""

import numpy as np
import pytest

from wfalens.corpus import load_dataset, newsroom
from wfalens.extraction import Extractor
from wfalens.models import RNNConfig, Trainer


@pytest.fixture(scope="session")
def newsroom_model():
    config = RNNConfig(embedding=32, hidden=32, dropout=0.3)
    return Trainer(config=config, epochs=8, learning_rate=5e-3).train(load_dataset("newsroom")).model


@pytest.fixture(scope="session")
def newsroom_wfa(newsroom_model):
    return Extractor(states=30, completion="probe", alpha=0.0).extract(newsroom_model, load_dataset("newsroom"))


@pytest.fixture(scope="session")
def newsroom_vectors():
    return newsroom.vectors()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
