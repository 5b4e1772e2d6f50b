"""Regular expressions find a phrase in raw text where the tokenizer finds it."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.explanation.phrases_plain import contains
from wfalens.explanation.phrases import regular_expression
from wfalens.text.tokenizers import TOKENIZERS

PLAIN = st.sampled_from(["a", "b", "a.b", "(", "b|a", "*", "ab", "A"])
ENGLISH = st.sampled_from(["a", "b", "ab", ".", "'", "!", "a-b", "<b", "<br", "br", "/>", "+"])
PIECES = ["a", "B", "ab", ".", "'", "!", "a-b", "<b", "+", " ", "\n", ";", ": ", "<br />", "<BR />", ' "', '" ', "  "]


def phrases(words):
    plain = st.lists(words, min_size=1, max_size=4)
    return plain.flatmap(
        lambda row: st.integers(0, len(row) - 1).map(lambda at: row[:at] + [None] * (at > 0) + row[at:])
    )


def agrees(text, phrase, gap, tokenizer):
    found = re.search(regular_expression(phrase, gap, tokenizer), text) is not None
    assert found == contains(TOKENIZERS[tokenizer](text), phrase, gap)


@given(st.lists(PLAIN, max_size=12), st.sampled_from([" ", "\n", "\t  ", "\u3000"]), phrases(PLAIN), st.integers(1, 3))
def test_texts_with_spaces(words, space, phrase, gap):
    agrees(space.join(words), phrase, gap, "whitespace")


@example("<br />", ["/>"], 1)
@example("a<br /><br />b", ["a", None, "b"], 2)
@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), phrases(ENGLISH), st.integers(1, 3))
def test_english_texts_with_punctuation_and_line_breaks(text, phrase, gap):
    agrees(text, phrase, gap, "basic_english")


@given(st.text("ab.\n", max_size=12), phrases(st.sampled_from("ab.\n")), st.integers(1, 3))
def test_texts_of_characters(text, phrase, gap):
    agrees(text, phrase, gap, "characters")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is NOT good.", False),
        ("It is NOT very good.", True),
        ("not so very, good", True),
        ('"not" a "good" one', True),
        ("not<br />at all<br />good", True),
        ("not one two three four good", False),
        ("cannot be good", False),
        ("not be goodness", False),
    ],
)
def test_not_and_good_at_a_distance(text, found):
    assert (re.search(regular_expression(["not", None, "good"], 3, "basic_english"), text) is not None) == found


def test_there_is_none_for_a_tokenizer_that_is_not_known():
    assert regular_expression(["a"], 3, "custom") is None


@pytest.mark.parametrize("tokenizer", ["whitespace", "basic_english"])
def test_long_words_are_not_tried_piece_by_piece(tokenizer):
    """Backtracking over the word in the gap would take hours."""
    text = "not " + "x" * 300_000 + " bad"
    assert re.search(regular_expression(["not", None, "good"], 20, tokenizer), text) is None
