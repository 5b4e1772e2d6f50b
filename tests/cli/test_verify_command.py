"""Certificates and questions to a model checker."""

import json

from tests.commands import ok, wfalens


def test_a_missed_share_is_exit_code_1(workshop):
    command = ("verify", "certify", "news.wfa", "-c", "test.csv", "--limit", "5", "--changes", "1")
    assert json.loads(ok(workshop, *command, "--json"))["of"] == "automaton"
    done = wfalens(*command, "--allow", "delete", "--min-certified", "1", cwd=workshop)
    assert done.returncode in (0, 1)
    assert wfalens("verify", "certify", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens(*command, "--allow", "nothing", cwd=workshop).returncode == 2


def test_questions_are_checked_before_storm_is_asked(workshop):
    assert wfalens("verify", "check", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens("verify", "check", "news.wfa", "--ask", "push", "--class", "us", cwd=workshop).returncode == 2
