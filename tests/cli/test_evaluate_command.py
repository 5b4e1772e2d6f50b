"""Fidelity of an automaton, and exit codes for thresholds."""

import json
import shutil

import pytest

from tests.commands import ok, wfalens
from wfalens.scale.checkpoints import Checkpoints

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


@pytest.fixture
def parts(workshop, tmp_path):
    """The command on a pattern of two files, in small blocks."""
    rows = (workshop / "test.csv").read_text().splitlines()
    for name, some in (("a", rows[1:60]), ("b", rows[60:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([rows[0], *some]) + "\n")
    shutil.copy(workshop / "news.wfa", tmp_path)
    blocks = ("-C", "run.engine=serial", "-C", "run.block_bytes=1000")
    return "evaluate", "news.wfa", "-m", workshop / "news.rnn", "-c", "[ab].csv", *blocks


def test_a_stopped_evaluation_continues_with_the_same_command(parts, tmp_path, monkeypatch):
    whole, write = ok(tmp_path, *parts, "--json"), Checkpoints.write

    def stops(self, name, *content):
        write(self, name, *content)
        if len(self.names("compared")) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "write", stops)
        done = wfalens(*parts, cwd=tmp_path)
    assert done.returncode == 130
    assert "the same command continues from there" in done.stderr
    again = wfalens(*parts, "--json", cwd=tmp_path)
    assert "continuing: 2 of " in again.stderr
    assert again.stdout == whole
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "b.csv", "news.wfa"]


def test_bad_rows_stop_the_command_or_are_counted(parts, tmp_path):
    with (tmp_path / "b.csv").open("a") as file:
        file.write("a row, with, too many, fields\n")
    assert wfalens(*parts, cwd=tmp_path).returncode == 2
    found = json.loads(ok(tmp_path, *parts, "-C", "run.on_error=skip", "--json"))
    assert found["overall"]["texts"] == 150
