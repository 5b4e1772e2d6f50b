"""A card tells what is known, says why the rest is absent, and shows hostile names as they are."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.errors import raises
from wfalens.automaton import WFA
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.models.padded import PaddedForm, PaddedTextClassifier
from wfalens.report import AutomatonCard
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
    made = AutomatonCard("news.wfa", WFA.load(folder / "news.wfa"))
    data = made.to_dict()
    assert set(data["absent"]) == {"fidelity", "groups", "findings"}
    assert data["fidelity"] is data["groups"] is None
    assert data["preprocessing"]["tokenizer"] == "basic_english"
    assert data["data"]["texts"] == 200
    page = made.to_markdown()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert titles == ["## Model", "## Data", "## Preprocessing", "## Fidelity", "## Groups", "## Findings"]
    assert page.count("not measured: this takes the classifier") == 3


def test_the_card_tells_which_end_of_a_text_is_read_and_where_it_is_padded(letters):
    def first_word_counts(table):
        rows = np.stack([np.full(len(table), 0.5), table[:, 0] / 20, np.zeros(len(table))], 1)
        rows[:, 2] = 1 - rows.sum(1)
        return rows

    model = PaddedTextClassifier(
        first_word_counts,
        replace(letters, truncation_side="left"),
        ("x", "y", "z"),
        form=PaddedForm(width=3, padding="left"),
        fingerprint="counts",
    )
    made = AutomatonCard("l.wfa", extract(model, ["a b c d", "b"], Paper(states=2, completion="uniform")))
    read = made.to_dict()["preprocessing"]
    assert (read["max_length"], read["truncation_side"], read["width"], read["padding_side"]) == (3, "left", 3, "left")
    assert "| read | the last 3 tokens |" in made.to_markdown()
    assert "| shorter texts are padded | on the left, to 3 tokens |" in made.to_markdown()


def test_the_card_is_a_report_as_markdown_or_json_with_fidelity_and_groups(folder, news_model):
    wfa, texts = WFA.load(folder / "news.wfa"), newsroom.generate(200, np.random.default_rng(5))
    options = {"groups": [("north", "south", "")[at % 3] or "(missing)" for at in range(200)], "group_column": "region"}
    size = wfa.report(folder / "card.json", news_model, texts, vectors=None, **options)
    wfa.report(folder / "card.txt", news_model, texts, format="md", vectors=None, **options)
    data, page = json.loads((folder / "card.json").read_text()), (folder / "card.txt").read_text()
    assert size == (folder / "card.json").stat().st_size
    assert data["absent"] == {}
    assert data["fidelity"]["overall"]["texts"] == 200
    assert {group["name"] for group in data["groups"]["groups"]} == {"north", "south", "(missing)"}
    assert f"| automaton | {data['fidelity']['overall']['cr']['value']:.3f} [" in page
    assert "| (missing) | 66 |" in page
    assert all(each["claim"] for each in data["findings"]["findings"])
    assert page.count("## Findings") == 1
    with raises("no-model"):
        wfa.report(folder / "none.md", vectors=None, **options)
    with raises("option-value"):
        wfa.report(folder / "none.md", format="pdf", vectors=None)


def test_a_card_prints_in_a_line_and_is_a_table(folder):
    card = AutomatonCard("news.wfa", WFA.load(folder / "news.wfa"))
    assert str(card) == "Card of news.wfa"
    assert "Card of news.wfa" in card.to_html()


def test_hostile_names_are_shown_as_they_are(folder):
    page = AutomatonCard("a|b\n# <script>\x1b[31m", WFA.load(folder / "news.wfa")).to_markdown()
    first = page.splitlines()[0]
    assert first == r"# a\|b\[U+000A\]\# \<script\>\[U+001B\]\[31m"
