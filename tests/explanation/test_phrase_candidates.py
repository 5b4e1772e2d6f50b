"""Frequent phrases: every one is found, with the texts that contain it."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from tests.explanation.phrases_plain import contains, places
from wfalens.explanation.phrase_candidates import frequent_phrases
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

TEXTS = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=8), min_size=1, max_size=8)


def found_in(texts, min_support, longest=4, gap=3):
    levels = frequent_phrases(Ragged.from_lists(texts, np.int32), min_support, longest, gap)
    return {key: int(n) for level in levels for key, n in zip(level.spelled(), level.support, strict=True)}, levels


@given(TEXTS, st.integers(1, 3), st.integers(0, 3))
def test_all_phrases_that_are_frequent_are_found_and_no_others(texts, min_support, gap):
    counts = Counter(key for text in texts for key in places(text, gap) if UNKNOWN not in key)
    expected = {key: count for key, count in counts.items() if count >= min_support}
    if not expected:
        with raises("no-frequent-word"):
            found_in(texts, min_support, gap=gap)
        return
    assert found_in(texts, min_support, gap=gap)[0] == expected


@given(TEXTS, st.integers(0, 3))
def test_texts_by_class_are_those_that_contain_the_phrase(texts, gap):
    texts = [[7, *text] for text in texts]
    classes = np.array([len(text) % 3 - 1 for text in texts])  # -1: of none
    for level in found_in(texts, 1, gap=gap)[1]:
        for key, row in zip(level.spelled(), level.texts_by_class(classes, 2), strict=True):
            holding = [label for text, label in zip(texts, classes, strict=True) if contains(text, key, gap)]
            assert row.tolist() == [holding.count(0), holding.count(1)]


def test_a_phrase_counts_once_in_a_text_and_gaps_have_at_least_one_word():
    found, _ = found_in([[2, 3, 2, 3], [2, 4, 3], [2, 3]], 1)
    assert found[2, 3] == 2
    assert found[2, -1, 3] == 2
    assert found[2, -1, 2] == 1
    assert (3, -1, 2) not in found


def test_a_gap_may_hold_unknown_words_and_is_not_longer_than_allowed():
    found, _ = found_in([[2, UNKNOWN, 3], [2, UNKNOWN, UNKNOWN, 3]], 1, gap=1)
    assert found == {(2,): 2, (3,): 2, (2, -1, 3): 1}
    assert (2, 3) in found_in([[2, 3]], 1, longest=2)[0]
    assert max(map(len, found_in([[2, 3, 4]], 1, longest=2)[0])) == 3
