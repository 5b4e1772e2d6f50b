"""Certificates and questions to a model checker."""

import json

from tests.commands import ok, wfalens


def test_a_missed_share_is_exit_code_1(workshop, tmp_path):
    command = ("verify", "certify", "news.wfa", "-c", "test.csv", "--limit", "5", "--changes", "1")
    assert json.loads(ok(workshop, *command, "--json"))["of"] == "automaton"
    lists = tmp_path / "lists.json"
    lists.write_text(json.dumps({"senate": ["coach"], "coach": ["match"]}))  # of another class, and of the same
    bounded = ("verify", "certify", "news.wfa", "--neighbours", lists, "--min-certified", "1", "--text")
    assert wfalens(*bounded, "the senate", cwd=workshop).returncode == 1
    assert wfalens(*bounded, "the coach", cwd=workshop).returncode == 0
    assert wfalens("verify", "certify", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens(*command, "-C", "certify.nothing=true", cwd=workshop).returncode == 2


def test_questions_are_checked_before_storm_is_asked(workshop):
    assert wfalens("verify", "check", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens("verify", "check", "news.wfa", "--ask", "push", "--class", "us", cwd=workshop).returncode == 2
