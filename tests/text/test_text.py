"""Tokenizers, vocabulary, encoder, corpus."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.models import wrap
from wfalens.ragged import Ragged, concatenate
from wfalens.text import Corpus, TextEncoder, Vocabulary, as_texts
from wfalens.text.tokenizers import basic_english, characters, whitespace


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World!", ["hello", ",", "world", "!"]),
        ("it's 3.5%", ["it", "'", "s", "3", ".", "5%"]),
        ('say "a;b:c"', ["say", "a", "b", "c"]),
        ("(what?)", ["(", "what", "?", ")"]),
        ("one<br />two", ["one", "two"]),
        ("  \n\t ", []),
        ("Ångström 👍🏽", ["ångström", "👍🏽"]),
    ],
)
def test_basic_english(text, tokens):
    assert basic_english(text) == tokens


def test_whitespace_and_characters():
    assert whitespace(" A  b ") == ["A", "b"]
    assert characters("a b") == ["a", " ", "b"]


def test_padding_and_unknown_are_different_ids():
    vocabulary = Vocabulary.build([["b", "a", "b"], ["c"]])
    assert vocabulary.words == ("<pad>", "<unk>", "b", "a", "c")
    assert vocabulary.id_of("<pad>") == vocabulary.id_of("zzz") == vocabulary.id_of("<unk>") == 1
    assert vocabulary.encode([["a", "zzz"], [], ["<pad>"]]).values.tolist() == [3, 1, 1]


def test_vocabulary_limits_and_refusals():
    assert Vocabulary.build([["a", "a", "b"]], min_count=2).words[2:] == ("a",)
    assert Vocabulary.build([["a", "a", "b", "c"]], max_size=1).words[2:] == ("a",)
    assert Vocabulary.of_words(["<unk>", "x"]).words == ("<pad>", "<unk>", "x")
    with pytest.raises(InputError, match="'x' stands twice"):
        Vocabulary.of_words(["x", "x"])
    with pytest.raises(InputError, match="starts with"):
        Vocabulary(["a"])


def test_a_dictionary_keeps_its_ids_and_swaps_nothing():
    vocabulary, ids = Vocabulary.from_ids({"<unk>": 0, "<pad>": 1, "film": 9, "good": 4})
    assert dict(zip(vocabulary.words, ids.tolist(), strict=True)) == {"<unk>": 0, "<pad>": 1, "film": 9, "good": 4}
    vocabulary, ids = Vocabulary.from_ids({"": 0, "[UNK]": 1, "a": 2})  # as Keras has it
    assert (vocabulary.words, ids.tolist()) == (("<pad>", "<unk>", "a"), [0, 1, 2])
    assert Vocabulary.from_ids({"a": 1}, closed=True)[1].tolist() == [0, 0, 1]
    for ids_of, code in (
        ({"a": 1, "b": 1, "<unk>": 0}, "ids"),
        ({"a": 0.5, "<unk>": 0}, "ids"),
        ({"a": -1}, "ids"),
        ({"a": 1}, "no-unknown-word"),
    ):
        with raises(code):
            Vocabulary.from_ids(ids_of)
    with raises("ids"):
        Vocabulary.of_words({"a": 2})


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


def test_encoder_cuts_and_takes_any_callable():
    encoder = TextEncoder(Vocabulary.of_words("abc"), lambda text: list(text.lower()), 2)
    assert encoder.tokens("ABC") == ["a", "b"]
    assert encoder.tokenizer_name == "custom"
    assert encoder.count_cut(["a", "ab", "abc"]) == 1
    with pytest.raises(InputError, match="give it again"):
        TextEncoder(encoder.vocabulary, "custom").encode(["a"])
    with pytest.raises(InputError, match="unknown tokenizer 'nope'; choose one of basic_english"):
        TextEncoder(encoder.vocabulary, "nope")
    with pytest.raises(InputError, match="list of texts"):
        encoder.encode("abc")


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


ragged_lists = st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8)


@given(ragged_lists, st.randoms())
def test_ragged_take_cut_padded_chunks(items, random):
    ragged = Ragged.from_lists(items, np.int32)
    assert [list(item) for item in ragged] == items
    order = list(range(len(items)))
    random.shuffle(order)
    assert [list(item) for item in ragged.take(np.array(order, np.int64))] == [items[i] for i in order]
    assert [list(item) for item in ragged.cut(2)] == [item[:2] for item in items]
    table = ragged.padded(-1)
    assert [[v for v in row if v >= 0] for row in table.tolist()] == items
    if items:
        parts = list(ragged.chunks(4))
        assert [list(item) for item in concatenate(parts)] == items
