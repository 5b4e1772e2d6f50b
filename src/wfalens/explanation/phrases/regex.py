"""Phrases as regular expressions for raw text, for Python's `re` (3.11 or newer).

They find a phrase where the tokenizer finds it. Two differences remain: a text that is cut at a length is searched to
its end, and a `"` within a word, which `basic_english` drops, counts as a border between words. No expression
backtracks over a word, so that long texts cannot make one slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Words = Sequence[str | None]  # None: the gap

_MARKS = frozenset(".,()!?'")  # words of their own for basic_english
_PART = r"""[^\s;:".,()!?']"""  # a character of any other word
_APART = r"""(?:[\s;:"]|<br />)*+"""
_BEGINS = rf"(?:(?<!{_PART})|(?<=<br />))(?!<br />|(?<=<br )/>)"  # and not within a line break, which is no word
_ENDS = r"""(?=[\s;:".,()!?']|<br />|\Z)"""
_TOKEN = rf"(?:[.,()!?']|(?:(?!<br />){_PART})++)"


def regular_expression(words: Words, gap: int, tokenizer: str) -> str | None:
    """The phrase for `re.search`; None where the tokenizer is not one of the built-in ones."""
    spell = _SPELLINGS.get(tokenizer)
    return None if spell is None else spell(words, gap)


def _whitespace(words: Words, gap: int) -> str:
    some = rf"\S++(?:\s++\S++){{0,{gap - 1}}}"
    spelled = r"\s++".join(some if word is None else re.escape(word) for word in words)
    return rf"(?<!\S){spelled}(?!\S)"


def _basic_english(words: Words, gap: int) -> str:
    some = rf"{_TOKEN}(?:{_APART}{_TOKEN}){{0,{gap - 1}}}"

    def spelled(word: str | None) -> str:
        if word is None:
            return some
        return re.escape(word) + ("" if word in _MARKS else _ENDS)

    return f"(?i){'' if words[0] in _MARKS else _BEGINS}{_APART.join(map(spelled, words))}"


def _characters(words: Words, gap: int) -> str:
    return f"(?s){''.join(f'.{{1,{gap}}}' if word is None else re.escape(word) for word in words)}"


_SPELLINGS: dict[str, Callable[[Words, int], str]] = {
    "whitespace": _whitespace,
    "basic_english": _basic_english,
    "characters": _characters,
}
