"""A card tells what is known, says why the rest is absent, and shows hostile names as they are."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.cli.test_commands import wfalens
from wfalens.automaton import WFA
from wfalens.cli.legacy.card import card
from wfalens.errors import InputError
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.models.padded import TableForm, TextTableClassifier
from wfalens.report import Card
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


def test_without_a_model_the_card_says_what_was_not_measured(folder):
    made = Card.of("news.wfa", WFA.load(folder / "news.wfa"))
    told = made.to_json()
    assert set(told["absent"]) == {"fidelity", "groups"}
    assert told["fidelity"] is told["groups"] is None
    assert told["preprocessing"]["tokenizer"] == "basic_english"
    assert told["data"]["texts"] == 200
    page = made.to_markdown()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles == ["## Model", "## Data", "## Preprocessing", "## Fidelity", "## Groups", "## Known artefacts"]
    assert page.count("not measured: give the classifier") == 2


def test_the_card_tells_which_end_of_a_text_is_read_and_where_it_is_padded(letters):
    def first_word_counts(table):
        rows = np.stack([np.full(len(table), 0.5), table[:, 0] / 20, np.zeros(len(table))], 1)
        rows[:, 2] = 1 - rows.sum(1)
        return rows

    model = TextTableClassifier(
        first_word_counts,
        replace(letters, cutting_side="left"),
        ("x", "y", "z"),
        form=TableForm(width=3, padding="left"),
        outputs="probabilities",
        fingerprint="counts",
    )
    made = Card.of("l.wfa", extract(model, ["a b c d", "b"], Paper(states=2, completion="uniform")))
    read = made.to_json()["preprocessing"]
    assert (read["max_length"], read["cutting_side"], read["width"], read["padding_side"]) == (3, "left", 3, "left")
    assert "| read | the last 3 tokens |" in made.to_markdown()
    assert "| shorter texts are padded | on the left, to 3 tokens |" in made.to_markdown()


def test_the_command_measures_compares_and_writes(folder):
    command = ("card", "news.wfa", "-m", "news.rnn", "-c", "news.csv", "--by", "region", "--positive", "sport")
    done = wfalens(*command, "-o", "news.md", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told, page = json.loads(done.stdout), (folder / "news.md").read_text()
    assert told["absent"] == {}
    assert told["fidelity"]["overall"]["texts"] == 200
    assert [group["name"] for group in told["groups"]["groups"]] == ["north", "south", "(missing)"]
    assert f"| automaton | {told['fidelity']['overall']['cr']['value']:.3f} [" in page
    assert "| (missing) | 66 |" in page
    again = wfalens(*command, "-o", "news.md", cwd=folder)
    assert again.returncode == 2
    assert "news.md exists; give --force" in again.stderr


def test_evaluate_tells_the_same_by_group(folder):
    command = ("evaluate", "news.wfa", "-m", "news.rnn", "-c", "news.csv", "--by", "region")
    shown, told = wfalens(*command, cwd=folder), wfalens(*command, "--json", cwd=folder)
    assert shown.returncode == told.returncode == 0, shown.stderr
    report = json.loads(told.stdout)["by_group"]
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


def test_a_data_set_by_name_has_groups_by_label_only(folder):
    path = folder / "news.wfa"
    found = card(path, str(folder / "news.rnn"), "newsroom", by="label").fidelity.by_group
    assert {group.name for group in found.groups} == set(newsroom.TOPICS)
    with pytest.raises(InputError, match="has no column 'region'"):
        card(path, str(folder / "news.rnn"), "newsroom", by="region")


def test_half_of_what_measuring_takes_is_refused(folder):
    with pytest.raises(InputError, match="give both or none"):
        card(folder / "news.wfa", str(folder / "news.rnn"))
    with pytest.raises(InputError, match="comparing groups takes the classifier"):
        card(folder / "news.wfa", by="region")


def test_hostile_names_are_shown_as_they_are(folder):
    page = Card.of("a|b\n# <script>\x1b[31m", WFA.load(folder / "news.wfa")).to_markdown()
    first = page.splitlines()[0]
    assert first == r"# a\|b\[U+000A\]\# \<script\>\[U+001B\]\[31m"
