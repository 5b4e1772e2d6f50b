"""`wfalens demo` on a small scale: what it writes, and what it says first."""

import json
from functools import partial

import pytest

from tests.extraction.test_best import CHEAP
from wfalens import report
from wfalens.cli import demo as command
from wfalens.corpus import datasets
from wfalens.extraction import Extractor
from wfalens.report.collect import Extent

FEW = Extent(sentences=2, words=60, strongest=5, pages=2, attacked=20)


@pytest.fixture
def done(tmp_path, monkeypatch, news_model, headlines, test_headlines):
    def corpus(_name, split, _data=None):
        return headlines if split == "train" else test_headlines

    monkeypatch.setattr(datasets, "load_dataset", corpus)
    monkeypatch.setattr(command, "_trained", lambda *_: news_model)
    monkeypatch.setattr(Extractor, "_candidates", CHEAP)
    monkeypatch.setattr(report, "collect", partial(report.collect, extent=FEW))
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
            f"Why {done.example.label}",
            "now open",
        )
    ]
    assert places == sorted(places)


def test_machines_get_the_same(done, test_headlines):
    told = json.loads(json.dumps(done.to_json()))
    assert told["fidelity"]["overall"]["texts"] == len(test_headlines)
    assert 0.5 < told["test_accuracy"] <= 1
    assert told["story"] is not None
    assert len(done.example.words) > 1
