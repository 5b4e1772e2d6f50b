"""Text to tokens, by a name that files, model cards, the command line and the page know.

A name is a tokenizer, with normalisers before it: "bigrams", "ngrams:3", "strip+title+bigrams". A tokenizer of one's
own has its import path for a name, "package.module:function"; it is code, and runs only where somebody allowed it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from wfalens.errors import InputError
from wfalens.messages import quoted, reason_of, shortened
from wfalens.validation import Bounds, whole

Tokenizer = Callable[[str], list[str]]

_SPLIT_OFF = ".,()!?'"
_BASIC_ENGLISH = str.maketrans({**{mark: f" {mark} " for mark in _SPLIT_OFF}, '"': None, ";": " ", ":": " "})
_QUOTES = str.maketrans("‘’‚‛′“”„‟″«»", "'''''" + '"' * 7)
_NGRAMS = re.compile(r"ngrams:([1-9]\d?)")
_IMPORT_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def basic_english(text: str) -> list[str]:
    """Lower case; `. , ( ) ! ? '` are tokens of their own; `" ; :` and `<br />` are dropped."""
    return text.lower().replace("<br />", " ").translate(_BASIC_ENGLISH).split()


def whitespace(text: str) -> list[str]:
    return text.split()


def characters(text: str) -> list[str]:
    return list(text)


def ngrams(size: int, text: str) -> list[str]:
    """All runs of `size` characters, one after each character but the last ones; none of a shorter text."""
    return [text[at : at + size] for at in range(len(text) - size + 1)]


def quotes(text: str) -> str:
    """Typographic quotation marks and apostrophes as on a typewriter."""
    return text.translate(_QUOTES)


LENGTHS = Bounds(whole, 1, 1 << 40, (None,))  # at which texts may be cut
CUSTOM = "custom"  # the name of a function, that files cannot store
TOKENIZERS: dict[str, Tokenizer] = {
    "basic_english": basic_english,
    "whitespace": whitespace,
    "characters": characters,
    "bigrams": partial(ngrams, 2),
}
NORMALISERS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "strip": str.strip,
    "title": str.title,
    "quotes": quotes,
}
KNOWN = f"{', '.join(TOKENIZERS)} or ngrams:N, after any of {', '.join(f'{name}+' for name in NORMALISERS)}"
_ALLOWED: dict[str, Tokenizer] = {}


def tokenizer_named(name: str) -> Tokenizer:
    """The built-in tokenizer of that name, or one by its import path that was allowed."""
    if name in _ALLOWED:
        return _ALLOWED[name]
    if is_import_path(name):
        raise InputError(
            f"the tokenizer {shortened(name)} is code of its own, which runs only if you allow it: call "
            f"wfalens.text.allow_tokenizer({shortened(name, 120)!r}) first",
            code="tokenizer",
        )
    *before, last = name.split("+")
    split = TOKENIZERS.get(last)
    size = _NGRAMS.fullmatch(last)
    if size is not None:
        split = partial(ngrams, int(size[1]))
    if split is None or not all(step in NORMALISERS for step in before):
        raise InputError(f"unknown tokenizer {quoted(name)}; choose one of {KNOWN}, or package.module:function")
    return partial(_normalised, [NORMALISERS[step] for step in before], split) if before else split


def is_import_path(name: str) -> bool:
    """Whether a name stands for a tokenizer of one's own, which must be allowed before it runs."""
    return _IMPORT_PATH.fullmatch(name) is not None and _NGRAMS.fullmatch(name) is None


def is_allowed(path: str) -> bool:
    return path in _ALLOWED


def allow_tokenizer(path: str) -> Tokenizer:
    """Import a tokenizer by its path, which runs its code, and let files and cards name it.

    Args:
        path: "package.module:function"; the function takes a text and returns the list of its tokens.

    Examples:
        >>> from wfalens.text import allow_tokenizer
        >>> allow_tokenizer("shlex:split")("two 'three four'")
        ['two', 'three four']
    """
    _ALLOWED[path] = imported(path, "the tokenizer")
    return _ALLOWED[path]


def imported(path: str, what: str) -> Callable[..., Any]:
    """The function of an import path, package.module:function; importing it runs its code."""
    module, _, name = path.partition(":")
    if not is_import_path(path):
        raise InputError(f"{path!r} is not an import path; write package.module:function", code="import-path")
    try:
        found = reduce(getattr, name.split("."), importlib.import_module(module))
    except Exception as error:  # it is somebody's code
        raise InputError(f"{what} {path} cannot be imported ({reason_of(error)})", code="import-path") from None
    if not callable(found):
        raise InputError(f"{what} {path} is not a function", code="import-path")
    return found


def path_of(tokenizer: Tokenizer) -> str | None:
    """The import path by which a function was allowed; None: it was not."""
    return next((path for path, allowed in _ALLOWED.items() if allowed is tokenizer), None)


def checked_tokens(tokenize: Tokenizer, text: str) -> list[str]:
    """What a tokenizer of one's own makes of a text, refused if it fails or returns no list of strings."""
    try:
        tokens: object = tokenize(text)
    except Exception as error:  # it is somebody's code
        raise InputError(f"the tokenizer fails on the text {quoted(text)} ({reason_of(error)})") from error
    if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
        raise InputError(f"the tokenizer returned {shortened(repr(tokens))}; it must return a list of strings")
    return list(tokens)


def characters_each(name: str) -> int | None:
    """How many characters every token of a named tokenizer has; None: tokens are words."""
    last = name.rpartition("+")[2]
    size = _NGRAMS.fullmatch(last)
    return int(size[1]) if size else {"characters": 1, "bigrams": 2}.get(last)


def joined(tokens: Sequence[str], name: str) -> str:
    """The text that tokens of a named tokenizer stand for: words with blanks between them, characters with nothing.

    Of n-grams that overlap, each adds its last character; one that does not fit to the one before is written out.
    """
    size = characters_each(name)
    if size is None:
        return " ".join(tokens)
    text = ""
    for token in tokens:
        overlap = size - 1
        fits = overlap and len(text) >= overlap and token[:overlap] == text[-overlap:]
        text += token[overlap:] if fits else token
    return text


def _normalised(steps: Sequence[Callable[[str], str]], split: Tokenizer, text: str) -> list[str]:
    for step in steps:
        text = step(text)
    return split(text)
