"""Words that no writer typed are told from those that somebody did."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.text.word_checks import CONTROL, ENCODING, MARKUP, find_mojibake

_FOREIGN = ["é", "ü", "ñ", "ı", "ş", "ğ", "č", "ł", "ö", "β", "λ", "ж", "я", "א", "ש"]


@pytest.mark.parametrize("letter", _FOREIGN)
@pytest.mark.parametrize("lowered", [False, True])
def test_utf8_that_was_read_as_latin_1_is_a_broken_encoding(letter, lowered):
    broken = f"ab{letter}c".encode().decode("latin-1")
    assert find_mojibake(broken.lower() if lowered else broken) == ENCODING


@pytest.mark.parametrize("word", ["don\u2019t", "\u201cyes\u201d", "wait\u2026", "naïve", "\u20ac5"])
def test_utf8_that_was_read_as_windows_1252_is_a_broken_encoding(word):
    assert find_mojibake(word.encode().decode("cp1252", "replace")) == ENCODING


_TYPED = [
    "ä",
    "så",
    "på»",
    "naïve",
    "garçon",
    "señor",
    "då…",
    "ångström",
    "ţară",
    "москва",
    "שלום",
    "l'été»",
    "٣",
    "👩\u200d👧",
    "20°",
    "½",
    "±5",
    "r&b",
    "at&t",
    "a<b",
    "’",
    "–",
]


@pytest.mark.parametrize("word", [*_TYPED, "\n", " "])
def test_what_writers_type_is_not_damaged(word):
    assert find_mojibake(word) is None


_DAMAGED = {
    CONTROL: ("a\x00b", "\x96", "\u200bfree", "\ufeff", "\ue000"),
    ENCODING: ("caf\ufffd", "ä±"),
    MARKUP: ("&amp;", "&#39", "<br", "<br/>", "br/>"),
}


@pytest.mark.parametrize(("kind", "word"), [(kind, word) for kind, words in _DAMAGED.items() for word in words])
def test_each_damage_has_its_name(kind, word):
    assert find_mojibake(word) == kind


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="&<>"), max_size=9))
def test_plain_ascii_without_markup_is_never_damaged(word):
    assert find_mojibake(word) is None
