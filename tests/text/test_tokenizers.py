"""Tokenizers by name, with normalisers before them, and tokenizers of one's own by their import path."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.text import TextEncoder, Vocabulary, allow_tokenizer
from wfalens.text.tokenizers import basic_english, characters, joined, tokenizer_named, whitespace


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("bigrams", "Smith", ["Sm", "mi", "it", "th"]),
        ("bigrams", "S", []),
        ("ngrams:3", "Smith", ["Smi", "mit", "ith"]),
        ("ngrams:1", "a b", ["a", " ", "b"]),
        ("strip+title+bigrams", " o'NEIL ", ["O'", "'N", "Ne", "ei", "il"]),
        ("quotes+whitespace", "“so” ‘it’ «goes» don’t", ['"so"', "'it'", '"goes"', "don't"]),
        ("lower+characters", "aB", ["a", "b"]),
    ],
)
def test_a_name_says_how_a_text_is_split(name, text, tokens):
    assert tokenizer_named(name)(text) == tokens


@pytest.mark.parametrize("name", ["trigrams", "ngrams:0", "ngrams:", "ngrams:x+", "shout+bigrams", "bigrams+lower", ""])
def test_unknown_names_are_refused_with_the_choice(name):
    with pytest.raises(InputError, match=r"unknown tokenizer .* choose one of basic_english, .* ngrams:N"):
        tokenizer_named(name)


@given(st.text(max_size=12), st.integers(1, 4))
def test_the_tokens_of_a_text_spell_it(text, size):
    tokens = tokenizer_named(f"ngrams:{size}")(text)
    if tokens:
        assert joined(tokens, f"ngrams:{size}") == text


def test_tokens_that_do_not_overlap_are_written_out():
    assert joined(["Sm", "mi", "xt"], "bigrams") == "Smixt"
    assert joined(["a", "b"], "lower+characters") == "ab"
    assert joined(["a", "b"], "whitespace") == "a b"


@given(st.lists(st.text("ab ", max_size=9), min_size=1, max_size=5), st.integers(1, 4))
def test_cutting_on_the_left_keeps_the_end_of_a_text(texts, most):
    words = Vocabulary.of_words("ab")
    for name in ("whitespace", "characters"):
        whole = TextEncoder(words, name).encode(texts)
        for copies in (1, 100):  # a few texts, and enough for the compiled encoder
            cut = TextEncoder(words, name, most, "left").encode(texts * copies)
            for item in range(len(texts)):
                np.testing.assert_array_equal(cut[item], whole[item][-most:])


def test_a_closed_alphabet_refuses_what_it_lacks():
    encoder = TextEncoder(Vocabulary.of_words("ab"), "characters", closed=True)
    np.testing.assert_array_equal(encoder.encode(["ab"]).values, [2, 3])
    with pytest.raises(InputError, match=r"alphabet is closed, but 'c' in the text 'abc' is not one of its 2 symbols"):
        encoder.encode(["ab", "abc"])
    many = replace(encoder, tokenizer="whitespace")
    with pytest.raises(InputError, match=r"but '<unk>' in the text 'b <unk>'"):
        many.encode(["a"] * 100 + ["b <unk>"])
    with pytest.raises(InputError, match="between 2 and 3"):
        encoder.checked(encoder.vocabulary.encode([["<unk>"]]))
    with pytest.raises(InputError, match="at least one symbol"):
        TextEncoder(Vocabulary.of_words(""), "characters", closed=True)


def test_words_that_are_no_vocabulary_are_refused():
    with pytest.raises(InputError, match=r"takes a Vocabulary, not dict; give Vocabulary.of_words\(words\)"):
        TextEncoder({"good": 2})


def test_an_unknown_side_is_refused():
    with pytest.raises(InputError, match="unknown truncation_side 'top'; choose one of right, left"):
        TextEncoder(Vocabulary.of_words("ab"), truncation_side="top")


@pytest.fixture
def own_tokenizers(tmp_path, monkeypatch):
    """A module that nobody has imported yet."""
    (tmp_path / "house_tokens.py").write_text(
        "def commas(text):\n    return text.split(',')\n"
        "def numbers(text):\n    return [len(part) for part in text.split(',')]\n"
        "constant = 3\n"
    )
    (tmp_path / "broken_tokens.py").write_text("def function(text) return text\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "house_tokens"
    sys.modules.pop("house_tokens", None)


def test_a_tokenizer_of_ones_own_runs_only_after_it_is_allowed(own_tokenizers):
    encoder = TextEncoder(Vocabulary.of_words(["a b", "c"]), "house_tokens:commas")
    with raises("tokenizer"):
        encoder.encode(["a b,c"])
    assert own_tokenizers not in sys.modules
    allow_tokenizer("house_tokens:commas")
    again = TextEncoder(encoder.vocabulary, "house_tokens:commas")
    np.testing.assert_array_equal(again.encode(["a b,c"]).values, [2, 3])
    assert again.settings["tokenizer"] == "house_tokens:commas"


def test_the_function_that_was_allowed_is_stored_by_its_path(own_tokenizers):
    encoder = TextEncoder(Vocabulary.of_words(["a b", "c"]), allow_tokenizer("house_tokens:commas"))
    assert encoder.settings["tokenizer"] == "house_tokens:commas"
    np.testing.assert_array_equal(encoder.encode(["a b,c"]).values, [2, 3])
    assert replace(encoder, tokenizer=str.split).settings["tokenizer"] == "custom"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("house_tokens", "write package.module:function"),
        ("ngrams:3", "write package.module:function"),
        ("house_tokens:nothing", r"house_tokens:nothing cannot be imported \(.*nothing"),
        ("no_such_package:function", "cannot be imported"),
        ("broken_tokens:function", r"cannot be imported \(.*broken_tokens.py, line 1"),
        ("house_tokens:constant", "is not a function"),
    ],
)
def test_paths_without_a_tokenizer_are_refused(own_tokenizers, path, reason):
    with pytest.raises(InputError, match=reason):
        allow_tokenizer(path)


def test_a_tokenizer_that_returns_no_strings_is_refused(own_tokenizers):
    allow_tokenizer("house_tokens:numbers")
    words = Vocabulary.of_words("ab")
    with pytest.raises(InputError, match=r"the tokenizer returned \[1, 2\]; it must return a list of strings"):
        TextEncoder(words, "house_tokens:numbers").encode(["a,bb"])
    with pytest.raises(InputError, match=r"the tokenizer returned 'A'; it must return a list of strings"):
        TextEncoder(words, str.upper).encode(["a"])


def test_a_tokenizer_that_fails_is_told_with_the_text():
    encoder = TextEncoder(Vocabulary.of_words("ab"), lambda text: [text[5]])
    with pytest.raises(InputError, match=r"the tokenizer fails on the text 'ab' \(string index out of range\)"):
        encoder.encode(["ab"])


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
