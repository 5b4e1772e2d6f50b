"""Training a network."""

import json

from tests.commands import ok, wfalens
from wfalens.models import RNNClassifier


def test_settings_reach_the_network_and_an_automaton_initialises_it(workshop, tmp_path):
    command = ("train", "-c", "train.csv", "--test", "test.csv", "--epochs", "1", "-C", "hidden=8", "-C", "embedding=6")
    made = json.loads(ok(workshop, *command, "-o", tmp_path / "a.rnn", "--json"))
    assert 0 <= made["test_accuracy"] <= 1
    assert RNNClassifier.load(tmp_path / "a.rnn").config.hidden == 8
    ok(workshop, *command, "-o", tmp_path / "b.rnn", "--init-from", "news.wfa")
    assert RNNClassifier.load(tmp_path / "b.rnn").config.embedding == 6
    assert wfalens(*command, "-o", tmp_path / "c.rnn", "-C", "cell=none", cwd=workshop).returncode == 2
