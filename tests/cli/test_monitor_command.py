"""Coverage of a test set, a detector of attacked texts, and a stream of texts."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cli.conftest import write_csv
from tests.commands import ok, wfalens
from wfalens.automaton import WFA

WATCH = ("monitor", "watch", "flaw.wfa", "-m", "flaw.rnn")


def in_a_process(folder, prepare, **streams):
    command = [sys.executable, "-m", "wfalens", *WATCH, "--reference", "train.csv"]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare, **streams
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_idle_watch_is_stopped_like_any_command(flaw_files, number):
    def accept_interrupts():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it

    with in_a_process(flaw_files, accept_interrupts, stdin=subprocess.PIPE) as running:
        running.stdin.write(b"the senate votes\n")
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["line"] == 1  # now it waits for more
        running.send_signal(number)
        notes = running.stderr.read().decode()
        assert running.wait() == 130
    assert notes.endswith("stopped\n")
    assert "Fatal" not in notes


@pytest.mark.slow
def test_a_closed_stdin_is_an_empty_stream(flaw_files):
    with in_a_process(flaw_files, lambda: os.close(0)) as running:
        notes = running.stderr.read().decode()
        assert running.wait() == 2
    assert "internal" not in notes
    assert "the stream is empty" in notes


def test_coverage_for_people_and_machines(workshop):
    (workshop / "opinions.csv").write_text("text\nthe good film\nnot bad\n")
    assert json.loads(ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv", "--json"))
    assert ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv")


def test_a_detector_is_trained_and_watches_a_stream(flaw_files, tmp_path):
    asked = ("monitor", "detect", "flaw.wfa", "-m", "flaw.rnn", "-c", "train.csv", "--limit", "120")
    attack = ("-C", "detect.train_on=random-word", "-C", "detect.test_on=random-word")
    found = json.loads(ok(flaw_files, *asked, *attack, "-o", tmp_path / "detector.json", "--json"))
    assert 0 <= found["auroc"]["random-word"] <= 1
    assert wfalens(*asked, *attack, "--min-auroc", "1", cwd=flaw_files).returncode == 1

    rows = (flaw_files / "train.csv").read_text().splitlines()[1:3]
    stream = "\n".join(row.rpartition(",")[0] for row in rows)
    watched = (*WATCH, "--reference", "train.csv", "--detector", tmp_path / "detector.json", "--false-alarms", "1%")
    done = wfalens(*watched, "-C", "watch.window=2", cwd=flaw_files, stdin=stream)
    assert done.returncode == 0, done.stderr
    first, second, summary = map(json.loads, done.stdout.splitlines())
    assert (first["line"], second["line"], summary["window"]["texts"]) == (1, 2, 2)
    assert "attacked" in first
    only = wfalens(*watched, "-C", "watch.window=2", "--summaries", cwd=flaw_files, stdin=stream)
    assert [json.loads(line) for line in only.stdout.splitlines()] == [summary]


def test_a_window_that_raises_an_alarm_is_exit_code_1(flaw_files, tmp_path):
    foreign = ["qwertz uiop asdf ghjk"] * 30
    (tmp_path / "foreign.csv").write_text("\n".join(["title", *foreign]) + "\n")
    files = ("--reference", "train.csv", "--corpus", tmp_path / "foreign.csv", "-C", "text_column=title")
    # the reference has its text in another column
    assert wfalens(*WATCH, *files, cwd=flaw_files).returncode == 2
    rows = "\n".join(json.dumps({"text": text}) for text in foreign)
    done = wfalens(
        *WATCH, "--reference", "train.csv", "-C", "watch.format=jsonl", "--summaries", cwd=flaw_files, stdin=rows
    )
    assert done.returncode == 1, done.stderr
    assert "qwertz" in [each["name"] for each in json.loads(done.stdout)["window"]["drift"]["words"]]


def test_usual_texts_are_those_of_the_extraction_where_none_are_named(flaw_files, flaw, tmp_path):
    wfa = WFA.load(flaw_files / "flaw.wfa")
    ids = wfa.ids(flaw.train.texts)
    wfa.provenance["corpus"] = {"name": "usual.csv", "texts": len(ids), "tokens": len(ids.values)}
    wfa.save(tmp_path / "own.wfa")
    command = ("monitor", "watch", tmp_path / "own.wfa", "-m", "flaw.rnn")
    missing = wfalens(*command, cwd=flaw_files, stdin="the senate votes\n")
    assert missing.returncode == 2
    assert "--reference" in missing.stderr
    write_csv(tmp_path / "usual.csv", flaw.train)
    found = wfalens(*command, cwd=flaw_files, stdin=f"{flaw.train.texts[0]}\n")  # a usual text
    assert found.returncode == 0, found.stderr
    assert "usual.csv" in found.stderr
