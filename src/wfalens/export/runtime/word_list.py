"""How a text becomes entries of the tables: the tokenizer as numbers, letters and their case, and the list of words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.encoder import LEFT, TextEncoder
from wfalens.text.tokenizers import CUSTOM, characters_each, is_import_path

BLOCK = 16  # words that share beginnings; the first of a block is spelled out
_NIBBLE = 15
_CODE_POINTS = 0x110000
_SIGMAS = "σς"
QUOTES_FIRST, QUOTES_LAST = 1, 2  # before or after a change of case
Numbers = dict[str, int]
Arrays = dict[str, NDArray[Any]]


def tokenizer_tables(encoder: TextEncoder) -> tuple[Numbers, Arrays]:
    """A tokenizer that files know by name, as numbers and tables of letters; others are rejected by name."""
    *steps, last = encoder.tokenizer_name.split("+")
    size, is_basic = characters_each(encoder.tokenizer_name), last == "basic_english"
    if encoder.tokenizer_name == CUSTOM or is_import_path(encoder.tokenizer_name):
        raise InputError(
            f"the tokenizer {encoder.tokenizer_name!r} is code of its own, which cannot be exported", code="tokenizer"
        )
    cases = [step for step in steps if step in ("lower", "title")] + ["lower"] * is_basic
    if "title" in cases and len(cases) > 1:
        raise InputError(
            f"the tokenizer {encoder.tokenizer_name!r} changes case twice, which cannot be exported", code="tokenizer"
        )
    lower, title, quotes = "lower" in cases, "title" in cases, 0
    if "quotes" in steps:
        first_case = min((steps.index(name) for name in ("lower", "title") if name in steps), default=len(steps))
        quotes = QUOTES_FIRST if steps.index("quotes") < first_case else QUOTES_LAST
    letters = set("".join(encoder.vocabulary.words[2:]))
    sigma = (lower or title) and not letters.isdisjoint(_SIGMAS)
    numbers = {
        "gram": size or 0,
        "basic": int(is_basic),
        "lower": int(lower),
        "title": int(title),
        "strip": int("strip" in steps),
        "quotes": quotes,
        "sigma": int(sigma),
        "max_length": encoder.max_length or 0,
        "keeps_end": int(encoder.truncation_side == LEFT),
        "closed": int(encoder.closed),
    }
    none = np.zeros(0, np.int32)
    return numbers, {
        "lower_runs": _runs_of(_lower_map()) if lower or title else none,
        "title_runs": _runs_of(_title_map()) if title else none,
        "title_long": _long_titles() if title else none,
        "cased": _ranges(_cased()) if sigma or title else none,
        "ignorable": _ranges(_ignorable()) if sigma else none,
    }


def packed_words(words: Sequence[str], entries: NDArray[np.int64], wide: bool) -> tuple[Arrays, int]:
    """The words with their entries, sorted by their bytes and front-coded in blocks; and the longest word's bytes.

    A word is a byte with the length of what it shares with the one before (high half) and of its own rest (low half;
    after 15, bytes to add follow, up to one that is not 255), the rest, and the entry in one byte or two.
    """
    spelled = [word.encode("utf-8", "surrogatepass") for word in words]
    order = sorted(range(len(words)), key=spelled.__getitem__)
    made, starts, before = bytearray(), [], b""
    for place, at in enumerate(order):
        word = spelled[at]
        if place % BLOCK == 0:
            starts.append(len(made))
            before = b""
        shared = 0
        while shared < min(_NIBBLE, len(before), len(word)) and before[shared] == word[shared]:
            shared += 1
        rest, more = len(word) - shared, len(word) - shared - _NIBBLE
        made.append(shared << 4 | min(rest, _NIBBLE))
        if more >= 0:
            made += bytes([255] * (more // 255) + [more % 255])
        made += word[shared:] + int(entries[at]).to_bytes(2 if wide else 1, "little")
        before = word
    offsets = np.array(starts, np.uint16 if len(made) < 1 << 16 else np.uint32)
    arrays = {"words": np.frombuffer(bytes(made), np.uint8), "blocks": offsets}
    return arrays, max(map(len, spelled), default=0)


@cache
def _lower_map() -> dict[int, int]:
    """Code points that become one other; U+0130, which becomes two, is written out in the runtimes."""
    pairs = ((code, chr(code).lower()) for code in range(_CODE_POINTS))
    return {code: ord(low) for code, low in pairs if len(low) == 1 and ord(low) != code}


@cache
def _title_map() -> dict[int, int]:
    pairs = ((code, chr(code).title()) for code in range(_CODE_POINTS))
    return {code: ord(high) for code, high in pairs if len(high) == 1 and ord(high) != code}


def _long_titles() -> NDArray[np.int32]:
    """Code points whose titles have two or three; rows of four, filled up with 0."""
    rows = [
        [code, *(ord(each) for each in high), 0][:4]
        for code in range(_CODE_POINTS)
        if len(high := chr(code).title()) > 1
    ]
    return np.array(rows, np.int32).ravel()


@cache
def _cased() -> list[int]:
    """What a following letter shows: in titles it is a capital unless a cased character stands before it."""
    return [code for code in range(_CODE_POINTS) if (chr(code) + "a").title()[-1] == "a"]


@cache
def _ignorable() -> list[int]:
    """What lower-casing looks through when it decides whether a sigma ends a word."""
    return [
        code
        for code in range(_CODE_POINTS)
        if f"aΣ{chr(code)}a".lower()[1] == "σ" and f"aΣ{chr(code)}".lower()[1] == "ς"
    ]


def _runs_of(mapping: dict[int, int]) -> NDArray[np.int32]:
    """Runs of code points that move equally far: rows of the first, the last, the step (1 or 2) and the distance."""
    runs: list[list[int]] = []
    for code in sorted(mapping):
        move = mapping[code] - code
        if runs:
            first, last, step, distance = runs[-1]
            gap = code - last
            if move == distance and gap <= 2 and (first == last or gap == step):
                runs[-1][1:3] = [code, gap]
                continue
        runs.append([code, code, 1, move])
    return np.array(runs, np.int32).ravel()


def _ranges(codes: Sequence[int]) -> NDArray[np.int32]:
    """Rows of the first and the last of neighbouring numbers."""
    values = np.array(codes, np.int32)
    breaks = np.flatnonzero(np.diff(values) != 1)
    firsts, lasts = values[np.append(0, breaks + 1)], values[np.append(breaks, len(values) - 1)]
    return np.stack([firsts, lasts], 1).ravel()
