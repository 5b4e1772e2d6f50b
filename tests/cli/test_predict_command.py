"""Predictions and traces of texts."""

import json

from tests.commands import ok, wfalens


def test_texts_files_and_traces(workshop):
    (row,) = json.loads(ok(workshop, "predict", "news.wfa", "the senate votes", "--json"))
    assert row["label"] == "us"
    assert row["confidence"] == max(row["output"].values())
    assert len(json.loads(ok(workshop, "predict", "news.wfa", "-c", "test.csv", "--json"))) == 150
    (walk,) = json.loads(ok(workshop, "predict", "news.wfa", "the senate", "--trace", "-m", "news.rnn", "--json"))
    assert {"network", "word"} <= set(walk["steps"][0])


def test_below_the_confidence_it_is_unsure(workshop):
    (row,) = json.loads(ok(workshop, "predict", "news.wfa", "the", "--min-confidence", "1", "--json"))
    assert (row["label"], row["unsure"]) == (None, True)
    assert wfalens("predict", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens("predict", "news.wfa", "x", "-m", "news.rnn", cwd=workshop).returncode == 2
