"""Texts are split and words are found outside Python as they are in Python."""

import random
from itertools import pairwise

import numpy as np
import pytest

from tests.automata import sample
from tests.errors import raises
from tests.export.runtime.harness import Exported, assert_bit_equal, needs_gcc, needs_node
from wfalens.export.runtime.fixed_point import make_tables
from wfalens.export.runtime.word_list import empty_words, hashed_words
from wfalens.text import TextEncoder, Vocabulary
from wfalens.text.tokenizers import TOKENIZERS

COMMON = ["basic_english", "strip+title+bigrams", "quotes+lower+ngrams:3"]
OTHERS = [
    "whitespace",
    "characters",
    "bigrams",
    "lower+whitespace",
    "title+whitespace",
    "strip+characters",
    "quotes+basic_english",
    "lower+quotes+strip+whitespace",
    "quotes+title+ngrams:5",
    "strip+lower+strip+ngrams:1",
]
PIECES = [
    *"abyzABYZ019.,()!?'\";:<>/-_$\\`",
    *"éÉñÑøØßẞſıİiIŉǰǅǆﬁﬃΐ",
    *"αβσςΣΑΒΩωάΆ",
    *"жЖяЯґҐꙀꙁ𐐀𐐨𞤀𞤢",
    *"😀👩\u200d🚀𝒜𠀀",  # surrogate pairs
    *"e\u0301o\u0308\u0345\u0307\u00ad",  # combining characters
    *"אבגשלום\u200f\u200eمرحبا\u202e\u061c",  # right to left
    *"漢字かなカナ한글ไทย",
    *"‘’‚‛′“”„‟″«»",
    *" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\x00\x7f",
    *"\ud800\udfff\udc00",  # halves of pairs
    "<br />",
    "<BR />",
    "<bR / >",
    " the ",
    "ΟΔΟΣ",
    "ΣΑΣ ",
    "a'Σ",
    "Σ‚a",
    "K",  # the sign of Kelvin, whose small letter is k
    " ",
    " ",
    "  ",
]


def is_pairless(text: str) -> bool:
    """Whether no two halves stand side by side: JavaScript would read them as one character."""
    return all(not ("\ud800" <= one < "\udc00" <= two < "\ue000") for one, two in pairwise(text))


def any_texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)  # noqa: S311
    made = ("".join(rng.choices(PIECES, k=rng.randrange(1, 40))) for _ in range(4 * count))
    return ["", *[text for text in made if is_pairless(text)][: count - 1]]


def automaton_of(texts: list[str], tokenizer: str, **options):
    """Half of the words of some texts, with random clusters."""
    whole = TextEncoder.of_texts(texts, tokenizer)
    words = whole.vocabulary.words[2::2]
    wfa = sample("shared", 1, n=4, words=len(words) + 2).wfa
    wfa.encoder = TextEncoder(Vocabulary.of_words(words), tokenizer, **options)
    return wfa


@needs_node
@needs_gcc
@pytest.mark.parametrize("tokenizer", [*COMMON, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_texts_of_any_script_are_split_as_in_python(tmp_path, tokenizer):
    texts = any_texts(1500, 3)
    wfa = automaton_of(texts[:500], tokenizer)
    exported = Exported(wfa, tmp_path, sanitized=tokenizer not in COMMON[1:], bits=8)
    explained = [at % 50 == 0 for at in range(len(texts))]
    in_node, in_c = exported.in_node(texts, explained), exported.in_c(texts, explained)
    assert in_node.words == [wfa.encoder.tokens(text) for text in texts]
    assert_bit_equal(in_node, in_c)
    listed = set(wfa.encoder.vocabulary.decode(exported.tables.ids))
    expected = [[int(token in listed) for token in wfa.encoder.tokens(text)] for text in texts]
    assert in_c.known == expected
    assert 0 < sum(map(sum, expected)) < sum(map(len, expected))


@needs_node
@needs_gcc
@pytest.mark.parametrize("side", ["left", "right"])
def test_long_texts_are_cut_on_the_same_side(tmp_path, side):
    texts = [" ".join(f"w{at % 7}" for at in range(length)) for length in (0, 4, 5, 6, 100_000)]
    wfa = automaton_of(texts, "whitespace", max_length=5, truncation_side=side)
    exported = Exported(wfa, tmp_path, bits=8)
    in_node = exported.in_node(texts)
    assert_bit_equal(in_node, exported.in_c(texts))
    assert in_node.words == [wfa.encoder.tokens(text) for text in texts]


@needs_gcc
def test_bytes_that_are_not_utf8_are_read_without_harm(tmp_path):
    rng = np.random.default_rng(0)
    wfa = automaton_of(any_texts(200, 1), "quotes+basic_english")
    texts = [rng.integers(0, 256, size, np.uint8).tobytes() for size in range(0, 60)]
    texts += [text.encode("utf-8", "surrogatepass")[:-1] for text in any_texts(200, 2)]
    found = Exported(wfa, tmp_path, sanitized=True, bits=8).in_c(texts)
    assert all(index in (0, 1, 2, 3) for index in found.index)


@needs_node
@needs_gcc
def test_a_closed_alphabet_refuses_other_words(tmp_path):
    texts = ["a b", "a z", ""]
    wfa = sample("shared", 1, n=4, words=5).wfa
    wfa.encoder = TextEncoder(Vocabulary.of_words(["a", "b", "c"]), "whitespace", closed=True)
    exported = Exported(wfa, tmp_path, bits=8)
    in_node = exported.in_node(texts)
    assert_bit_equal(in_node, exported.in_c(texts))
    assert [index == -2 for index in in_node.index] == [False, True, False]


@pytest.mark.parametrize("tokenizer", ["title+basic_english", "lower+title+whitespace", "title+title+characters"])
def test_two_changes_of_case_are_refused_by_name(tokenizer):
    wfa = automaton_of(["a b c d"], tokenizer)
    with raises("tokenizer", match=tokenizer.replace("+", r"\+")):
        make_tables(wfa, np.arange(2, 4, dtype=np.int32), 8)


def test_a_tokenizer_of_ones_own_is_refused():
    wfa = automaton_of(["a b c d"], "whitespace")
    wfa.encoder = TextEncoder(wfa.encoder.vocabulary, str.split)
    with raises("tokenizer"):
        make_tables(wfa, np.arange(2, 4, dtype=np.int32), 8)


def test_every_named_tokenizer_can_be_exported():
    for name in (*TOKENIZERS, "ngrams:7", *(f"{step}+whitespace" for step in ("lower", "strip", "title", "quotes"))):
        wfa = automaton_of(["a b c d e f g h", "ab"], name)
        assert make_tables(wfa, np.arange(1, 3, dtype=np.int32), 8).numbers["states"] == 4


FIRST = [0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F]
SECOND = [0x165667B1, 0x7FEB352D, 0x846CA68B, 0xC2B2AE35]


def mixed(one: int, two: int) -> int:
    return (one ^ two >> 15) * 0x85EBCA6B % 2**32


def hashes_of(word: str, seed: int) -> tuple[int, int]:
    a = b = seed
    raw = word.encode("utf-8", "surrogatepass")
    for at in range(0, len(raw), 16):
        if at:
            a = mixed(a, b)
            b = mixed(b, a)
        block = np.frombuffer(raw[at : at + 16].ljust(16, b"\0"), "<u4").tolist()
        a = (a + sum(four * factor for four, factor in zip(block, FIRST, strict=True))) % 2**32
        turned = [four >> 16 | four << 16 & 0xFFFF0000 for four in block]
        b = (b + sum(four * factor for four, factor in zip(turned, SECOND, strict=True))) % 2**32
    return mixed((a + len(raw)) % 2**32, b), b


def entry_of(word: str, numbers, arrays, wide: bool) -> int | None:
    """By the description in `hashed_words`, in the plainest way."""
    one, other = hashes_of(word, numbers["word_seed"])
    pilot = int(arrays["pilots"][one * numbers["word_buckets"] >> 32])
    displaced = (other ^ pilot * 0x9E3779B1 % 2**32) * 0x85EBCA6B % 2**32
    slot = arrays["words"].reshape(-1, 4 + wide)[displaced * numbers["word_slots"] >> 32].tobytes()
    return int.from_bytes(slot[3:], "little") if int.from_bytes(slot[:3], "little") == one >> 8 else None


@pytest.mark.parametrize("wide", [False, True])
def test_hashed_words_are_found_and_no_others(wide):
    rng = random.Random(2)  # noqa: S311
    words = list({"".join(rng.choices(PIECES, k=rng.randrange(1, 9))) for _ in range(600)})
    words += ["x" * size for size in (14, 15, 600)]
    own, others = words[::2], words[1::2]
    entries = np.array([rng.randrange(1 << (16 if wide else 8)) for _ in own])
    numbers, arrays = hashed_words(own, entries, others, wide)
    assert [entry_of(word, numbers, arrays, wide) for word in own] == entries.tolist()
    assert [entry_of(word, numbers, arrays, wide) for word in others] == [None] * len(others)
    assert {name: array.nbytes for name, array in arrays.items()} == {
        name: array.nbytes for name, array in empty_words(len(own), wide)[1].items()
    }


def test_no_words_need_no_table():
    numbers, arrays = hashed_words([], np.zeros(0, np.int64), ["a"], False)
    assert numbers["word_slots"] == 0
    assert not any(array.nbytes for array in arrays.values())
