"""Text to tokens."""

from __future__ import annotations

from collections.abc import Callable

from wfalens.errors import InputError

Tokenizer = Callable[[str], list[str]]

_SPLIT_OFF = ".,()!?'"
_BASIC_ENGLISH = str.maketrans({**{mark: f" {mark} " for mark in _SPLIT_OFF}, '"': None, ";": " ", ":": " "})


def basic_english(text: str) -> list[str]:
    """Lower case; `. , ( ) ! ? '` are tokens of their own; `" ; :` and `<br />` are dropped."""
    return text.lower().replace("<br />", " ").translate(_BASIC_ENGLISH).split()


def whitespace(text: str) -> list[str]:
    return text.split()


def characters(text: str) -> list[str]:
    return list(text)


TOKENIZERS: dict[str, Tokenizer] = {
    "basic_english": basic_english,
    "whitespace": whitespace,
    "characters": characters,
}


def tokenizer_named(name: str) -> Tokenizer:
    try:
        return TOKENIZERS[name]
    except KeyError:
        raise InputError(f"unknown tokenizer {name!r}; choose one of {', '.join(TOKENIZERS)}") from None
