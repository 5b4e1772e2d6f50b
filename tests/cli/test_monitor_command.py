"""Coverage of a test set, a detector of attacked texts, and a stream of texts."""

import json

from tests.commands import ok, wfalens


def test_coverage_for_people_and_machines(workshop):
    (workshop / "opinions.csv").write_text("text\nthe good film\nnot bad\n")
    assert json.loads(ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv", "--json"))
    assert ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv")


def test_a_detector_is_trained_and_watches_a_stream(flaw_files, tmp_path):
    asked = ("monitor", "detect", "flaw.wfa", "-m", "flaw.rnn", "-c", "train.csv", "--limit", "120")
    attack = ("-C", "detect.train_on=random-word", "-C", "detect.test_on=random-word")
    found = json.loads(ok(flaw_files, *asked, *attack, "-o", tmp_path / "detector.json", "--json"))
    assert 0 <= found["auroc"]["random-word"] <= 1
    assert wfalens(*asked, *attack, "--min-auroc", "1", cwd=flaw_files).returncode == 1

    stream = "the senate votes\nzebra goal\n"
    watched = ("monitor", "watch", "flaw.wfa", "-m", "flaw.rnn", "--detector", tmp_path / "detector.json")
    done = wfalens(*watched, "-C", "watch.window=2", cwd=flaw_files, stdin=stream)
    assert done.returncode == 0, done.stderr
    first, second, summary = map(json.loads, done.stdout.splitlines())
    assert (first["line"], second["line"], summary["window"]["texts"]) == (1, 2, 2)
    assert "attacked" in first
    only = wfalens(*watched, "-C", "watch.window=2", "--summaries", cwd=flaw_files, stdin=stream)
    assert [json.loads(line) for line in only.stdout.splitlines()] == [summary]
