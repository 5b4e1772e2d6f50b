"""Attacks on a classifier."""

import json

from tests.commands import ok, wfalens


def test_every_recipe_is_a_row_and_examples_are_written(workshop, tmp_path):
    command = ("attack", "news.wfa", "-m", "news.rnn", "-c", "test.csv", "--limit", "20", "--recipe", "guided")
    found = json.loads(ok(workshop, *command, "-o", tmp_path / "attack.csv", "--json"))
    assert [each["recipe"] for each in found["recipes"]] == ["guided"]
    assert (tmp_path / "attack.csv").exists()
    assert wfalens(*command[:-1], "nothing", cwd=workshop).returncode == 2
