"""Files that a command writes: refused before the work where that would fail, and never overwritten unasked."""

import pytest

from tests.automata import sample
from tests.cli.test_commands import wfalens

# no input of these commands exists: a sentence about the output comes before any work
OUTPUTS = {
    "train --out": ("train", "-c", "none.csv", "-o"),
    "extract --out": ("extract", "none.rnn", "-c", "none.csv", "-o"),
    "report --out": ("report", "none.wfa", "-o"),
    "export --out": ("export", "none.wfa", "--format", "drn", "-o"),
    "attack --csv": ("attack", "none.wfa", "-m", "none.rnn", "-c", "none.csv", "--csv"),
    "attack --html": ("attack", "none.wfa", "-m", "none.rnn", "-c", "none.csv", "--html"),
    "certify --html": ("certify", "none.wfa", "--text", "x", "--html"),
    "diff --html": ("diff", "none.wfa", "none.wfa", "--html"),
    "explain --html": ("explain", "none.wfa", "--html"),
    "explain --plot": ("explain", "none.wfa", "--plot"),
    "explain --embeddings": ("explain", "none.wfa", "--embeddings"),
    "neighbours --html": ("neighbours", "none.wfa", "x", "--html"),
    "pairs --html": ("pairs", "none.wfa", "--html"),
    "pairs --plot": ("pairs", "none.wfa", "--plot"),
    "phrases --csv": ("phrases", "none.wfa", "-c", "none.csv", "-o"),
    "phrases --html": ("phrases", "none.wfa", "-c", "none.csv", "--html"),
    "pretrain --html": ("pretrain", "none.wfa", "-c", "none.csv", "--test", "none.csv", "--html"),
    "pretrain --plot": ("pretrain", "none.wfa", "-c", "none.csv", "--test", "none.csv", "--plot"),
}
EVERY = pytest.mark.parametrize("command", OUTPUTS.values(), ids=OUTPUTS)


def refused(folder, command, out, *options):
    before = sorted(folder.rglob("*"))
    done = wfalens(*command, out, *options, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert sorted(folder.rglob("*")) == before
    return done.stderr


@EVERY
def test_an_output_in_a_folder_that_is_none_is_refused(tmp_path, command):
    (tmp_path / "file.txt").write_text("")
    assert refused(tmp_path, command, "no/out.png") == "error: the folder no does not exist\n"
    assert refused(tmp_path, command, "file.txt/out.png") == "error: file.txt is not a folder\n"


@EVERY
def test_an_output_in_place_of_a_folder_is_refused(tmp_path, command):
    (tmp_path / "folder.png").mkdir()
    assert refused(tmp_path, command, "folder.png", "--force").startswith("error: folder.png is a folder")


@EVERY
def test_an_output_in_a_read_only_folder_is_refused(tmp_path, command, make_read_only):
    make_read_only(tmp_path)
    assert refused(tmp_path, command, "out.png") == "error: cannot write out.png: Read-only file system\n"


@EVERY
def test_a_name_that_is_too_long_is_refused(tmp_path, command):
    assert "File name too long" in refused(tmp_path, command, "x" * 300 + ".png")
    assert "File name too long" in refused(tmp_path, command, "x" * 240 + ".png")  # for the temporary file beside it


@EVERY
def test_an_output_that_exists_is_overwritten_only_by_force(tmp_path, command):
    (tmp_path / "out.png").write_text("precious")
    assert refused(tmp_path, command, "out.png") == "error: out.png exists; give --force to overwrite it\n"
    assert "none" in refused(tmp_path, command, "out.png", "--force")  # it went on to its inputs
    assert (tmp_path / "out.png").read_text() == "precious"


@pytest.mark.parametrize("command", ["demo"])
def test_a_folder_for_outputs_is_refused_before_the_work(tmp_path, command, make_read_only, monkeypatch):
    def works(*_, **__):
        raise AssertionError("it began to work")

    monkeypatch.setattr("wfalens.text.datasets.catalogue.load_dataset", works)
    monkeypatch.setattr("benchmarks.paper.reproduce", works)
    (tmp_path / "file.txt").write_text("")
    done = wfalens(command, "-o", "file.txt/out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: cannot make the folder file.txt/out: Not a directory\n")
    (tmp_path / "closed").mkdir()
    make_read_only(tmp_path / "closed")
    done = wfalens(command, "-o", "closed", cwd=tmp_path)
    assert (done.returncode, "Read-only file system" in done.stderr) == (2, True)


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    assert refused(tmp_path, ("explain", "none.wfa", "--html"), "/dev/null", "--force") == (
        "error: /dev/null is no regular file; give another name\n"
    )


def test_one_name_for_two_outputs_is_refused(tmp_path):
    command = ("explain", "none.wfa", "--html", "out.png", "--plot")
    assert refused(tmp_path, command, "out.png") == "error: out.png is given for two outputs\n"


def test_side_files_are_overwritten_by_force(tmp_path):
    sample("fit", 0).wfa.save(tmp_path / "some.wfa")
    (tmp_path / "page.html").write_text("old")
    done = wfalens("explain", "some.wfa", "--html", "page.html", "--min-count", "1", "-f", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<table" in (tmp_path / "page.html").read_text()
