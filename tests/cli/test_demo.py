"""`wfalens demo` on a small scale: what it writes, and what it says first."""

import json
from pathlib import Path

import pytest

from tests.extraction.test_best import CHEAP
from wfalens import report
from wfalens.cli.legacy import demo as command
from wfalens.extraction import selection
from wfalens.report.write_report import Extent
from wfalens.text.datasets import catalogue

FEW = Extent(sentences=2, words=60, strongest=5, pages=2, attacked=20)


@pytest.fixture
def done(tmp_path, monkeypatch, news_model, headlines, test_headlines):
    def corpus(_name, split, _data=None):
        return headlines if split == "train" else test_headlines

    monkeypatch.setattr(catalogue, "load_dataset", corpus)
    monkeypatch.setattr(command, "_trained", lambda *_: news_model)
    monkeypatch.setattr(selection, "Candidates", lambda: CHEAP)
    collect = report.collect
    monkeypatch.setattr(report, "collect", lambda study, _extent: collect(study, FEW))
    return command.demo(tmp_path / "demo", "newsroom")


def test_it_writes_a_network_an_automaton_and_a_page_and_tells_what_matters_first(done, capsys):
    assert all(path.stat().st_size > 0 for path in (done.model, done.automaton, done.report))
    assert done.wfa.readable is not None
    command._print(done)
    said = capsys.readouterr().out
    places = [
        said.index(part)
        for part in (
            "the network is right on",
            "the automaton agrees with the network on",
            "a bag of words agrees with the network on",
            "as its readable copy tells it",
            f"One of these texts: {' '.join(done.example.words)}",
            f"Why the automaton says {done.example.label}",
            "now open",
        )
    ]
    assert places == sorted(places)


def test_it_is_called_by_its_place_where_it_is_not_on_the_path(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "wfalens"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(program), "demo"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert command._program() == str(Path("bin/wfalens"))
    monkeypatch.setenv("PATH", str(program.parent))
    assert command._program() == "wfalens"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert command._program() == "wfalens"


def test_machines_get_the_same(done, test_headlines):
    told = json.loads(json.dumps(done.to_json()))
    assert told["fidelity"]["overall"]["texts"] == len(test_headlines)
    assert 0.5 < told["test_accuracy"] <= 1
    assert told["story"] is not None
    assert len(done.example.words) > 1
