"""The page begins with the story and the diagram of a readable automaton."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.readable import negation
from wfalens.explanation import describe, moves
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import overview


def test_a_readable_automaton_is_told_and_drawn():
    made = negation()
    reading = overview(Study("a.wfa", made.wfa))["reading"]
    to_json(reading)
    table = moves(made.wfa)
    assert [each["text"] for each in reading["story"]] == [each.text for each in describe(made.wfa).sentences]
    assert [each["name"] for each in reading["states"]] == list(table.names.states)
    for at, state in enumerate(reading["states"]):
        assert state["mix"] == pytest.approx(made.centres[at], abs=1e-4)
        assert state["stays"] == pytest.approx(table.rates[at, at], abs=1e-4)
    for move in reading["moves"]:
        assert move["rate"] == pytest.approx(table.rates[move["from"], move["to"]], abs=1e-4)
        assert move["from"] != move["to"]
    assert np.allclose(reading["matrices"], made.matrices, atol=1e-3)


def test_the_first_moves_lead_to_every_state_that_can_be_reached():
    reading = overview(Study("a.wfa", negation().wfa))["reading"]
    reached = {move["to"] for move in reading["moves"]}
    assert {move["to"] for move in reading["moves"][: len(reached)]} == reached


def test_boxes_of_a_column_do_not_lie_on_each_other():
    places = sorted(
        (each["column"], each["row"]) for each in overview(Study("a.wfa", negation().wfa))["reading"]["states"]
    )
    for (column, row), (other, next_row) in itertools.pairwise(places):
        assert column != other or next_row - row >= 0.999


def test_what_cannot_be_told_says_why(monkeypatch):
    made = negation().wfa
    silent = replace(made.completion, visits=np.zeros_like(made.completion.visits))
    monkeypatch.setattr(made, "completion", silent)
    made.__dict__.pop("anatomy", None)
    reading = overview(Study("a.wfa", made))["reading"]
    assert list(reading) == ["error"]
    assert "extract it again" in reading["error"]


def test_other_automata_have_no_story():
    for wfa in (sample("fit", 0).wfa, linear_sample(0).wfa):
        assert overview(Study("a.wfa", wfa))["reading"] is None
