"""Extraction: options reach the file."""

import json

from tests.commands import ok, wfalens
from wfalens.automaton import WFA


def test_options_and_settings_reach_the_file(workshop, tmp_path):
    where = ("extract", "small.rnn", "-c", "train.csv", "-o", tmp_path / "a.wfa", "--seed", "9")
    options = ("--states", "4", "--alpha", "0.2", "--beta", "0.25", "-C", "paper.distance=squared")
    made = json.loads(ok(workshop, *where, "--method", "paper", *options, "--json"))
    wfa = WFA.load(tmp_path / "a.wfa")
    assert (wfa.states, wfa.alpha, wfa.completion.beta, wfa.completion.distance) == (5, 0.2, 0.25, "squared")
    assert wfa.provenance["parameters"]["seed"] == 9
    assert made["bytes"] == (tmp_path / "a.wfa").stat().st_size


def test_options_choose_their_method_and_others_are_refused(workshop, tmp_path):
    where = ("extract", "small.rnn", "-c", "train.csv", "-o", tmp_path / "b.wfa", "--states", "3")
    ok(workshop, *where, "--beta", "0.3")
    assert WFA.load(tmp_path / "b.wfa").provenance["parameters"]["kind"] == "paper"
    for wrong in (("--method", "linear", "--beta", "0.3"), ("--beta", "0.3", "--clusters", "4"), ("--alpha", "2")):
        assert wfalens(*where, "--force", *wrong, cwd=workshop).returncode == 2


def test_a_pattern_of_files_is_read_in_blocks_and_leaves_nothing(workshop, tmp_path):
    options = ("--method", "paper", "--states", "3")
    ok(workshop, "extract", "small.rnn", "-c", "trai*.csv", "-o", tmp_path / "c.wfa", *options, "-C", "workers=1")
    assert [each.name for each in tmp_path.iterdir()] == ["c.wfa"]


def test_an_option_chooses_the_method_that_has_its_value(workshop, tmp_path):
    line = f"extract news.rnn -c train.csv -o {tmp_path}/own.wfa --completion uniform --states 4 --json"
    done = wfalens(*line.split(), cwd=workshop)
    assert done.returncode == 0, done.stderr
    assert WFA.load(tmp_path / "own.wfa").provenance["parameters"]["kind"] == "paper"
