"""A model that fails, answers nonsense once, hangs or is killed: what was paid for is kept, and work continues."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import wfalens as wl
from tests.errors import raises
from tests.models.toy import CLASSES, WORTH, texts
from tests.waiting import wait_until

TRAIN = texts(60, seed=0)
QUERIES = 400


class Remote:
    """A function of texts that writes down what it answered, and runs `before` at the beginning of every call."""

    def __init__(self, log, before=lambda call: None):
        self.log, self.before, self.calls = Path(log), before, 0

    def __call__(self, shown: list[str]):
        self.calls += 1
        self.before(self.calls)
        good = np.array([sum(WORTH.get(word, 0.0) for word in text.split()) for text in shown])
        with self.log.open("a") as file:
            file.writelines(f"{text}\n" for text in shown)
        return np.stack([1 / (1 + np.exp(good)), 1 / (1 + np.exp(-good))], 1)

    @property
    def answered(self):
        return self.log.read_text().split("\n")[:-1] if self.log.exists() else []


def wrapped(function, cache, batch_size=8):
    options = {"reads": "text", "name": "remote", "batch_size": batch_size, "initial_output": (0.5, 0.5)}
    return wl.wrap(function, texts=TRAIN, classes=CLASSES, cache=cache, **options)


def extracted(function, cache):
    return wl.extract(wrapped(function, cache), TRAIN, wl.Linear(epochs=2, layers=1), queries=QUERIES)


@pytest.fixture
def uninterrupted(tmp_path):
    """The texts that are asked for where nothing goes wrong."""
    remote = Remote(tmp_path / "uninterrupted")
    extracted(remote, tmp_path / "uninterrupted.sqlite")
    return remote.answered


def test_no_text_is_paid_for_twice(uninterrupted):
    assert len(set(uninterrupted)) == len(uninterrupted) <= QUERIES


def test_a_model_that_fails_on_a_late_batch_has_lost_nothing(tmp_path):
    def fails(call):
        if call >= 1000:
            raise ConnectionError("gone")

    remote = Remote(tmp_path / "log", fails)
    asked = [f"text number {number}" for number in range(1200)]
    with raises("model-fails"):
        wrapped(remote, tmp_path / "answers", batch_size=1).predict_proba(asked)
    assert len(remote.answered) == 999
    again = Remote(tmp_path / "rest")
    wrapped(again, tmp_path / "answers").predict_proba(asked)
    assert sorted(remote.answered + again.answered) == sorted(asked)


def test_an_extraction_continues_where_the_model_failed(tmp_path, uninterrupted):
    def fails(call):
        if call >= 12:
            raise ConnectionError("gone")

    remote = Remote(tmp_path / "log", fails)
    with raises("model-fails"):
        extracted(remote, tmp_path / "answers")
    again = Remote(tmp_path / "rest")
    extracted(again, tmp_path / "answers")
    assert sorted(remote.answered + again.answered) == sorted(uninterrupted)


def test_nonsense_that_is_answered_once_is_asked_again(tmp_path):
    class Once(Remote):
        def __call__(self, shown: list[str]):
            outputs = super().__call__(shown)
            return np.full_like(outputs, np.nan) if self.calls == 2 else outputs

    model = wrapped(Once(tmp_path / "log"), tmp_path / "answers")
    expected = wrapped(Remote(tmp_path / "sound"), None).predict_proba(TRAIN.texts)
    np.testing.assert_array_equal(model.predict_proba(TRAIN.texts), expected)
    assert model.queries == len(model.predict_texts.answered)


def test_answers_are_kept_while_a_slow_model_is_still_asked(tmp_path):
    go_on = threading.Event()

    def hangs(call):
        if call == 3:
            go_on.wait()

    remote = Remote(tmp_path / "log", hangs)
    model = wrapped(remote, tmp_path / "answers")
    worker = threading.Thread(target=model.predict_proba, args=(TRAIN.texts,))
    worker.start()
    try:
        wait_until(lambda: remote.calls == 3)
        known, _ = model.cache.find("remote", remote.answered, len(CLASSES))
        assert (len(known), known.all()) == (16, True)
    finally:
        go_on.set()
        worker.join()


def hang_and_be_killed(folder):
    """What the killed process does: extract, and hang in a call."""

    def hangs(call):
        if call == 12:
            (folder / "hangs").touch()
            threading.Event().wait()

    extracted(Remote(folder / "log", hangs), folder / "answers")


@pytest.mark.slow
def test_a_killed_extraction_continues_from_its_cache(tmp_path, uninterrupted):
    code = f"import pathlib, tests.integration.test_faults as t; t.hang_and_be_killed(pathlib.Path({str(tmp_path)!r}))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2]) as process:
        wait_until(lambda: (tmp_path / "hangs").exists() or process.poll() is not None)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    paid = Remote(tmp_path / "log").answered
    assert paid
    again = Remote(tmp_path / "rest")
    extracted(again, tmp_path / "answers")
    assert sorted(paid + again.answered) == sorted(uninterrupted)
