"""Shared fixtures: small models with answers that are known or quick to get."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests.automata import linear_sample, sample
from tests.flaws import Flaw, flaw_of
from tests.methods import quicken_teachers
from wfalens.automaton import WFA
from wfalens.extraction import Stochastic, extract
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.text import Corpus, TextEncoder, Vocabulary, load_dataset
from wfalens.text.datasets import newsroom
from wfalens.text.datasets.catalogue import is_available

settings.register_profile("wfalens", deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wfalens")


Make = Callable[[Path], object]


@pytest.fixture(scope="session")
def once(tmp_path_factory, request) -> Callable[[str, Make], Path]:
    """once(name, make): the file or folder that make(path) makes; the first process of a run makes it for all.

    It is for reading only: other processes read it at the same time.
    """
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # one of several processes (pytest-xdist), whose folders lie in one
        folder = folder.parent

    def made_once(name: str, make: Make) -> Path:
        path = folder / f"once-{name}"
        with FileLock(f"{path}.lock"):
            if not path.exists():
                unfinished = path.with_name(f"unfinished-{name}")
                make(unfinished)
                unfinished.rename(path)
        return path

    return made_once


@pytest.fixture(scope="session")
def copy_once(once, tmp_path_factory) -> Callable[[str, Make], Path]:
    """copy_once(name, make): a copy for this process of the folder that make(path) fills, made once for all."""

    def fill(make: Make) -> Make:
        return lambda folder: (shutil.rmtree(folder, ignore_errors=True), folder.mkdir(), make(folder))

    def copied(name: str, make: Make) -> Path:
        return Path(shutil.copytree(once(name, fill(make)), tmp_path_factory.mktemp(name) / name))

    return copied


@pytest.fixture(scope="session", autouse=True)
def kernels(request):
    """Workers share out the kernels that take longest to compile, and find each other's in the cache on disk."""
    worker = getattr(request.config, "workerinput", None)
    if worker is not None:
        number, workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        for made in (sample("probe", 0), linear_sample(0))[number::workers]:
            made.wfa.predict(["w1 w2"])
            made.wfa.explain("w1 w2")


@pytest.fixture(scope="session", autouse=True)
def room_for_all_libraries():
    """The tests' own process holds all that the suite imports, which is more than a run may take by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wfalens.scale.file_run.DEFAULT_MEMORY", 10**12)
        yield


@pytest.fixture
def quick_teacher(monkeypatch):
    quicken_teachers(monkeypatch)


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
def news_model(once, headlines):
    """A small LSTM that has learned the generated headlines well."""
    config = RNNConfig(embedding=16, hidden=16, dropout=0.2)
    trainer = Trainer(config=config, epochs=12, learning_rate=1e-2, seed=0)
    return RNNClassifier.load(once("news.rnn", lambda path: trainer.train(headlines).model.save(path)))


@pytest.fixture(scope="session")
def newsroom_model(once):
    """The same on more headlines: what it has learned is the planted truth."""
    config = RNNConfig(embedding=32, hidden=32, dropout=0.3)
    trainer = Trainer(config=config, epochs=8, learning_rate=5e-3)
    return RNNClassifier.load(
        once("newsroom.rnn", lambda path: trainer.train(load_dataset("newsroom")).model.save(path))
    )


@pytest.fixture(scope="session")
def newsroom_wfa(once, newsroom_model):
    extractor = Stochastic(states=30, completion="probe", alpha=0.0, abstraction="outputs")
    return WFA.load(
        once("newsroom.wfa", lambda path: extract(newsroom_model, load_dataset("newsroom"), extractor).save(path))
    )


@pytest.fixture(scope="session")
def opinions_model(once):
    """A small LSTM that has learned what negation and "but" do."""
    trainer = Trainer(config=RNNConfig(embedding=16, hidden=32, dropout=0.1), epochs=4, learning_rate=1e-2)
    return RNNClassifier.load(
        once("opinions.rnn", lambda path: trainer.train(load_dataset("opinions")).model.save(path))
    )


@pytest.fixture(scope="session")
def flaw(once) -> Flaw:
    """A network with a planted flaw, its readable automaton, and texts on which it errs."""
    return flaw_of(once)


@pytest.fixture
def letters() -> TextEncoder:
    return TextEncoder(Vocabulary.of_words("abcdefgh"), "whitespace")


@pytest.fixture(scope="session")
def news_data(data_folder):
    return load_dataset("tagmynews", "train", data_folder), load_dataset("tagmynews", "test", data_folder)
