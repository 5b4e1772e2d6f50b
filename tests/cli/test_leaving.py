"""How a command ends: exit codes, sentences that a terminal can show, and output that nobody reads."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.automata import sample
from tests.cli.test_commands import wfalens
from wfalens.cli import main as entry
from wfalens.cli.output import note

WORDS = "w1 w2"
LONGEST = 1100  # characters of a sentence with what stands before it
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


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


def test_bad_usage_and_bad_input_are_2(folder):
    assert wfalens("predict", cwd=folder).returncode == entry.USAGE == 2
    assert wfalens("predict", "none.wfa", WORDS, cwd=folder).returncode == 2


def test_a_defect_of_ours_is_70_and_one_sentence(folder, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("of a defect\nin two lines")

    monkeypatch.setattr("wfalens.cli.legacy.walk.walk", broken)
    done = wfalens("walk", "some.wfa", WORDS, cwd=folder)
    assert done.returncode == entry.DEFECT == 70
    assert done.stderr == (
        "error: internal error: ZeroDivisionError: of a defect in two lines (wfalens --debug COMMAND shows where)\n"
    )
    debugged = wfalens("--debug", "walk", "some.wfa", WORDS, cwd=folder)
    assert debugged.returncode == 70
    assert "Traceback" in debugged.stderr
    assert debugged.stderr.endswith(done.stderr)


def test_a_stop_is_130(folder, monkeypatch):
    def stops(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("wfalens.cli.legacy.walk.walk", stops)
    done = wfalens("walk", "some.wfa", WORDS, cwd=folder)
    assert (done.returncode, done.stderr) == (entry.STOPPED, "stopped\n")
    assert entry.STOPPED == 130


def test_the_codes_stand_in_the_help_and_in_the_readme():
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    for text in (wfalens("--help").stdout, readme):
        told = " ".join(text.split()).partition("Exit codes: ")[2]
        for code in (
            "0 done",
            "1 a failure that you asked about",
            "2 bad usage or input",
            "70 a defect",
            "130 stopped",
        ):
            assert code in told


@pytest.mark.parametrize(
    "arguments", [("--help",), ("predict", "some.wfa", WORDS), ("predict", "some.wfa", "w1", "--json")]
)
def test_output_that_nobody_reads_ends_the_command_quietly(folder, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = in_a_process(*arguments, cwd=folder, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (entry.BROKEN_PIPE, "")


def test_notes_that_nobody_reads_do_not_matter(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = in_a_process("walk", "none.wfa", WORDS, cwd=folder, stderr=writer)
    os.close(writer)
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_finds_no_room_is_one_sentence(folder):
    with Path("/dev/full").open("w") as full:
        done = in_a_process("predict", "some.wfa", WORDS, "--json", cwd=folder, stdout=full)
    assert (done.returncode, done.stderr) == (2, "error: input or output: No space left on device\n")


HEADERS = {"control characters": "te\x1b[31mxt\x07,la\u202ebel", "a very long name": "x" * 200_000 + ",label"}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_of_a_table_cannot_write_to_the_terminal_nor_flood_it(folder, name):
    (folder / "odd.csv").write_text(f"{HEADERS[name]}\na,b\n")
    done = wfalens("train", "-c", "odd.csv", "-o", "odd.rnn", cwd=folder)
    assert done.returncode == 2
    assert not CONTROLS.search(done.stderr)
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < LONGEST


def test_a_file_name_cannot_write_to_the_terminal(folder):
    done = wfalens("walk", "no\x1b[2J\n.wfa", WORDS, cwd=folder)
    assert done.stderr == "error: no�[2J .wfa: no such file\n"


def test_notes_are_printable_and_bounded(capsys):
    note("a\x1b[31m\nb" + "c" * 200_000)
    told = capsys.readouterr().err
    assert told.startswith("note: a�[31m b")
    assert told.count("\n") == 1
    assert len(told) < LONGEST


def test_texts_that_are_no_unicode_are_printed_as_json_spells_them(folder):
    done = in_a_process("predict", "some.wfa", os.fsdecode(b"w1 \xff"), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"text": "w1 \\udcff"' in done.stdout


def test_a_terminal_without_unicode_gets_what_it_can_show_and_machines_get_all(folder):
    streams = {"env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    people = in_a_process("predict", "some.wfa", "w1 é", cwd=folder, **streams)
    assert people.returncode == 0, people.stderr
    assert "w1 ?" in people.stdout
    machine = in_a_process("predict", "some.wfa", "w1 é 👧", "--json", cwd=folder, **streams)
    assert json.loads(machine.stdout)[0]["text"] == "w1 é 👧"


def test_bytes_that_are_no_text_are_refused_on_standard_input(folder):
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    command = [sys.executable, "-m", "wfalens", "predict", "some.wfa", "-"]
    done = subprocess.run(command, input=b"w1 \xff\n", capture_output=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 2
    assert done.stderr == b"error: standard input is not utf-8 text; write it to a file, give --encoding\n"
