"""`wfalens describe` and `wfalens show`, from the file to what is printed and drawn."""

import json
import os

import pytest

from tests.automata import sample
from tests.cli.test_commands import wfalens
from tests.export.test_diagram import HOSTILE, HOSTILE_CLASSES, needs_graphviz
from tests.readable import negation
from wfalens.cli.legacy.describe import describe
from wfalens.cli.legacy.show import draw, show
from wfalens.errors import InputError


@pytest.fixture
def saved(tmp_path):
    negation().wfa.save(tmp_path / "not.wfa")
    return tmp_path / "not.wfa"


@pytest.fixture
def hostile(tmp_path):
    groups = {"good": HOSTILE[:3], "bad": HOSTILE[3:5], "not": HOSTILE[5:8], "the": HOSTILE[8:]}
    negation(words=groups, class_names=HOSTILE_CLASSES).wfa.save(tmp_path / "hostile.wfa")
    return tmp_path / "hostile.wfa"


def test_describe_prints_the_sentences_and_json_has_their_figures(saved):
    told = describe(saved)
    done = wfalens("describe", saved.name, cwd=saved.parent)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip() == "\n\n".join(each.text for each in told.sentences)
    data = json.loads(wfalens("describe", saved.name, "--json", cwd=saved.parent).stdout)
    assert data == told.to_json()


def test_describe_writes_a_page(saved):
    done = wfalens("describe", saved.name, "--html", "story.html", cwd=saved.parent)
    assert done.returncode == 0, done.stderr
    page = (saved.parent / "story.html").read_text()
    assert "It has 5 states and 4 kinds of words" in page
    again = wfalens("describe", saved.name, "--html", "story.html", cwd=saved.parent)
    assert again.returncode == 2
    assert "exists" in again.stderr


def test_show_prints_moves_and_kinds_of_words(saved):
    done = wfalens("show", saved.name, cwd=saved.parent)
    assert done.returncode == 0, done.stderr
    for shown in ("undecided, after", "(stays)", "Kinds of words", "turns towards good"):
        assert shown in done.stdout
    data = json.loads(wfalens("show", saved.name, "--json", cwd=saved.parent).stdout)
    assert data == show(saved).to_json()


@needs_graphviz
def test_show_draws_by_graphviz(saved):
    done = wfalens("show", saved.name, "-o", "not.svg", "--direction", "down", cwd=saved.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "wrote not.svg (5 states, " in done.stdout
    assert (saved.parent / "not.svg").read_bytes().startswith(b"<?xml")


def test_show_draws_without_graphviz_and_says_so(saved, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    for ending in ("svg", "pdf", "png"):
        done = wfalens("show", saved.name, "-o", f"not.{ending}", cwd=saved.parent)
        assert done.returncode == 0, done.stderr
        assert "Graphviz is not installed" in done.stderr
        assert (saved.parent / f"not.{ending}").stat().st_size > 1000


def test_show_tells_what_was_drawn(saved):
    done = wfalens("show", saved.name, "-o", "not.dot", "--edges", "3", "--json", cwd=saved.parent)
    data = json.loads(done.stdout)
    assert data["edges"] == 3
    assert 0 < data["share"] < 0.9
    assert "(3 at most are drawn)" in data["caption"]
    assert (saved.parent / "not.dot").read_text().startswith("digraph")


def test_drawings_of_another_format_and_files_that_exist_are_refused(saved):
    with pytest.raises(InputError, match=r"must end in \.svg, \.pdf, \.png, \.dot"):
        draw(saved, saved.parent / "not.gif")
    (saved.parent / "not.dot").write_text("mine")
    with pytest.raises(InputError, match="exists; give --force"):
        draw(saved, saved.parent / "not.dot")
    assert (saved.parent / "not.dot").read_text() == "mine"
    draw(saved, saved.parent / "not.dot", force=True)
    assert (saved.parent / "not.dot").read_text() != "mine"


@pytest.mark.parametrize("command", ["describe", "show"])
def test_an_automaton_that_is_not_readable_gets_the_way_to_one(tmp_path, command):
    sample("fit", 0).wfa.save(tmp_path / "fit.wfa")
    done = wfalens(command, "fit.wfa", cwd=tmp_path)
    assert done.returncode == 2
    assert "`wfalens extract MODEL` makes one that carries a readable automaton" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["describe", "show"])
def test_hostile_names_do_not_reach_the_terminal(hostile, command):
    done = wfalens(command, hostile.name, cwd=hostile.parent)
    assert done.returncode == 0, done.stderr
    assert "\u202e" not in done.stdout
    assert "x" * 100 not in done.stdout
    assert "<script>" in done.stdout


def test_hostile_names_are_escaped_on_pages(hostile):
    done = wfalens("describe", hostile.name, "--html", "story.html", cwd=hostile.parent)
    assert done.returncode == 0, done.stderr
    page = (hostile.parent / "story.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b " not in page
    assert "<script" not in show(hostile).to_html()
