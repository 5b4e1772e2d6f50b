"""`wfalens demo` on a small scale: what it writes, and what it shows first."""

import json
from pathlib import Path

import pytest

import wfalens as wl
from tests.commands import wfalens
from wfalens.cli import demo_command
from wfalens.report import Extent

FEW = {"sentences": 2, "words": 60, "strongest": 5, "pages": 2, "attacked": 20}


@pytest.fixture
def folder(tmp_path, monkeypatch, news_model, headlines, test_headlines):
    def corpus(_name, split, _data=None):
        return headlines if split == "train" else test_headlines

    assert Extent(**FEW)
    monkeypatch.setattr(demo_command.text, "load_dataset", corpus)
    monkeypatch.setattr(demo_command, "_trained", lambda *_: news_model)
    monkeypatch.setattr(demo_command, "_EXTENT", FEW)
    wfa = wl.extract(news_model, headlines, wl.Stochastic(states=8, completion="probe", abstraction="outputs"))
    monkeypatch.setattr(wl, "extract", lambda *_, **__: wfa)
    return tmp_path


def test_it_writes_three_files_and_shows_what_matters_first(folder):
    done = wfalens("demo", "--dataset", "newsroom", "-o", "demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    for ending in ("rnn", "wfa", "html"):
        assert (folder / "demo" / f"newsroom.{ending}").stat().st_size > 0
    order = ["accuracy of the network", "the automaton agrees", "a bag of words", "One of these texts", "now open"]
    places = [done.stdout.index(part) for part in order]
    assert places == sorted(places)


def test_machines_get_the_same(folder, test_headlines):
    done = wfalens("demo", "--dataset", "newsroom", "-o", "demo", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert found["fidelity"]["overall"]["texts"] == len(test_headlines)
    assert len(found["example"]["words"]) > 1


def test_it_refuses_before_the_work(tmp_path):
    (tmp_path / "file.txt").write_text("")
    assert wfalens("demo", "-o", "file.txt/out", cwd=tmp_path).returncode == 2
    assert wfalens("demo", "--dataset", "nothing", cwd=tmp_path).returncode == 2


def test_it_is_called_by_its_place_where_it_is_not_on_the_path(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "wfalens"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(program), "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert demo_command._program() == str(Path("bin/wfalens"))
    monkeypatch.setenv("PATH", str(program.parent))
    assert demo_command._program() == "wfalens"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert demo_command._program() == "wfalens"
