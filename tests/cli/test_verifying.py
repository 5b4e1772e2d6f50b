"""The commands that compare, certify and check."""

import json

import pytest

from tests.cli.test_commands import SMALL, wfalens


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verifying")
    for name, options in (("early", [*SMALL, "--epochs", "1"]), ("late", SMALL)):
        assert wfalens("train", "-c", "newsroom", "-o", f"{name}.rnn", *options, cwd=folder).returncode == 0
        extract = ("extract", f"{name}.rnn", "-c", "newsroom", "-o", f"{name}.wfa", "-k", "15")
        assert wfalens(*extract, "--completion", "probe", "--alpha", "0", cwd=folder).returncode == 0
    (folder / "broken.wfa").write_text("no automaton")
    return folder


def run(folder, *arguments):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_diff_for_people_and_machines(folder):
    command = ("diff", "early.wfa", "late.wfa", "-c", "newsroom", "--model-a", "early.rnn", "--model-b", "late.rnn")
    people = run(folder, *command, "--html", "diff.html").stdout
    for shown in ("fidelity to its model", "Words whose influence changed most", "model after", "distance of centres"):
        assert shown in people
    assert "<table" in (folder / "diff.html").read_text()
    report = json.loads(run(folder, *command, "--json", "--top", "4").stdout)
    assert len(report["words"]) == len(report["texts"]) == len(report["states"]) == 4
    assert report["fidelity"]["after"]["cr"]["value"] > 0.7
    assert report["before"]["file"] == "early.wfa"


def test_diff_as_a_check(folder):
    command = ("diff", "early.wfa", "late.wfa", "-c", "newsroom", "--min-agreement")
    assert wfalens(*command, "0.1", cwd=folder).returncode == 0
    missed = wfalens(*command, "1", cwd=folder)
    assert missed.returncode == 1
    assert "below 1.000" in missed.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("diff", "early.wfa", "broken.wfa"), "broken.wfa"),
        (("diff", "early.wfa", "late.wfa", "--model-a", "early.rnn"), "give --corpus too"),
        (("diff", "early.wfa", "late.wfa", "--min-agreement", "2"), "--min-agreement must lie between 0 and 1"),
    ],
)
def test_bad_input_is_one_sentence(folder, arguments, sentence):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
