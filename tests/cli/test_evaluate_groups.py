"""`wfalens evaluate --by COLUMN`: groups of texts compared."""

import json

import numpy as np
import pytest

from tests.cli.test_commands import wfalens
from wfalens.extraction import Stochastic, extract
from wfalens.text.datasets import newsroom


@pytest.fixture(scope="module")
def folder(tmp_path_factory, news_model):
    """A network, its automaton, and texts with a column of groups."""
    folder = tmp_path_factory.mktemp("card")
    texts = newsroom.generate(200, np.random.default_rng(5))
    news_model.save(folder / "news.rnn")
    extract(news_model, texts, Stochastic(states=10, completion="probe", alpha=0.0, abstraction="outputs")).save(
        folder / "news.wfa"
    )
    rows = [
        f"{text},{texts.class_names[label]},{('north', 'south', '')[at % 3]}"
        for at, (text, label) in enumerate(zip(texts.texts, texts.labels, strict=True))
    ]
    (folder / "news.csv").write_text("\n".join(["text,label,region", *rows]))
    return folder


def test_evaluate_compares_groups(folder):
    command = ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "news.csv", "--by", "region")
    shown, compared = wfalens(*command, cwd=folder), wfalens(*command, "--json", cwd=folder)
    assert shown.returncode == compared.returncode == 0, shown.stderr
    report = json.loads(compared.stdout)["by_group"]
    assert [group["agreement"]["texts"] for group in report["groups"]] == [67, 67, 66]
    assert len(report["positive"]) == len(newsroom.TOPICS)
    assert report["gaps"][0]["measure"] in shown.stdout
    assert "Widest gaps between groups of region" in shown.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "country"), "no column 'country'; the columns are text, label, region"),
        (("--by", "text"), "text has 200 different values"),
        (("--by", "region", "--positive", "cats"), "unknown class 'cats'"),
        (("--positive", "sport"), "name the groups with --by"),
        (("--by", "region", "--memory", "2GB"), "--by compares groups of texts in memory"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused_in_one_sentence(folder, options, message):
    done = wfalens("evaluate", "news.wfa", "-m", "news.rnn", "-c", "news.csv", *options, cwd=folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
