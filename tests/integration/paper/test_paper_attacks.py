"""The words that the paper's attacks may put in: mean squared differences under its bounds."""

import numpy as np
import pytest
from benchmarks.paper.paper_attacks import allowed_candidates, nearest_candidates, paper_context

from wfalens.errors import InputError
from wfalens.text import WordVectors
from wfalens.text.datasets import newsroom


def msq(first, second):
    return float(np.mean(np.square(first - second)))


def test_candidates_keep_both_bounds_and_none_is_missing(newsroom_wfa):
    wfa, vectors = newsroom_wfa, newsroom.vectors()
    found = allowed_candidates(wfa, vectors, 0.7).within(0.7, 0.003)
    vocabulary = wfa.encoder.vocabulary
    words = [word for word in vocabulary.words[2:] if word in vectors]
    for first in np.random.default_rng(0).choice(words, 15, replace=False):
        expected = {
            second
            for second in words
            if second != first
            and msq(vectors[first], vectors[second]) <= 0.7
            and msq(wfa.embedding(first), wfa.embedding(second)) >= 0.003
        }
        assert {vocabulary.words[word] for word in found.word[found.of(vocabulary.id_of(first))]} == expected


def test_nearest_candidates_are_the_nearest(newsroom_wfa):
    vectors = newsroom.vectors()
    found, vocabulary = nearest_candidates(newsroom_wfa, vectors), newsroom_wfa.encoder.vocabulary
    known = vectors.restricted(vocabulary.words[2:])
    for word in ("senate", "coach", "the"):
        run = found.of(vocabulary.id_of(word))
        assert [vocabulary.words[at] for at in found.word[run]] == [known.nearest(word, 1)[0][0]]


def test_bad_input_is_refused(newsroom_wfa):
    with pytest.raises(InputError, match="at most the strong one"):
        paper_context(newsroom_wfa, newsroom.vectors(), 0.9, 0.5)
    strange = WordVectors(["zz", "yy"], np.eye(2, dtype=np.float32), "strange.txt")
    with pytest.raises(InputError, match=r"strange\.txt has vectors for 0 words"):
        paper_context(newsroom_wfa, strange, 0.1, 0.2)
