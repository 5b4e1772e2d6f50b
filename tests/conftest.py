"""Shared fixtures: small models with answers that are known or quick to get."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from wfalens.corpus import Corpus, TextEncoder, Vocabulary, load_dataset, newsroom
from wfalens.corpus.datasets import is_available
from wfalens.extraction import Extractor
from wfalens.models import RNNConfig, Trainer

settings.register_profile("wfalens", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wfalens")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    folder = os.environ.get("WFALENS_DATA")
    if not folder or not is_available("tagmynews", folder):
        pytest.skip("needs the real data: set WFALENS_DATA to its folder")
    return Path(folder)


@pytest.fixture(scope="session")
def headlines() -> Corpus:
    return newsroom.generate(1500, np.random.default_rng(0))


@pytest.fixture(scope="session")
def test_headlines() -> Corpus:
    return newsroom.generate(400, np.random.default_rng(1))


@pytest.fixture(scope="session")
def news_model(headlines):
    """A small LSTM that has learned the generated headlines well."""
    config = RNNConfig(embedding=16, hidden=16, dropout=0.2)
    return Trainer(config=config, epochs=12, learning_rate=1e-2, seed=0).train(headlines).model


@pytest.fixture(scope="session")
def newsroom_model():
    """The same on more headlines: what it has learned is the planted truth."""
    config = RNNConfig(embedding=32, hidden=32, dropout=0.3)
    return Trainer(config=config, epochs=8, learning_rate=5e-3).train(load_dataset("newsroom")).model


@pytest.fixture(scope="session")
def newsroom_wfa(newsroom_model):
    return Extractor.paper(states=30, completion="probe", alpha=0.0).extract(newsroom_model, load_dataset("newsroom"))


@pytest.fixture
def letters() -> TextEncoder:
    return TextEncoder(Vocabulary.of_words("abcdefgh"), "whitespace")


@pytest.fixture(scope="session")
def news_data(data_folder):
    return load_dataset("tagmynews", "train", data_folder), load_dataset("tagmynews", "test", data_folder)
