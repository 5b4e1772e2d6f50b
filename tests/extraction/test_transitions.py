"""Counting: against a loop, and exact under merging."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import oracle
from wfalens.errors import InputError
from wfalens.extraction.transitions import TextStatistics, TransitionCounts, count_transitions, observed_rows
from wfalens.ragged import Ragged

N, WORDS = 5, 7
texts = st.lists(st.lists(st.tuples(st.integers(1, WORDS - 1), st.integers(1, N - 1)), max_size=8), max_size=10)


def counted(corpus) -> TransitionCounts:
    ids = Ragged.from_lists([[word for word, _ in text] for text in corpus], np.int32)
    path = np.array([state for text in corpus for _, state in text], np.int32)
    return count_transitions(ids, path, N)


@given(texts)
def test_counts_equal_a_plain_loop(corpus):
    counts = counted(corpus)
    dense = np.zeros((WORDS, N, N))
    dense[counts.words, counts.before, counts.after] = counts.counts
    sentences, paths = ([[pair[part] for pair in text] for text in corpus] for part in (0, 1))
    np.testing.assert_array_equal(dense, oracle.count_matrices(sentences, paths, WORDS, N))


@given(st.lists(texts, min_size=1, max_size=5), st.randoms())
def test_shards_merge_in_any_order_to_the_bytes_of_one_pass(shards, random):
    whole = counted([text for shard in shards for text in shard])
    parts = [counted(shard) for shard in shards]
    random.shuffle(parts)
    merged = TransitionCounts.empty(N)
    for part in parts:
        merged = part.merge(merged) if random.random() < 0.5 else merged.merge(part)
    for one, two in ((merged, whole), (parts[0].merge(*parts[1:]), whole)):
        assert one.keys.tobytes() == two.keys.tobytes()
        assert one.counts.tobytes() == two.counts.tobytes()


def test_counts_over_different_states_do_not_merge():
    with pytest.raises(InputError, match="different numbers of states"):
        TransitionCounts.empty(3).merge(TransitionCounts.empty(4))


def observed(corpus):
    statistics = TextStatistics(N, 2)
    statistics.add_counts(counted(corpus), TransitionCounts.empty(N))
    return observed_rows(statistics, WORDS, 1.0)


def test_share_of_self_transitions():
    assert observed([[(1, 2), (1, 2), (1, 3), (2, 3)]]).self_transition_share == 0.5
    assert observed([]).self_transition_share == 0


@given(texts)
def test_rows_words_and_visits_are_those_of_the_counts(corpus):
    counts, found = counted(corpus), observed(corpus)
    rows = found.rows(None)
    dense = np.zeros((WORDS, N, N))
    word = np.repeat(np.arange(WORDS), np.diff(rows.entry_start))
    dense[word, rows.source, rows.target] = rows.weight
    expected = np.zeros((WORDS, N, N))
    expected[counts.words, counts.before, counts.after] = counts.counts
    np.testing.assert_array_equal(dense, expected)
    np.testing.assert_array_equal(found.word_counts, expected.sum((1, 2)))
    np.testing.assert_array_equal(found.visits[1:], expected.sum((0, 1))[1:])
