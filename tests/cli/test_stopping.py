"""Ctrl-C and SIGTERM, sent for real to a process: one sentence, exit code 130, and where to go on."""

import os
import signal
import subprocess
import sys

import pytest

from tests.automata import sample
from tests.streams import corpus_files, small_model, some_labels, some_texts, write_texts
from wfalens.automaton import WFA
from wfalens.cli.legacy.stopping import resumable
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
from wfalens.cli.progress import TerminalProgress
def advance(self, units=1, note=""):
    if list(pathlib.Path().glob({written!r})):
        os.kill(os.getpid(), {number})
TerminalProgress.advance = advance
"""


def listening():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start deaf to it


def stopped(hook, *arguments, cwd, env=None):
    return subprocess.run(
        [sys.executable, "-c", RUN.format(hook=hook), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=env,
        preexec_fn=listening,
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
@pytest.mark.parametrize("module", ["typer", "rich.console", "numpy", "numba"])
def test_a_stop_while_modules_are_imported_is_one_sentence(folder, module, number):
    done = stopped(IN_IMPORT.format(module=module, number=int(number)), "predict", "some.wfa", "w1", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


@BOTH
def test_a_stopped_linear_extraction_delivers_the_best_so_far_and_goes_on(folder, number):
    out = f"linear{int(number)}.wfa"
    command = ("extract", "model.rnn", "-c", "texts0.jsonl", "-o", out, "--kind", "linear", "-k", "4", "--epochs", "2")
    done = stopped(IN_PROGRESS.format(written=f"{out}.training", number=int(number)), *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    (sentence,) = [line for line in done.stderr.splitlines() if "stopped" in line]
    assert "this is the best automaton so far" in sentence
    assert "the same command with --force goes on from there" in done.stderr
    assert (folder / f"{out}.training").exists()
    assert WFA.load(folder / out).provenance["stopped"]
    assert stopped("", *command, "--force", cwd=folder).returncode == 0
    assert WFA.load(folder / out).kind == "linear"
    assert not (folder / f"{out}.training").exists()


@BOTH
def test_a_stopped_extraction_in_shards_says_where_it_goes_on(folder, number):
    out = f"shards{int(number)}.wfa"
    rows = ("--completion", "empirical", "--alpha", "0.4", "--beta", "0.3", "--abstraction", "outputs", "-k", "2")
    command = ("extract", "model.rnn", "-c", "texts*.jsonl", "-o", out, *rows, "--workers", "1")
    done = stopped(IN_PROGRESS.format(written=f"{out}.parts/counts-*", number=int(number)), *command, cwd=folder)
    sentence = f"stopped; what is done is kept in {out}.parts, and the same command goes on from there\n"
    assert (done.returncode, done.stderr) == (130, sentence)
    assert list((folder / f"{out}.parts").glob("counts-*.part"))
    resumed = stopped("", *command, cwd=folder)
    assert resumed.returncode == 0
    assert "going on" in resumed.stderr


# run by Python in every process that starts: a worker gets Ctrl-C, as all processes of a terminal do, while it imports
IN_WORKERS = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "wfalens":
            os.kill(os.getpid(), signal.SIGINT)
if "--multiprocessing-fork" in sys.orig_argv:
    sys.meta_path.insert(0, Finder())
"""


def test_a_worker_leaves_ctrl_c_to_the_driver_even_while_it_starts(folder):
    (folder / "start").mkdir()
    (folder / "start" / "sitecustomize.py").write_text(IN_WORKERS)
    sources = os.pathsep.join([str(folder / "start"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = ("extract", "model.rnn", "-c", "texts*.jsonl", "-o", "team.wfa", "-k", "4", "--workers", "2")
    command += ("--memory", "64GB")  # enough for processes: less would be threads
    done = stopped("", *command, cwd=folder, env={**os.environ, "PYTHONPATH": sources})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_to_all_processes_is_one_sentence(folder):
    hook = """
from concurrent.futures import ProcessPoolExecutor
real = ProcessPoolExecutor.submit
def submit(self, *job):
    future = real(self, *job)
    os.killpg(0, signal.SIGINT)
    return future
ProcessPoolExecutor.submit = submit
"""
    command = ("extract", "model.rnn", "-c", "texts*.jsonl", "-o", "group.wfa", "-k", "4", "--workers", "2")
    done = stopped(hook, *command, "--memory", "64GB", cwd=folder)
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1].startswith("stopped")
    assert "Traceback" not in done.stderr


TRAIN = ("train", "-c", "known.csv", "--embedding", "8", "--hidden", "8", "--epochs", "3")


@BOTH
def test_a_stopped_training_keeps_its_best_epoch(folder, number):
    out = f"kept{int(number)}.rnn"
    done = stopped(IN_PROGRESS.format(written="known.csv", number=int(number)), *TRAIN, "-o", out, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "note: stopped: keeping epoch 1, the best so far\n"
    assert RNNClassifier.load(folder / out).class_names == ("a", "b", "c")


@BOTH
def test_a_training_stopped_before_its_first_epoch_writes_nothing(folder, number):
    hook = f"""
import wfalens.models.rnn.training as training
training.Trainer._epoch = lambda *_: os.kill(os.getpid(), {int(number)})
"""
    done = stopped(hook, *TRAIN, "-o", "none.rnn", cwd=folder)
    sentence = "stopped; the first epoch had not ended, so nothing was written\n"
    assert (done.returncode, done.stderr) == (130, sentence)
    assert not (folder / "none.rnn").exists()


def test_a_stopped_comparison_of_starts_does_not_go_on_with_the_next(folder):
    hook = IN_PROGRESS.format(written="known.csv", number=int(signal.SIGINT))
    (folder / "vectors.txt").write_text("".join(f"w{at} {at / 9:.3f} {at % 7 / 9:.3f}\n" for at in range(6)))
    command = ("pretrain", "some.wfa", "-c", "known.csv", "--test", "known.csv", "--epochs", "2", "--width", "2")
    done = stopped(hook, *command, "--vectors", "vectors.txt", cwd=folder)
    assert done.returncode == 130
    assert done.stderr.endswith("stopped\n")


@BOTH
def test_the_explorer_is_stopped_like_any_command(folder, number):
    pytest.importorskip("fastapi")
    command = [sys.executable, "-m", "wfalens", "explore", "some.wfa", "--no-browser", "--vectors", "none"]
    with subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listening,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as running:
        assert "some.wfa is at http://127.0.0.1" in running.stdout.readline()
        running.send_signal(number)
        _, told = running.communicate()
    assert running.returncode == 130
    assert told.endswith("stopped\n")


def test_what_is_kept_is_only_told_where_something_is(tmp_path):
    (tmp_path / "out" / "measurements").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt, match=r"^$"), resumable(tmp_path / "out"):
        raise KeyboardInterrupt
    (tmp_path / "out" / "measurements" / "one.json").write_text("{}")
    with pytest.raises(KeyboardInterrupt, match="what is done is kept in"), resumable(tmp_path / "out"):
        raise KeyboardInterrupt
