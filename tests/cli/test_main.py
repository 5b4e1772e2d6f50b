"""How a command ends: exit codes, one sentence for an error, and output that nobody reads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.automata import sample
from tests.commands import wfalens
from wfalens.cli import main as entry
from wfalens.cli.output import note

WORDS = "w1 w2"
LONGEST = 1100  # characters of a sentence with what stands before it


@pytest.fixture
def folder(tmp_path):
    sample("fit", 0).wfa.save(tmp_path / "some.wfa")
    return tmp_path


def in_a_process(*arguments, cwd, **streams):
    command = [sys.executable, "-m", "wfalens", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(command, text=True, check=False, cwd=cwd, **streams)


def test_what_is_done_is_0(folder):
    assert wfalens("predict", "some.wfa", WORDS, cwd=folder).returncode == entry.DONE == 0


def test_bad_usage_and_bad_input_are_2_and_one_sentence(folder):
    assert wfalens("predict", cwd=folder).returncode == entry.USAGE == 2
    done = wfalens("predict", "none.wfa", WORDS, cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert wfalens("predict", "some.wfa", WORDS, "-C", "nothing=1", cwd=folder).returncode == 2


@pytest.mark.parametrize(("error", "code"), [(ZeroDivisionError("a\nb"), 70), (KeyboardInterrupt(), 130)])
def test_a_defect_is_70_and_a_stop_130(folder, monkeypatch, error, code):
    def broken(*_):
        raise error

    monkeypatch.setattr("wfalens.cli.predict_command._answers", broken)
    done = wfalens("predict", "some.wfa", WORDS, cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (code, 1)
    assert ("Traceback" in wfalens("--debug", "predict", "some.wfa", WORDS, cwd=folder).stderr) == (code == 70)


def test_the_codes_stand_in_the_help_and_in_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for text in (wfalens("--help").stdout, readme):
        shown = " ".join(text.split()).partition("Exit codes: ")[2]
        for code in (
            "0 done",
            "1 a failure that you asked about",
            "2 bad usage or input",
            "70 a defect",
            "130 stopped",
        ):
            assert code in shown


def test_output_that_nobody_reads_ends_the_command_quietly(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = in_a_process("predict", "some.wfa", "w1", "--json", cwd=folder, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (entry.BROKEN_PIPE, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_finds_no_room_is_one_sentence(folder):
    with Path("/dev/full").open("w") as full:
        done = in_a_process("predict", "some.wfa", WORDS, "--json", cwd=folder, stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_file_name_cannot_write_to_the_terminal(folder):
    done = wfalens("predict", "no\x1b[2J\n.wfa", WORDS, cwd=folder)
    assert "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_notes_are_printable_and_bounded(capsys):
    note("a\x1b[31m\nb" + "c" * 200_000)
    shown = capsys.readouterr().err
    assert "\x1b" not in shown
    assert shown.count("\n") == 1
    assert len(shown) < LONGEST


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_what_it_can_show_and_machines_get_all(folder):
    streams = {"env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    people = in_a_process("predict", "some.wfa", "w1 é", cwd=folder, **streams)
    assert people.returncode == 0, people.stderr
    assert "w1 ?" in people.stdout
    machine = in_a_process("predict", "some.wfa", "w1 é 👧", "--json", cwd=folder, **streams)
    assert json.loads(machine.stdout)[0]["text"] == "w1 é 👧"


@pytest.mark.parametrize("columns", ["0", "00", ""])
def test_a_terminal_of_no_width_shows_all_the_same(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    done = wfalens("train", "--help")
    assert (done.returncode, "--corpus" in done.stdout) == (0, True)
