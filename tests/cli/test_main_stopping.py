"""Ctrl-C and SIGTERM, sent for real to a process: one sentence, exit code 130, and what is kept."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.automata import sample
from tests.streams import corpus_files, small_model, some_labels, some_texts, write_texts
from wfalens.automaton import WFA
from wfalens.cli.inputs import resumable
from wfalens.models import RNNClassifier

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
# a process that runs the command of its arguments and sends itself the signal where `hook` says
RUN = """
import os, signal, sys
{hook}
from wfalens.cli.main import run
run()
"""
IN_IMPORT = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
"""
IN_PROGRESS = """
import pathlib
from wfalens.progress import TerminalProgress
def advance(self, units=1, note=""):
    if list(pathlib.Path().glob({written!r})):
        os.kill(os.getpid(), {number})
TerminalProgress.advance = advance
"""
BEFORE_THE_FIRST_EPOCH = """
from wfalens.models.rnn import training
training.Trainer._epoch = lambda *_: os.kill(os.getpid(), {number})
"""
TRAIN = ("train", "-c", "known.csv", "-C", "hidden=8", "--epochs", "3", "-C", "embedding=8")


def accept_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it


def stopped(hook, *arguments, cwd):
    command = [sys.executable, "-c", RUN.format(hook=hook), *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        preexec_fn=accept_interrupts,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopping")
    corpus_files(folder, texts=200)
    small_model().save(folder / "model.rnn")
    sample("fit", 0).wfa.save(folder / "some.wfa")
    write_texts(folder / "known.csv", some_texts(60), some_labels(60))
    return folder


@BOTH
@pytest.mark.parametrize("module", ["typer", "numpy", "numba"])
def test_a_stop_while_modules_are_imported_is_one_sentence(folder, module, number):
    done = stopped(IN_IMPORT.format(module=module, number=int(number)), "predict", "some.wfa", "w1", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.slow
@BOTH
def test_a_stopped_training_keeps_its_best_epoch(folder, number):
    out = f"kept{int(number)}.rnn"
    done = stopped(IN_PROGRESS.format(written="known.csv", number=int(number)), *TRAIN, "-o", out, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "epoch 1" in done.stderr
    assert RNNClassifier.load(folder / out).class_names == ("a", "b", "c")


@pytest.mark.slow
@BOTH
def test_a_training_stopped_before_its_first_epoch_writes_nothing(folder, number):
    done = stopped(BEFORE_THE_FIRST_EPOCH.format(number=int(number)), *TRAIN, "-o", "none.rnn", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert done.stderr.startswith("stopped; ")
    assert not (folder / "none.rnn").exists()


@pytest.mark.slow
@BOTH
def test_a_stopped_linear_extraction_writes_the_best_so_far_and_continues(folder, number):
    out = f"linear{int(number)}.wfa"
    where = ("extract", "model.rnn", "-c", "texts0.jsonl", "-o", out)
    command = (*where, "-C", "linear.states=4", "-C", "linear.epochs=2")
    done = stopped(IN_PROGRESS.format(written=f"{out}.training/training", number=int(number)), *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "--force continues" in done.stderr
    assert (folder / f"{out}.training").exists()
    assert WFA.load(folder / out).provenance["stopped"]
    again = stopped("", *command, "--force", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert WFA.load(folder / out).kind == "linear"
    assert not (folder / f"{out}.training").exists()


@pytest.mark.slow
@BOTH
def test_a_stopped_extraction_in_blocks_continues_from_its_checkpoints(folder, number):
    out = f"blocks{int(number)}.wfa"
    options = ("-C", "paper.states=2", "-C", "workers=1")
    command = ("extract", "model.rnn", "-c", "texts*.jsonl", "-o", out, *options)
    hook = IN_PROGRESS.format(written=f"{out}.checkpoints/counts-*", number=int(number))
    done = stopped(hook, *command, cwd=folder)
    assert done.returncode == 130, done.stderr
    assert done.stderr.splitlines()[-1].startswith("stopped; ")
    assert f"{out}.checkpoints" in done.stderr
    assert not (folder / out).exists()
    assert list((folder / f"{out}.checkpoints").glob("counts-*"))
    resumed = stopped("", *command, cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    assert (folder / out).exists()
    assert not (folder / f"{out}.checkpoints").exists()


@pytest.mark.slow
@BOTH
def test_the_server_answers_and_is_stopped_like_any_command(folder, number):
    pytest.importorskip("fastapi")
    command = [sys.executable, "-m", "wfalens", "serve", "some.wfa", "--no-browser", "-C", "vectors=none"]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=accept_interrupts,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as running:
        address = running.stdout.readline().split(" is at ")[1].split()[0]
        place, _, token = address.partition("?token=")
        request = urllib.request.Request(place, headers={"authorization": f"Bearer {token}"})  # noqa: S310 - our own
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own server
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(place)  # noqa: S310 - our own server
        running.send_signal(number)
        _, notes = running.communicate(timeout=60)
    assert running.returncode == 130
    assert notes.endswith("stopped\n")


def test_what_is_kept_is_named_only_where_something_is(tmp_path):
    (tmp_path / "out" / "blocks").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt) as stop, resumable(tmp_path / "out"):
        raise KeyboardInterrupt
    assert stop.value.args == ()
    (tmp_path / "out" / "blocks" / "one.json").write_text("{}")
    with pytest.raises(KeyboardInterrupt) as stop, resumable(tmp_path / "out"):
        raise KeyboardInterrupt
    assert str(tmp_path / "out") in stop.value.args[0]
