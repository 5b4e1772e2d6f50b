"""The word table against a plain one, large vocabularies, and the page of a word."""

import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.automata import linear_samples, sample, samples
from tests.errors import raises
from tests.studies import HOSTILE, SCRIPT
from wfalens.automaton import Empirical, StochasticWFA
from wfalens.automaton.rows import rows_from_keys
from wfalens.explanation import influence
from wfalens.explanation.influence import influence_of, words_seen
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import WordTable, word_page, word_pages
from wfalens.text import TextEncoder, Vocabulary
from wfalens.text.similar_words import Nearness


def plain(wfa, query, towards, sort, falling, min_count):
    """The rows of all words that are asked for, in any order among equals: [(key, row)]."""
    known, ids = influence(wfa, min_count=1), words_seen(wfa, 1)
    rows = []
    for word, count, row in zip(known.words, known.counts, influence_of(wfa, ids, "probability"), strict=True):
        label = int(np.argmax(row))
        key = {"word": word, "count": count, "strength": row[label]}
        if query.lower() in word.lower() and count >= min_count and towards in ("", wfa.class_names[label]):
            rows.append((key[sort], [word, count, row[label], label, None]))
    return sorted(rows, key=lambda row: row[0], reverse=falling)


@given(
    st.one_of(samples(), linear_samples()),
    st.sampled_from(["", "w", "1", "W", "nothing", "0"]),
    st.sampled_from(["", "c0", "c1"]),
    st.sampled_from(["word", "count", "strength"]),
    st.booleans(),
    st.integers(1, 20),
    st.integers(0, 12),
    st.integers(1, 12),
)
def test_search_sort_and_pages_are_those_of_a_plain_table(
    drawn, query, towards, sort, falling, min_count, offset, limit
):
    if not (drawn.wfa.word_counts[2:] > 0).any():
        return
    table = WordTable(Study("a.wfa", drawn.wfa))
    asked = {"towards": towards, "sort": sort, "falling": falling, "min_count": min_count}
    found = table.find(query, **asked, offset=offset, limit=limit)
    expected = plain(drawn.wfa, query, **asked)
    assert found["total"] == len(expected)
    assert found["offset"] == offset
    assert len(found["rows"]) == len(expected[offset : offset + limit])
    everything = {row[0]: row for _, row in expected}
    keys = [key for key, _ in expected[offset : offset + limit]]
    column = ["word", "count", "strength"].index(sort)
    for row, key in zip(found["rows"], keys, strict=True):
        assert row[:2] == everything[row[0]][:2]
        assert row[2] == pytest.approx(everything[row[0]][2], abs=6e-5)
        assert row[3:] == everything[row[0]][3:]
        assert row[column] == (key if sort == "word" else pytest.approx(key, abs=6e-5))
    pages = [table.find(query, **asked, offset=at, limit=3)["rows"] for at in range(0, len(expected), 3)]
    assert sorted(row[0] for page in pages for row in page) == sorted(everything)  # nothing twice, nothing lost
    to_json(found)


def test_points_of_a_word_are_the_networks_mean_change_while_it_is_not_sure(study):
    """Recomputed word by word on the network; words that it read too seldom come after, without an interval."""
    changes = {}
    for text in study.texts.texts:
        ids = study.model.encoder.encode([text])
        before = np.asarray(study.model.initial_output)
        for word, after in zip(ids.values, study.model.trace(ids).values, strict=True):
            if before.max() <= 0.8:
                changes.setdefault(study.model.encoder.vocabulary.words[word], []).append(after - before)
            before = after
    rows = WordTable(study).find(limit=10_000)["rows"]
    measured = [row for row in rows if row[4] is not None]
    assert {row[0] for row in measured} == {word for word, all_ in changes.items() if len(all_) >= 10} - {"<unk>"}
    assert rows[: len(measured)] == measured
    assert [row[2] for row in measured] == sorted((row[2] for row in measured), reverse=True)
    for word, _, change, label, half in measured:
        values = np.array(changes[word], np.float64)
        assert label == values.mean(0).argmax()
        assert change == pytest.approx(values.mean(0)[label], abs=1e-4)
        error = values[:, label].std(ddof=1) / len(values) ** 0.5
        assert half == pytest.approx(stats.t.ppf(0.975, len(values) - 1) * error, abs=1e-4)


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
            found.append(table.find(query, sort="count", offset=200))
        steps.append(len(calls))
    assert steps[0] < 1000  # nothing is searched
    assert max(steps) < 300_000  # a step of a generator for a word is a call and a return; one found is ranked
    assert found[0]["total"] == 99_998
    assert found[1]["total"] == sum("a" in word for word in large.encoder.vocabulary.words[2:])
    assert len(found[0]["rows"]) == 100


@pytest.mark.parametrize("asked", [{"sort": "weight"}, {"towards": "nobody"}])
def test_an_unknown_column_or_class_is_refused(study, asked):
    with raises("option-value"):
        WordTable(study).find(**asked)


def test_the_strongest_of_each_class_are_the_top_words(study):
    table = WordTable(study)
    chosen = {study.influence.words[at] for at in table.strongest(5, study.usual_count)}
    often = np.flatnonzero(study.influence.counts >= study.usual_count)
    for label in range(len(study.wfa.class_names)):
        best = often[np.argsort(-study.word_effects.changes[often, label], kind="stable")[:5]]
        assert chosen >= {study.influence.words[at] for at in best}
    assert len(chosen) <= 2 * 5 * len(study.wfa.class_names)


def test_a_page_tells_changes_neighbours_and_sentences(study):
    data = word_page(study, "vaccine")
    at = study.influence.words.index("vaccine")
    for label, change, half in data["changes"]:
        assert change == pytest.approx(study.word_effects.changes[at, label], abs=6e-5)
        own = study.word_effects.halves[at, label]
        assert np.isnan(own) if half is None else half == pytest.approx(own, abs=6e-5)
    assert data["read"] == study.word_effects.read[at]
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


def test_sentences_of_a_word_are_of_every_class_that_has_any(study):
    word = study.wfa.encoder.vocabulary.id_of("the")
    of_class = {study.texts.labels[at] for at, ids in enumerate(study.encoded) if word in ids}
    shown = [study.texts.labels[at] for at in study.texts_with(word, 8)]
    assert set(shown) == of_class
    assert max(np.bincount(shown)) <= 2


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
