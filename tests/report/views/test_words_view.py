"""The word table against a plain one, large vocabularies, and the page of a word."""

import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_samples, sample, samples
from tests.errors import raises
from tests.studies import HOSTILE, SCRIPT
from wfalens.automaton import Empirical, StochasticWFA
from wfalens.automaton.rows import rows_from_keys
from wfalens.explanation import influence
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import WordTable, word_page, word_pages
from wfalens.text import TextEncoder, Vocabulary
from wfalens.text.similar_words import Nearness


def plain(wfa, query, sort, falling, min_count):
    """The rows of all words that are asked for, in any order among equals: [(key, row)]."""
    scores = influence(wfa, min_count=1)
    rows = []
    for word, count, row in zip(scores.words, scores.counts, scores.scores, strict=True):
        strength = float(np.sqrt((row**2).sum()))
        key = {"word": word, "count": count, "strength": strength, **dict(zip(scores.class_names, row, strict=True))}
        if query.lower() in word.lower() and count >= min_count:
            rows.append((key[sort], [word, count, strength, *row]))
    return sorted(rows, key=lambda row: row[0], reverse=falling)


@given(
    st.one_of(samples(), linear_samples()),
    st.sampled_from(["", "w", "1", "W", "nothing", "0"]),
    st.sampled_from(["word", "count", "strength", "c0", "c1"]),
    st.booleans(),
    st.integers(1, 20),
    st.integers(0, 12),
    st.integers(1, 12),
)
def test_search_sort_and_pages_are_those_of_a_plain_table(drawn, query, sort, falling, min_count, offset, limit):
    if not (drawn.wfa.word_counts[2:] > 0).any():
        return
    table = WordTable(Study("a.wfa", drawn.wfa))
    asked = {"sort": sort, "falling": falling, "min_count": min_count}
    found = table.find(query, **asked, offset=offset, limit=limit)
    expected = plain(drawn.wfa, query, **asked)
    assert found["total"] == len(expected)
    assert found["offset"] == offset
    assert len(found["rows"]) == len(expected[offset : offset + limit])
    everything = {row[0]: row for _, row in expected}
    keys = [key for key, _ in expected[offset : offset + limit]]
    column = ["word", "count", "strength", *drawn.wfa.class_names].index(sort)
    for row, key in zip(found["rows"], keys, strict=True):
        assert row[1:] == pytest.approx(everything[row[0]][1:], abs=6e-5)
        assert row[column] == (key if sort == "word" else pytest.approx(key, abs=6e-5))
    pages = [table.find(query, **asked, offset=at, limit=3)["rows"] for at in range(0, len(expected), 3)]
    assert sorted(row[0] for page in pages for row in page) == sorted(everything)  # nothing twice, nothing lost
    to_json(found)


def test_capitals_are_found_by_any_spelling():
    drawn = sample("empirical", 3, words=6)
    vocabulary = Vocabulary.of_words(["Apple", "apple", "APPLE", "pear"])
    wfa = StochasticWFA(
        encoder=TextEncoder(vocabulary, "whitespace"),
        class_names=drawn.wfa.class_names,
        centres=drawn.wfa.centres,
        rows=drawn.wfa.rows,
        completion=drawn.wfa.completion,
        alpha=0.1,
        state_visits=drawn.wfa.state_visits,
        word_counts=np.array([0, 0, 3, 4, 5, 6]),
        provenance={},
    )
    table = WordTable(Study("a.wfa", wfa))
    for query in ("apple", "APPLE", "pPl"):
        assert table.find(query)["total"] == 3


@contextmanager
def counted_calls():
    """Every call and return of a function: a clock that no other program slows down."""
    calls = []
    sys.setprofile(lambda _frame, event, _argument: calls.append(event))
    try:
        yield calls
    finally:
        sys.setprofile(None)


@pytest.fixture(scope="module")
def large():
    """An automaton of 100,000 words."""
    size, n, rng = 100_000, 12, np.random.default_rng(0)
    keys = np.unique(rng.integers(2 * n * n, size * n * n, 5 * size))
    rows = rows_from_keys(keys, np.ones(len(keys)), size, n)
    words = [f"{number:x}{'aeiou'[number % 5]}" for number in range(size - 2)]
    return StochasticWFA(
        encoder=TextEncoder(Vocabulary.of_words(words), "whitespace"),
        class_names=[f"c{number}" for number in range(7)],
        centres=rng.dirichlet(np.ones(7), n),
        rows=rows,
        completion=Empirical(0.3),
        alpha=0.1,
        state_visits=rng.integers(1, 9, n),
        word_counts=np.append([0, 0], rng.integers(1, 100, size - 2)),
        provenance={},
    )


def test_a_hundred_thousand_words_are_searched_at_a_keystroke(large):
    table = WordTable(Study("a.wfa", large))
    table.find("z")  # what is worked out once
    found, steps = [], []
    for query in ("", "a", "ab", "fee", "not there"):
        with counted_calls() as calls:
            found.append(table.find(query, sort="c3", offset=200))
        steps.append(len(calls))
    assert steps[0] < 1000  # nothing is searched
    assert max(steps) < 300_000  # a step of a generator for a word is a call and a return; one found is ranked
    assert found[0]["total"] == 99_998
    assert found[1]["total"] == sum("a" in word for word in large.encoder.vocabulary.words[2:])
    assert len(found[0]["rows"]) == 100


def test_an_unknown_column_is_refused_with_the_known_ones(study):
    with raises("option-value"):
        WordTable(study).find(sort="weight")


def test_a_class_that_is_called_like_a_column_can_be_sorted_by():
    drawn = sample("empirical", 3, words=6)
    named = ("count", *drawn.wfa.class_names[1:])
    parts = ("encoder", "centres", "rows", "completion", "alpha", "state_visits", "word_counts", "provenance")
    wfa = StochasticWFA(class_names=named, **{part: getattr(drawn.wfa, part) for part in parts})
    table = WordTable(Study("a.wfa", wfa))
    for sort, column in (("count", 1), ("class count", 3)):
        values = [row[column] for row in table.find(sort=sort, min_count=1)["rows"]]
        assert values == sorted(values, reverse=True)
        assert len(values) > 2


def test_the_strongest_of_each_class_are_the_top_words(study):
    table = WordTable(study)
    chosen = {study.influence.words[at] for at in table.strongest(5, study.usual_count)}
    often = influence(study.wfa, study.usual_count)
    assert chosen == {word for name in study.wfa.class_names for word in often.top(name, 5).words}


def test_a_page_tells_influence_neighbours_and_sentences(study):
    data = word_page(study, "vaccine")
    assert data["scores"] == pytest.approx(study.influence.of("vaccine"), abs=6e-5)
    assert data["count"] == study.wfa.word_counts[study.wfa.encoder.vocabulary.id_of("vaccine")]
    own = study.wfa.matrix("vaccine")
    gaps = [np.square(study.wfa.matrix(word) - own).mean() for word, _ in data["acting"]]
    assert [gap for _, gap in data["acting"]] == pytest.approx(gaps, abs=1e-5)
    assert gaps == sorted(gaps)
    others = [word for word, count in zip(study.influence.words, study.influence.counts, strict=True) if count >= 5]
    nearest = min(np.square(study.wfa.matrix(word) - own).mean() for word in others if word != "vaccine")
    assert gaps[0] == pytest.approx(nearest, abs=1e-6)
    vectors = study.vectors
    near = Nearness.among(vectors, study.influence.words)
    assert data["meaning"] == [[word, pytest.approx(gap, abs=1e-4)] for word, gap in near.nearest("vaccine", 10)]
    assert data["meaning"]
    assert data["sentences"]
    assert all("vaccine" in text.split() for text in data["sentences"])


def test_pages_of_several_words_are_those_of_each(study):
    words = ["vaccine", "match", *HOSTILE]
    for data, single in zip(word_pages(study, words), [word_page(study, word) for word in words], strict=True):
        near, alone = (dict(each.pop("acting")) for each in (data, single))
        assert near == pytest.approx(alone, abs=2e-6)  # words that are equally near may stand in any order
        assert data == single


def test_pages_without_texts_and_vectors(study):
    data = word_page(replace(study, corpus=None, vectors=None, model=None), SCRIPT)
    assert data["meaning"] is None
    assert data["sentences"] == []
    assert data["acting"]


def test_a_word_that_was_never_seen_is_refused(study):
    with raises("unknown-word"):
        word_page(study, "neverseen")
