"""Edits of characters: all texts at distance one, each once, and every one of them a text that can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.errors import InputError
from wfalens.text import TextEncoder
from wfalens.text.character_edits import (
    DELETE,
    INSERT,
    KINDS,
    SUBSTITUTE,
    TRANSPOSE,
    alphabet_of,
    edited_texts,
    single_edits,
)

TEXTS = st.text("ab c", max_size=6)


def by_hand(text, alphabet):
    """All texts at one edit, by the definition."""
    found = set()
    for at in range(len(text) + 1):
        found |= {text[:at] + new + text[at:] for new in alphabet}
        if at < len(text):
            found |= {text[:at] + new + text[at + 1 :] for new in alphabet}
            found.add(text[:at] + text[at + 1 :])
        if at + 1 < len(text):
            found.add(text[:at] + text[at + 1] + text[at] + text[at + 2 :])
    return found - {text}


@given(TEXTS)
def test_all_texts_at_one_edit_are_found_and_nothing_else(text):
    assert {edit.text for edit in single_edits(text, "ab c")} == by_hand(text, "ab c")


@given(TEXTS)
def test_an_edit_tells_what_it_changed(text):
    for edit in single_edits(text, "abc"):
        assert text[: edit.position] + edit.new + text[edit.position + len(edit.old) :] == edit.text


@given(TEXTS)
def test_an_edit_of_each_kind_is_made_once(text):
    for kind in KINDS:
        texts = [edit.text for edit in single_edits(text, "abc", [kind])]
        assert len(texts) == len(set(texts))


def test_the_four_kinds():
    assert [edit.text for edit in single_edits("ab", "x", [SUBSTITUTE])] == ["xb", "ax"]
    assert [edit.text for edit in single_edits("ab", "x", [INSERT])] == ["xab", "axb", "abx"]
    assert [edit.text for edit in single_edits("ab", "x", [DELETE])] == ["b", "a"]
    assert [edit.text for edit in single_edits("ab", "x", [TRANSPOSE])] == ["ba"]
    with pytest.raises(InputError, match="unknown kind of edit 'swap'"):
        list(single_edits("ab", "x", ["swap"]))


@pytest.mark.parametrize("tokenizer", ["characters", "bigrams", "ngrams:3", "strip+lower+bigrams"])
def test_every_edited_text_is_read_as_it_is_spelled(tokenizer):
    encoder = TextEncoder.of_texts(["banana", "bandana", "ananas", "cabana"], tokenizer)
    found = edited_texts(encoder, "banana")
    assert len(found) > 3
    for edit, ids in zip(found.edits, found.ids, strict=True):
        assert encoder.tokens(edit.text) == encoder.vocabulary.decode(ids)
        assert encoder.joined(encoder.vocabulary.decode(ids)) == edit.text.strip()
    read = [tuple(ids) for ids in found.ids]
    assert len(set(read)) == len(read)


def test_texts_with_unknown_tokens_are_left_out():
    encoder = TextEncoder.of_texts(["abc", "bca"], "bigrams")
    assert alphabet_of(encoder) == ("a", "b", "c")
    texts = {edit.text for edit in edited_texts(encoder, "abc").edits}
    assert "aac" not in texts  # "aa" was never seen
    assert "abca" in texts


def test_words_are_not_edited():
    with pytest.raises(InputError, match="changed word by word"):
        edited_texts(TextEncoder.of_texts(["one two"], "whitespace"), "one two")


def test_letters_are_put_in_as_the_text_is_written():
    encoder = TextEncoder.of_texts(["Ab ba", "Ba ab"], "title+characters")
    for text, case in (("ab", str.islower), ("AB", str.isupper)):
        found = [edit.new for edit in edited_texts(encoder, text, ("substitute",)).edits]
        assert found
        assert all(case(letter) for letter in found if letter.isalpha())
