"""Extraction: options reach the file."""

import json

from tests.commands import ok, wfalens
from wfalens.automaton import WFA


def test_settings_reach_the_file(workshop, tmp_path):
    settings = {"paper.states": 4, "paper.alpha": 0.2, "paper.beta": 0.25, "paper.distance": "squared", "seed": 9}
    given = [word for key, value in settings.items() for word in ("-C", f"{key}={value}")]
    where = ("extract", "small.rnn", "-c", "train.csv", "-o", tmp_path / "a.wfa")
    made = json.loads(ok(workshop, *where, "--method", "paper", *given, "--json"))
    wfa = WFA.load(tmp_path / "a.wfa")
    assert (wfa.states, wfa.alpha, wfa.completion.beta, wfa.completion.distance) == (5, 0.2, 0.25, "squared")
    assert wfa.provenance["parameters"]["seed"] == 9
    assert made["bytes"] == (tmp_path / "a.wfa").stat().st_size


def test_settings_choose_their_method_and_others_are_refused(workshop, tmp_path):
    where = ("extract", "small.rnn", "-c", "train.csv", "-o", tmp_path / "b.wfa", "-C", "paper.states=3")
    ok(workshop, *where)
    assert WFA.load(tmp_path / "b.wfa").provenance["parameters"]["kind"] == "paper"
    for wrong in (("-C", "linear.beta=0.3"), ("-C", "readable.clusters=4"), ("-C", "paper.alpha=2"), ("--method", "x")):
        assert wfalens(*where, "--force", *wrong, cwd=workshop).returncode == 2


def test_a_pattern_of_files_is_read_in_blocks_and_leaves_nothing(workshop, tmp_path):
    options = ("-C", "paper.states=3", "-C", "workers=1")
    ok(workshop, "extract", "small.rnn", "-c", "trai*.csv", "-o", tmp_path / "c.wfa", *options)
    assert [each.name for each in tmp_path.iterdir()] == ["c.wfa"]
