"""The class-based bigram model that an automaton carries."""

import numpy as np
import pytest

from tests.automata import sample
from wfalens import WFA
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError
from wfalens.ragged import Ragged


def test_a_small_alphabet_has_the_plain_bigram_counts():
    bigrams = WordBigrams.of_texts(Ragged.from_lists([[2, 3, 2], [3]], np.int32), 4)
    one, two = bigrams.cluster[2], bigrams.cluster[3]
    edge = len(bigrams.counts) - 1
    expected = {(edge, one): 1, (one, two): 1, (two, one): 1, (one, edge): 1, (edge, two): 1, (two, edge): 1}
    assert {(a, b): bigrams.counts[a, b] for a, b in zip(*np.nonzero(bigrams.counts), strict=True)} == expected
    np.testing.assert_allclose(bigrams.transitions.sum(1), 1)
    assert bigrams.transitions.min() > 0


def test_words_that_keep_the_same_company_share_a_cluster():
    rng = np.random.default_rng(0)
    subjects, verbs = np.arange(2, 22), np.arange(22, 42)
    texts = [[int(rng.choice(subjects)), int(rng.choice(verbs))] * 2 for _ in range(2000)]
    bigrams = WordBigrams.of_texts(Ragged.from_lists(texts, np.int32), 42, clusters=2)
    assert len(set(bigrams.cluster[subjects])) == len(set(bigrams.cluster[verbs])) == 1
    assert bigrams.cluster[2] != bigrams.cluster[22]
    shares = bigrams.word_shares(np.bincount(np.concatenate(texts), minlength=42))
    np.testing.assert_allclose(shares.sum(1), 1)


def test_bigrams_are_stored_and_checked(tmp_path):
    wfa = sample("probe", 1, words=6).wfa
    wfa.bigrams = WordBigrams.of_texts(Ragged.from_lists([[2, 3, 2, 5], [4]], np.int32), 6)
    wfa.save(tmp_path / "a.wfa")
    read = WFA.load(tmp_path / "a.wfa").bigrams
    np.testing.assert_array_equal(read.cluster, wfa.bigrams.cluster)
    np.testing.assert_array_equal(read.counts, wfa.bigrams.counts)
    with pytest.raises(InputError):
        WordBigrams(np.array([0, 9], np.int32), np.ones((3, 3), np.int64))
