"""Fidelity of an automaton, and exit codes for thresholds."""

import json

from tests.commands import ok, wfalens

COMMAND = ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "test.csv")


def test_people_and_machines_get_the_same_fidelity(workshop):
    found = json.loads(ok(workshop, *COMMAND, "--reference", "train.csv", "-C", "coverage=0.8", "--json"))
    assert 0.5 < found["overall"]["cr"]["value"] <= 1
    assert 0 < found["selected"]["coverage"]["coverage"] <= 1
    assert f"{found['overall']['cr']['value']:.3f}" in ok(workshop, *COMMAND, "--reference", "train.csv")


def test_a_missed_rate_is_exit_code_1(workshop):
    assert wfalens(*COMMAND, "--min-cr", "1", cwd=workshop).returncode == 1
    assert wfalens(*COMMAND, "--min-cr", "0.1", cwd=workshop).returncode == 0
    assert wfalens(*COMMAND, "-C", "coverage=0", cwd=workshop).returncode == 2


def test_groups_and_explanations(workshop):
    assert json.loads(ok(workshop, *COMMAND, "--by", "label", "--json"))["by_group"]["column"] == "label"
    assert "random" in ok(workshop, *COMMAND, "--explanations", "--limit", "3")
