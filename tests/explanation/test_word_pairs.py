"""Pairs: against all pairs written out, and against the planted synonyms."""

import sys

import numpy as np
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.explanation import word_pairs
from wfalens.text import WordVectors
from wfalens.text.datasets import newsroom


def every_pair(wfa, vectors, min_count, convention="mean_square"):
    words = [
        w for w, c in zip(wfa.encoder.vocabulary.words, wfa.word_counts, strict=True) if c >= min_count and w in vectors
    ]
    for at, first in enumerate(words):
        for second in words[at + 1 :]:
            gaps = wfa.embedding(first) - wfa.embedding(second), vectors[first] - vectors[second]
            if convention == "norm":
                yield (first, second, *(np.linalg.norm(gap) / len(gap) for gap in gaps))
            else:
                yield (first, second, *(np.mean(np.square(gap)) for gap in gaps))


@pytest.mark.parametrize("convention", ["mean_square", "norm"])
def test_pairs_equal_all_pairs_written_out(newsroom_wfa, newsroom_vectors, monkeypatch, convention):
    monkeypatch.setattr(sys.modules["wfalens.explanation.word_pairs"], "_BLOCK", 13)
    everything = list(every_pair(newsroom_wfa, newsroom_vectors, 200, convention))
    d_t, d_s = (np.median([pair[at] for pair in everything]) for at in (2, 3))
    options = {"min_count": 200, "per_class": 10**6, "convention": convention}
    alike = word_pairs(newsroom_wfa, newsroom_vectors, "collaborative", epsilon=d_t, delta=d_s, **options)
    expected = {(a, b) for a, b, t, s in everything if t <= d_t and s >= d_s}
    got = {(pair.first, pair.second) for pair in alike.pairs}
    assert len(got ^ expected) <= 1  # the pair on the median itself may fall to either side
    assert alike.total == len(got)
    unlike = word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", epsilon=d_s, delta=d_t, **options)
    assert (
        len(
            {(p.first, p.second) for p in unlike.pairs} ^ {(a, b) for a, b, t, s in everything if t >= d_t and s <= d_s}
        )
        <= 2
    )
    found = {(a, b): (t, s) for a, b, t, s in everything}
    for pair in unlike.pairs[:20]:
        assert (pair.transition_distance, pair.semantic_distance) == pytest.approx(
            found[pair.first, pair.second], rel=0.01
        )


def test_planted_synonyms_are_found(newsroom_wfa, newsroom_vectors):
    pairs = word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", epsilon=0.1, delta=0.005)
    found = {frozenset((pair.first, pair.second)) for pair in pairs.pairs}
    assert found == {frozenset(pair) for pair in newsroom.TRUTH.synonyms}


def test_collaborative_pairs_share_a_topic(newsroom_wfa, newsroom_vectors):
    pairs = word_pairs(newsroom_wfa, newsroom_vectors, "collaborative", epsilon="q0.01", delta="q0.1", per_class=5)
    strong = pairs.pairs[:10]
    assert all(newsroom.TRUTH.topic_of(p.first) == newsroom.TRUTH.topic_of(p.second) for p in strong)
    assert pairs.epsilon == pytest.approx(pairs.quantiles["d_T"][0.01])
    assert all(pair.first_influence.argmax() == 0 for pair in pairs.of_class("sport"))


def test_tables(newsroom_wfa, newsroom_vectors):
    pairs = word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", epsilon=0.1, delta=0.005)
    assert len(pairs.to_dataframe()) == len(pairs.pairs) == len(pairs.to_dict()["pairs"])
    assert "adversarial pairs" in pairs._repr_html_()


def test_thresholds_that_select_nothing_give_an_empty_result(newsroom_wfa, newsroom_vectors):
    pairs = word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", epsilon=0.0, delta=100.0)
    assert pairs.total == 0
    assert pairs.pairs == ()


@pytest.mark.parametrize("bad", ["q2", "many", -1.0, float("nan"), "qq"])
def test_bad_thresholds_are_refused(newsroom_wfa, newsroom_vectors, bad):
    with pytest.raises(InputError, match="a threshold is a number"):
        word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", epsilon=bad)


def test_vectors_that_cover_nothing_and_unknown_conventions(newsroom_wfa, newsroom_vectors):
    strange = WordVectors(["zz", "yy"], np.eye(2, dtype=np.float32), "strange.txt")
    with raises("few-vectors"):
        word_pairs(newsroom_wfa, strange, "adversarial")
    with raises("option-value"):
        word_pairs(newsroom_wfa, newsroom_vectors, "adversarial", convention="manhattan")
