"""From finding to fixing on the command line: cover, detect, watch, blame and repair."""

import io
import json
import sys

import pandas as pd
import pytest

from tests.cli.test_commands import wfalens
from wfalens.monitoring.watch import _batches


@pytest.fixture(scope="module")
def folder(flaw, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mending")
    flaw.model.save(folder / "n.rnn")
    flaw.wfa.save(folder / "n.wfa")
    for name, corpus in (("train", flaw.train), ("slice", flaw.slice), ("test", flaw.test)):
        labels = [corpus.class_names[label] for label in corpus.labels]
        pd.DataFrame({"text": corpus.texts, "label": labels}).to_csv(folder / f"{name}.csv", index=False)
    (folder / "bare.csv").write_text("text\na vaccine\n")
    return folder


def run(folder, *arguments, **options):
    done = wfalens(*arguments, cwd=folder, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cover_tells_what_is_missing_and_fills_it(folder):
    people = run(folder, "cover", "n.wfa", "-c", "test.csv", "-m", "n.rnn", "--fill", "40", "-o", "gaps.csv")
    assert "transitions" in people
    assert len(pd.read_csv(folder / "gaps.csv")) == 40
    report = json.loads(run(folder, "cover", "n.wfa", "-c", "test.csv", "--json"))
    assert 0 < report["transitions"]["share"] <= 1
    assert report["gaps"] is None


def test_watch_writes_a_line_for_each_text_and_never_dies_of_a_bad_one(folder, monkeypatch):
    lines = b"the vaccine helps patients\n\xff\xfe\n\nzebra stocks fall\nlast line without an end"
    report = watched(folder, lines, "--window", "2")
    texts = [each for each in report if "window" not in each]
    assert [each["line"] for each in texts] == [1, 2, 3, 4, 5]
    assert texts[1]["error"] == "not UTF-8 text"
    assert texts[2]["error"] == "no words"
    assert texts[0]["class"] == "health"
    assert [each["window"]["texts"] for each in report if "window" in each] == [2, 1]
    summaries = watched(folder, lines, "--summaries", "--reference", "train.csv")
    assert [list(each) for each in summaries] == [["window"]]


def test_watch_takes_long_lines_a_few_at_a_time():
    lines = [b"x" * 700_000] * 3 + [b"short"] * 3
    batches = [each for each in _batches(io.BytesIO(b"\n".join(lines))) if each]
    assert [line for batch in batches for line in batch] == lines
    assert max(sum(map(len, batch[:-1])) for batch in batches) < 1 << 20


def watched(folder, lines, *options):
    class Stdin:
        buffer = io.BytesIO(lines)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "wfalens.cli.legacy.watch.sys", type("sys", (), {"stdin": Stdin, "stdout": (out := io.StringIO())})
        )
        done = wfalens("watch", "n.wfa", "-m", "n.rnn", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert sys.stdin is not Stdin
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_blame_names_the_planted_word(folder):
    command = ("blame", "n.wfa", "-m", "n.rnn", "--train", "train.csv", "--texts", "slice.csv")
    assert "zebra" in run(folder, *command, "-o", "blamed.csv", "--html", "blame.html")
    assert pd.read_csv(folder / "blamed.csv").text[:20].str.contains("zebra").mean() >= 0.9
    report = json.loads(run(folder, *command, "--limit", "20", "--json"))
    assert report["words"][0]["word"] == "zebra"
    assert {"label_suspects", "spurious_words", "errors", "training_texts"} <= report.keys()


def test_repair_writes_every_step_and_overwrites_nothing(folder):
    command = ("repair", "n.wfa", "-m", "n.rnn", "--train", "train.csv", "--texts", "slice.csv")
    assert "drop" in run(folder, *command, "--dry-run", "-o", "dry")
    assert list((folder / "dry").iterdir()) == []
    options = ("--test", "test.csv", "--epochs", "3", "--learning-rate", "0.005", "-o", "new")
    report = json.loads(run(folder, *command, *options, "--json"))
    assert sorted(path.name for path in (folder / "new").iterdir()) == [
        "diff.json",
        "plan.json",
        "repaired.csv",
        "repaired.rnn",
        "repaired.wfa",
    ]
    before, after = (report["slices"][0][key] for key in ("errors_before", "errors_after"))
    assert after < before / 2
    again = wfalens(*command, *options, cwd=folder)
    assert again.returncode == 2
    assert "nothing is overwritten" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("blame", "n.wfa", "-m", "n.rnn", "-t", "bare.csv", "-e", "slice.csv"), "bare.csv has no labels"),
        (("blame", "n.wfa", "-m", "n.rnn", "-t", "train.csv", "-e", "bare.csv"), "bare.csv has no labels"),
        (("repair", "n.wfa", "-m", "n.rnn", "-t", "train.csv", "-e", "slice.csv"), "give --output, a new folder"),
        (
            ("repair", "n.wfa", "-m", "n.rnn", "-t", "train.csv", "-e", "slice.csv", "--dry-run", "--how", "pray"),
            "unknown way to repair 'pray'",
        ),
        (("detect", "n.wfa", "-m", "n.rnn", "-c", "bare.csv"), "bare.csv has no labels; an attack needs"),
        (("detect", "n.wfa", "-m", "n.rnn", "-c", "test.csv", "--train-on", "luck"), "unknown train_on 'luck'"),
        (("watch", "n.wfa", "-m", "n.rnn", "--detector", "test.csv"), "test.csv: not a detector"),
        (("cover", "n.wfa", "-c", "none.csv"), "none.csv: no such file"),
    ],
)
def test_bad_input_ends_in_one_sentence(folder, arguments, sentence):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_empty_stream_is_told(folder):
    with pytest.MonkeyPatch.context() as patch:
        empty = type("Stdin", (), {"buffer": io.BytesIO(b"")})
        patch.setattr("wfalens.cli.legacy.watch.sys", type("sys", (), {"stdin": empty, "stdout": io.StringIO()}))
        done = wfalens("watch", "n.wfa", "-m", "n.rnn", cwd=folder)
    assert done.returncode == 2
    assert "the stream is empty" in done.stderr


@pytest.mark.slow
def test_detect_trains_a_detector_that_watch_takes(folder):
    command = ("detect", "n.wfa", "-m", "n.rnn", "-c", "train.csv", "--limit", "400", "--test-on", "guided")
    report = json.loads(run(folder, *command, "-o", "d.json", "--json"))
    assert report["auroc"]["guided"] > 0.6
    (told, *_) = watched(folder, b"the vaccine helps\n", "--detector", "d.json")
    assert 0 <= told["attacked"] <= 1
