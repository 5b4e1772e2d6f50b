"""Names of words: any text becomes an identifier and comes back."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from tests.export.conformance import NASTY
from wfalens.errors import FormatError
from wfalens.export import escape, unescape
from wfalens.export.symbols import symbol_table

texts = st.text(st.characters(exclude_categories=()), max_size=12)


@given(texts, st.sampled_from(["w", "class"]))
def test_a_name_is_an_identifier_that_gives_back_the_text(text, prefix):
    name = escape(text, prefix)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
    assert unescape(name, prefix) == text


@given(st.lists(texts, unique=True, max_size=20))
def test_a_symbol_table_gives_back_the_words_in_their_order(words):
    text = symbol_table(words)
    assert text.isascii()
    lines = [line.split("\t") for line in text.splitlines()]
    assert lines[0] == ["<eps>", "0"]
    assert [(unescape(name), int(number)) for name, number in lines[1:]] == [
        (word, number) for number, word in enumerate(words, 1)
    ]


def test_nasty_words_have_readable_names():
    assert [escape(word) for word in ("film", "don't", "a_b", "22")] == ["w_film", "w_don_27_t", "w_a__b", "w_22"]
    assert len({escape(word) for word in NASTY}) == len(NASTY)


@given(st.text("w_0af2A", max_size=9))
@example("w_110000_")
@example("w__ffffffffffffffff_")
@example("w__41_")
def test_a_name_is_read_exactly_if_it_is_one_that_we_write(name):
    try:
        text = unescape(name)
    except FormatError:
        assert not name.startswith("w_") or not re.fullmatch(r"[A-Za-z0-9]*", name[2:])
    else:
        assert escape(text) == name
