"""Every command on a readable automaton, end to end: it is a stochastic one, with names."""

import json
import shutil

import pytest

from tests.cli.test_commands import wfalens
from wfalens.automaton import WFA, Shared
from wfalens.text.datasets import newsroom

EXTRACT = ("extract", "n.rnn", "-c", "newsroom", "--kind", "readable", "-k", "10", "--classes", "24")


@pytest.fixture(scope="module")
def folder(copy_once, small_network):
    return copy_once("readable", lambda folder: fill(folder, small_network))


def fill(folder, small_network):
    shutil.copy(small_network / "news.rnn", folder / "n.rnn")
    told = run(folder, *EXTRACT, "-o", "n.wfa", "--json")
    (folder / "told.json").write_text(told)


def run(folder, *arguments):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wfa(folder):
    return WFA.load(folder / "n.wfa")


def test_extraction_tells_its_size_and_how_faithful_it_is(folder, wfa):
    told = json.loads((folder / "told.json").read_text())
    assert isinstance(wfa.completion, Shared)
    assert told["states"] == wfa.states <= 11
    assert told["word_classes"] == len(wfa.names.classes) <= 24
    assert told["cr_on_held_out_texts"] == told["frontier"]["tried"][0]["cr"] > 0.8
    assert told["bytes"] < 60_000


def test_evaluate_agrees_with_what_was_told(folder):
    report = json.loads(run(folder, "evaluate", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--json"))
    assert report["overall"]["cr"]["value"] > 0.8
    assert report["undecided"] == 0


def test_walk_shows_names(folder, wfa):
    shown = run(folder, "walk", "n.wfa", "the senate zzzz")
    assert "start" in shown
    assert "kind of word" in shown
    steps = json.loads(run(folder, "walk", "n.wfa", "the senate", "--json"))["steps"]
    assert all(step["state"] in wfa.names.states for step in steps)
    names = [group.name for group in wfa.names.classes]
    assert all(step["word_class"] in names for step in steps)
    assert steps[1]["output"]["us"] > steps[0]["output"]["us"]


def test_predict_and_explain(folder):
    senate, coach = json.loads(
        run(folder, "predict", "n.wfa", "senate votes to veto", "the coach and players", "--json")
    )
    assert (senate["label"], coach["label"]) == ("us", "sport")
    assert "senate" in run(folder, "explain", "n.wfa", "--text", "the senate votes")
    report = json.loads(run(folder, "explain", "n.wfa", "--json"))
    planted = newsroom.TRUTH.carriers["health"]
    assert sum(item["word"] in planted for item in report["top"]["health"]) >= 8


def test_certify_check_diff_and_export(folder):
    text = ("--text", "the coach and players")
    assert json.loads(run(folder, "certify", "n.wfa", *text, "--json"))["texts"]
    check = ("check", "n.wfa", "--ask", "raise", "--class", "us", "-n", "2", "--words", "senate veto", *text)
    assert json.loads(run(folder, *check, "--json"))
    same = json.loads(run(folder, "diff", "n.wfa", "n.wfa", "-c", "newsroom", "--json"))
    assert {text["divergence"] for text in same["texts"]} == {0}
    for name in ("n.json", "n.dot", "n.onnx"):
        run(folder, "export", "n.wfa", "-o", name)
        assert (folder / name).stat().st_size > 0


def test_a_report_is_written(folder):
    run(folder, "report", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "-o", "n.html")
    assert "<html" in (folder / "n.html").read_text()


def test_bad_sizes_are_refused_in_one_sentence(folder):
    for options in (("--classes", "few"), ("--classes", "0"), ("--classes", "3", "--alpha", ".2")):
        done = wfalens(*EXTRACT[:6], *options, "-o", "odd.wfa", cwd=folder)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
