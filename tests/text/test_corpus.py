"""Corpora and texts in any container."""

import numpy as np
import pandas as pd
import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.models import wrap
from wfalens.ragged import Ragged
from wfalens.text import Corpus, as_texts

TWO = ("one text", "another")


@pytest.mark.parametrize(
    "given",
    [list(TWO), TWO, np.array(TWO), np.array(TWO, object), pd.Series(TWO, index=[7, 3]), Corpus.of(TWO), iter(TWO)],
    ids=lambda given: type(given).__name__,
)
def test_texts_may_come_in_any_container(given):
    assert tuple(as_texts(given)) == TWO


@pytest.mark.parametrize(
    "given",
    [
        "a single text",
        None,
        6,
        ["a", None],
        [1, 2],
        [["a", "b"]],
        pd.Series(["a", float("nan")]),
        np.zeros((2, 2)),
        pd.DataFrame({"text": TWO}),
        {"a": 1},
        Ragged.from_lists([[1]], np.int32),
        wrap(len, vocab=["a"], classes=["x", "y"], reads="tokens"),
    ],
    ids=repr,
)
def test_what_holds_no_texts_is_refused_in_one_sentence(given):
    with raises("texts") as caught:
        as_texts(given)
    assert len(str(caught.value)) < 200


def test_a_corpus_is_made_of_tables_and_prints_without_its_texts():
    corpus = Corpus.of(pd.Series(["secret one", "secret two", "x"]), np.array([1, 0, 1]), name="mine")
    assert corpus.class_names == ("0", "1")
    for shown in (repr(corpus), str(corpus), corpus._repr_html_()):
        assert "mine" in shown
        assert "secret" not in shown
    assert "3 texts, 2 classes (0 1, 1 2)" in repr(corpus)
    assert len(repr(Corpus.of(["a"] * 900, [f"{at}" * 90 for at in range(900)]))) < 2000
    for labels in (["a"], "ab", 6, ["a", None, "b"]):
        with raises("labels"):
            Corpus.of(["a", "b", "c"], labels)


def test_split_keeps_class_shares_and_loses_nothing():
    corpus = Corpus.of([str(i) for i in range(100)], ["a" if i < 80 else "b" for i in range(100)])
    first, second = corpus.split(0.25, np.random.default_rng(0))
    assert np.bincount(second.labels).tolist() == [20, 5]
    assert sorted(first.texts + second.texts, key=int) == list(corpus.texts)


def test_a_sample_is_random_in_order_and_bounded():
    corpus = Corpus.of([str(i) for i in range(100)], ["a" if i < 80 else "b" for i in range(100)])
    drawn = corpus.sample(30, seed=1)
    numbers = [int(text) for text in drawn.texts]
    assert len(set(numbers)) == 30
    assert numbers == sorted(numbers) != list(range(30))
    assert drawn.labels.tolist() == [int(number >= 80) for number in numbers]
    assert drawn.texts == corpus.sample(30, seed=1).texts != corpus.sample(30, seed=2).texts
    assert corpus.sample(100, seed=1).texts == corpus.sample(None, seed=1).texts == corpus.texts


def test_relabelled_follows_names():
    corpus = Corpus.of(["x", "y"], ["b", "a"])
    assert corpus.relabelled(("b", "c", "a")).labels.tolist() == [0, 2]
    with pytest.raises(InputError, match="label 'b' of corpus is not one of the classes a"):
        corpus.relabelled(("a",))
