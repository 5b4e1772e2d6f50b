"""Files that a command writes: refused before the work where that would fail, and never overwritten unasked."""

import pytest

from tests.commands import wfalens
from wfalens.cli import output

# no input of these commands exists: an error about the output comes before any work
OUTPUTS = {
    "train": ("train", "-c", "none.csv", "-o", "out.rnn"),
    "extract": ("extract", "none.rnn", "-c", "none.csv", "-o", "out.wfa"),
    "show": ("show", "none.wfa", "-o", "out.svg"),
    "report": ("report", "none.wfa", "-o", "out.html"),
    "export": ("export", "none.wfa", "-o", "out.drn"),
    "attack": ("attack", "none.wfa", "-m", "none.rnn", "-c", "none.csv", "-o", "out.csv"),
    "certify": ("verify", "certify", "none.wfa", "--text", "x", "-o", "out.html"),
    "compare": ("compare", "none.wfa", "none.wfa", "-o", "out.html"),
    "text": ("explain", "text", "none.wfa", "x", "-o", "out.png"),
    "words": ("explain", "words", "none.wfa", "-C", "explain.embeddings=out.txt"),
    "phrases": ("explain", "phrases", "none.wfa", "-c", "none.csv", "-o", "out.csv"),
    "pairs": ("explain", "pairs", "none.wfa", "-o", "out.png"),
}
EVERY = pytest.mark.parametrize("command", OUTPUTS.values(), ids=OUTPUTS)


def name_of(command):
    """The file that a command would write: its last argument, or the value of a setting there."""
    return command[-1].rpartition("=")[2]


def refused(folder, command):
    before = sorted(folder.rglob("*"))
    done = wfalens(*command, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
    return done.stderr


@EVERY
def test_an_output_in_a_folder_that_does_not_exist_is_refused(tmp_path, command):
    elsewhere = command[-1].replace(name_of(command), f"no/{name_of(command)}")
    assert "no" in refused(tmp_path, (*command[:-1], elsewhere))
    assert "none" not in refused(tmp_path, (*command[:-1], elsewhere))


@EVERY
def test_an_output_in_place_of_a_folder_is_refused(tmp_path, command):
    (tmp_path / name_of(command)).mkdir()
    assert name_of(command) in refused(tmp_path, command)


@EVERY
def test_an_output_in_a_read_only_folder_is_refused(tmp_path, command, make_read_only):
    make_read_only(tmp_path)
    assert "Read-only file system" in refused(tmp_path, command)


@EVERY
def test_an_output_that_exists_is_not_overwritten(tmp_path, command):
    (tmp_path / name_of(command)).write_text("precious")
    assert name_of(command) in refused(tmp_path, command)
    assert (tmp_path / name_of(command)).read_text() == "precious"


def test_force_goes_on_to_the_inputs(tmp_path):
    (tmp_path / "out.rnn").write_text("precious")
    assert "none.csv" in refused(tmp_path, (*OUTPUTS["train"], "--force"))


def test_another_ending_is_refused(tmp_path):
    assert "out.doc" in refused(tmp_path, ("explain", "pairs", "none.wfa", "-o", "out.doc"))


def test_a_table_of_many_columns_breaks_no_word(capsys, monkeypatch):
    monkeypatch.setattr(output.OUT, "_width", 80)
    names = ("recipe", "changes", "success (all)", "success (correct)", "accuracy before", "accuracy after", "queries")
    output.print_rows("attacks", [dict.fromkeys(names, 0.125) | {"recipe": "random-order", "words": "some"}])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert {*printed.split()} >= {word for name in names for word in name.split()} | {"random-order", "0.125"}
