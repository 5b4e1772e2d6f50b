"""The difference of two automata."""

import json

from tests.commands import ok, wfalens


def test_an_automaton_equals_itself_and_differs_from_another(workshop):
    found = json.loads(ok(workshop, "compare", "news.wfa", "news.wfa", "-c", "test.csv", "--json"))
    assert found["agreement"]["cr"]["value"] == 1
    assert "influence" in ok(workshop, "compare", "news.wfa", "news.wfa", "-c", "test.csv")
    assert wfalens("compare", "news.wfa", "news.wfa", "-C", "min_agreement=1", cwd=workshop).returncode == 2
