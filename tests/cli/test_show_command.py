"""How a network reads, as tables and a picture; without it, the readable automaton."""

import json

from tests.commands import ok, wfalens


def test_without_the_network_the_readable_automaton_is_shown_and_drawn(workshop, tmp_path):
    assert json.loads(ok(workshop, "show", "readable.wfa", "--json"))["moves"]
    ok(workshop, "show", "readable.wfa", "-o", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert wfalens("show", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens("show", "readable.wfa", "-o", tmp_path / "a.gif", cwd=workshop).returncode == 2


def test_with_the_network_it_shows_how_that_reads(workshop, tmp_path):
    both = ("show", "news.wfa", "-m", "news.rnn", "-c", "test.csv")
    lines = json.loads(ok(workshop, *both, "--json"))["lines"]
    assert len(lines) == 7
    (one,) = json.loads(ok(workshop, *both, "--class", lines[0]["label"], "--json"))["lines"]
    assert one == lines[0]
    ok(workshop, *both, "--talk", "-o", tmp_path / "talk.svg")
    assert 'width="1600" height="900"' in (tmp_path / "talk.svg").read_text()
