"""Word vectors to match the generated headlines, whose truth is known."""

import numpy as np
import pytest

from wfalens.text.datasets import newsroom


@pytest.fixture(scope="session")
def newsroom_vectors():
    return newsroom.vectors()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
