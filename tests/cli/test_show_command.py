"""A readable automaton as tables, sentences and a drawing."""

import json

from tests.commands import ok, wfalens


def test_tables_sentences_and_a_drawing(workshop, tmp_path):
    assert json.loads(ok(workshop, "show", "readable.wfa", "--json"))
    assert ok(workshop, "show", "readable.wfa", "--text").count("\n") > 5
    ok(workshop, "show", "readable.wfa", "-o", tmp_path / "a.dot")
    assert (tmp_path / "a.dot").read_text().startswith("digraph")
    assert wfalens("show", "news.wfa", cwd=workshop).returncode == 2
