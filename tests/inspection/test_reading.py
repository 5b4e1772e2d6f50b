"""The page begins with the story and the diagram of a readable automaton."""

import base64
import xml.etree.ElementTree as ET

import pytest

from tests.automata import linear_sample, sample
from tests.readable import negation
from wfalens.explanation import describe
from wfalens.export import diagram_dot
from wfalens.inspection import Study, overview
from wfalens.inspection.page import to_json


@pytest.mark.parametrize("graphviz", [True, False])
def test_a_readable_automaton_is_told_and_drawn(monkeypatch, graphviz):
    if not graphviz:
        monkeypatch.setattr(diagram_dot.shutil, "which", lambda name: None)
    elif not diagram_dot.has_graphviz():
        pytest.skip("needs Graphviz (dot)")
    wfa = negation().wfa
    data = overview(Study("a.wfa", wfa))
    to_json(data)
    assert [each["text"] for each in data["reading"]["story"]] == [each.text for each in describe(wfa).sentences]
    kind, _, image = data["reading"]["diagram"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    texts = [each.text for each in ET.fromstring(base64.b64decode(image)).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    assert "sure good" in texts


def test_what_cannot_be_drawn_says_why(monkeypatch):
    monkeypatch.setattr(diagram_dot.shutil, "which", lambda name: "/nowhere/dot")
    reading = overview(Study("a.wfa", negation().wfa))["reading"]
    assert list(reading) == ["story", "error"]
    assert len(reading["story"]) > 5
    assert "Graphviz failed" in reading["error"]


def test_other_automata_have_no_story():
    for wfa in (sample("fit", 0).wfa, linear_sample(0).wfa):
        assert overview(Study("a.wfa", wfa))["reading"] is None
