"""Means over a corpus: sums that add up in any order, and the planted truth found again."""

import json
from copy import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError
from wfalens.explanation import influence, interactions, shapley, shapley_each
from wfalens.explanation.importance import (
    KeyedSums,
    pair_importance,
    pair_sums,
    population_importance,
    rank_correlation,
    word_importance,
    word_occurrences,
    word_sums,
)
from wfalens.text import load_dataset
from wfalens.text.datasets import newsroom


@pytest.fixture(scope="module")
def texts():
    return list(load_dataset("newsroom", "test").texts[:300])


@pytest.fixture(scope="module")
def importance(newsroom_wfa, texts):
    return word_importance(newsroom_wfa, texts, min_count=1)


def as_tuple(sums):
    return sums.keys.tolist(), sums.counts.tolist(), sums.sums.tolist()


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(-1, 1), st.floats(-1, 1)), max_size=30), st.data())
def test_sums_add_up_to_the_same_numbers_in_any_order_and_any_parts(rows, data):
    keys = np.array([row[0] for row in rows], np.int64)
    values = np.array([row[1:] for row in rows], float).reshape(-1, 2)
    whole = KeyedSums.of(keys, values)
    order = np.array(data.draw(st.permutations(range(len(rows)))), np.int64)
    cut = data.draw(st.integers(0, len(rows)))
    first, second = (KeyedSums.of(keys[part], values[part]) for part in (order[:cut], order[cut:]))
    assert as_tuple(first + second) == as_tuple(second + first) == as_tuple(whole)
    assert as_tuple(whole + KeyedSums.nothing(2)) == as_tuple(whole)
    for key, count, means in zip(whole.keys, whole.counts, whole.means(), strict=True):
        mine = values[keys == key]
        assert count == len(mine)
        expected = np.stack([mine, abs(mine), mine**2], 2).mean(0)
        np.testing.assert_allclose(means, expected, atol=1e-7)


def test_means_are_those_of_the_single_texts(newsroom_wfa, texts, importance):
    found = {}
    for each in shapley_each(newsroom_wfa, texts):
        for word, row in zip(each.words, each.values, strict=True):
            found.setdefault(word, []).append(row)
    assert set(importance.names) == set(found)
    for name in ("senate", "the"):
        rows, one = np.array(found[name]), importance.of(name)
        assert one.counts.tolist() == [len(rows)]
        np.testing.assert_allclose(one.mean[0], rows.mean(0), atol=1e-8)
        np.testing.assert_allclose(one.size[0], np.abs(rows).mean(0), atol=1e-8)
        np.testing.assert_allclose(one.mean_error[0], rows.std(0, ddof=1) / np.sqrt(len(rows)), rtol=1e-3, atol=1e-6)


def test_blocks_of_texts_add_up_to_the_corpus(newsroom_wfa, texts, monkeypatch, importance):
    ids = newsroom_wfa.encoder.encode(texts)
    parts = [ids.take(part) for part in np.array_split(np.random.default_rng(0).permutation(len(ids)), 7)]
    whole = word_sums(newsroom_wfa, ids, "delete")
    total = KeyedSums.nothing(len(newsroom_wfa.class_names))
    for part in parts:
        total += word_sums(newsroom_wfa, part, "delete")
    assert as_tuple(total) == as_tuple(whole)
    monkeypatch.setattr("wfalens.explanation.importance._TOKENS_AT_ONCE", 50)
    again = word_importance(newsroom_wfa, texts, min_count=1)
    np.testing.assert_array_equal(again.mean, importance.mean)


def test_the_planted_words_speak_for_their_topic(newsroom_wfa, importance):
    frequent = importance.subset(np.flatnonzero(importance.counts >= 5))
    for topic in newsroom_wfa.class_names:
        names = frequent.largest(frequent.mean[:, newsroom_wfa.class_names.index(topic)], 5).names
        assert sum(newsroom.TRUTH.topic_of(name) == topic for name in names) >= 4, (topic, names)
        assert set(frequent.top(topic, 5).names) & set(names)


def test_influence_ranks_words_alike(newsroom_wfa, importance):
    found = rank_correlation(importance, influence(newsroom_wfa, 1))
    assert set(found) == set(newsroom_wfa.class_names)
    assert min(found.values()) > 0.5
    with pytest.raises(InputError, match="at least two words"):
        rank_correlation(importance.of("senate"), influence(newsroom_wfa, 1))


def test_pairs_are_summed_by_their_words(newsroom_wfa):
    texts = ["the senate after", "senate the senate", "coach"]
    found = pair_importance(newsroom_wfa, texts, min_count=1)
    assert set(found.names) == {"the × senate", "the × after", "senate × after", "senate × the", "senate × senate"}
    one, two = interactions(newsroom_wfa, texts[0]), interactions(newsroom_wfa, texts[1])
    expected = (one.values[one.subsets.index((0, 1))] + two.values[two.subsets.index((1, 2))]) / 2
    np.testing.assert_allclose(found.of("the × senate").mean[0], expected, atol=1e-8)
    assert found.of("the × senate").counts.tolist() == [2]
    ids = newsroom_wfa.encoder.encode(texts)
    parts = [pair_sums(newsroom_wfa, ids.take(np.array([at])), "delete") for at in range(3)]
    assert as_tuple(parts[2] + parts[0] + parts[1]) == as_tuple(pair_sums(newsroom_wfa, ids, "delete"))


def test_occurrences_of_a_word_come_with_their_contexts(newsroom_wfa):
    texts = ["the senate after", "coach new senate", "nothing here", "senate senate"]
    found = word_occurrences(newsroom_wfa, texts, "senate", around=1)
    assert found.texts.tolist() == [0, 1, 3, 3]
    assert found.positions.tolist() == [1, 2, 0, 1]
    assert found.contexts == ("the senate after", "new senate", "senate senate", "senate senate")
    np.testing.assert_allclose(found.values[1], shapley(newsroom_wfa, texts[1]).values[2])
    low, high = found.extremes("us", 1)
    column = found.values[:, newsroom_wfa.class_names.index("us")]
    assert (low[0][1], high[0][1]) == (column.min(), column.max())


def test_results_are_data(importance):
    one = importance.of("senate")
    row = one.rows()[0]
    assert row["name"] == "senate"
    assert row["us mean"] == one.mean[0, one.class_names.index("us")]
    assert row["us mean ±"] > 0
    json.dumps(one.to_dict())
    assert {"name", "count", "us mean", "us mean ±"} <= set(one.to_dataframe().columns)
    assert "senate" in one.to_html()
    rare = importance.subset(np.flatnonzero(importance.counts == 1)[:1]).rows()[0]
    assert np.isnan(rare["us size ±"])


def test_bad_input(newsroom_wfa, importance):
    with pytest.raises(InputError, match="nothing occurs 9 times in these texts; lower the minimum count"):
        word_importance(newsroom_wfa, ["the senate"], min_count=9)
    with pytest.raises(InputError, match="there is no text with a word in it"):
        word_importance(newsroom_wfa, [""])
    with pytest.raises(InputError, match="unknown absence"):
        word_importance(newsroom_wfa, ["the"], absence="x")
    with pytest.raises(InputError, match="no values for 'zzz'"):
        importance.of("zzz")
    with pytest.raises(InputError, match="unknown class 'x'"):
        importance.top("x")
    with pytest.raises(InputError, match="does not know the word 'zzz'"):
        word_occurrences(newsroom_wfa, ["the"], "zzz")
    with pytest.raises(InputError, match="'senate' does not occur in these texts"):
        word_occurrences(newsroom_wfa, ["the"], "senate")
    with pytest.raises(InputError, match="cannot be added up"):
        KeyedSums.of(np.array([1]), np.array([[1e9]]))
    most = KeyedSums(np.array([1]), np.array([1]), np.full((1, 1, 3), 1 << 62))
    with pytest.raises(InputError, match="too many texts, or values too large, to be added up"):
        most + most


def test_means_over_the_bigram_model_follow_those_over_texts_and_are_corrected_by_the_network(
    newsroom_model, newsroom_wfa, texts
):
    wfa = copy(newsroom_wfa)
    wfa.bigrams = WordBigrams.of_texts(wfa.ids(load_dataset("newsroom", "train").texts[:500]), len(wfa.word_counts))
    plain = population_importance(wfa, contexts=4)
    assert plain.correction is None
    assert (np.abs(plain.mean) <= plain.size).all()
    assert {"size", "size ±"} <= {key.split(" ", 1)[1] for key in plain.rows()[0] if key.startswith("us ")}
    over_texts = word_importance(wfa, texts, min_count=5)
    rows = [plain.names.index(name) for name in over_texts.names if name in plain.names]
    kept = [at for at, name in enumerate(over_texts.names) if name in plain.names]
    assert np.corrcoef(plain.mean[rows].ravel(), over_texts.mean[kept].ravel())[0, 1] > 0.8
    asked = population_importance(wfa, newsroom_model, texts[:10], queries=16, contexts=4)
    sampled = {word for text in texts[:10] for word in wfa.encoder.tokens(text)}
    has_correction = ~np.isnan(asked.correction).any(1)
    assert {name for name, one in zip(asked.names, has_correction, strict=True) if one} == sampled & set(asked.names)
    with pytest.raises(InputError) as raised:
        population_importance(wfa, absence="bigram")
    assert raised.value.code == "absence"
