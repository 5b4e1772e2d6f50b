"""How a text becomes entries of the tables: the tokenizer as numbers, letters and their case, and a hash of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.encoder import LEFT, TextEncoder
from wfalens.text.tokenizers import CUSTOM, characters_each, is_import_path

_SPARE, _PER_BUCKET, _MOST_SEEDS = 32, 4, 64  # of the perfect hash: a slot in so many is free
_PILOTS = np.split(np.arange(1 << 16, dtype=np.uint16)[:, None], [64, 512, 4096, 16384, 32768, 49152])  # as tried
_GROUPS = np.array(  # of both hashes: what four bytes are multiplied by, in the second hash with halves exchanged
    [[0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F], [0x165667B1, 0x7FEB352D, 0x846CA68B, 0xC2B2AE35]], np.uint32
)
_SHIFTS = np.array([[0, 8, 16, 24], [16, 24, 0, 8]], np.uint32)
_WEIGHTS = (_GROUPS[:, :, None] << _SHIFTS[:, None]).reshape(2, -1)  # (2, 16): of the bytes of a block
_PILOT_MULTIPLIER, _MIXER, _BLOCK = np.array([0x9E3779B1], np.uint32), np.uint32(0x85EBCA6B), 16
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
        "lower_runs": _runs_of(_moves(str.lower)) if lower or title else none,
        "title_runs": _runs_of(_moves(str.title)) if title else none,
        "title_long": _long_titles() if title else none,
        "cased": _ranges(_cased()) if sigma or title else none,
        "ignorable": _ranges(_ignorable()) if sigma else none,
        "plain": _plain_bytes(lower, title, is_basic) if not size else np.zeros(0, np.uint8),
    }


def empty_words(count: int, wide: bool) -> tuple[Numbers, Arrays]:
    """What `hashed_words` returns for so many words, without any of them."""
    slots, buckets = (count + count // _SPARE + 4, count // _PER_BUCKET + 1) if count else (0, 0)
    arrays: Arrays = {"pilots": np.zeros(buckets, np.uint16), "words": np.zeros(slots * (4 + wide), np.uint8)}
    return {"word_slots": slots, "word_buckets": buckets, "word_seed": _MOST_SEEDS}, arrays


def hashed_words(
    words: Sequence[str], entries: NDArray[np.int64], others: Sequence[str], wide: bool
) -> tuple[Numbers, Arrays]:
    """A perfect hash of words (hash and displace): one look-up finds the entry of a word, or that it has none.

    Two hashes are made of a word's bytes. One gives its bucket, whose pilot and the other hash give its slot.
    There stand 24 bits of the first hash and the entry in one byte or two. Of texts that are neither words nor
    `others`, one in 2²⁴ is taken for a word.
    """
    numbers, arrays = empty_words(len(words), wide)
    size = numbers["word_slots"]
    if not size:
        return numbers, arrays
    for seed in range(1, _MOST_SEEDS):  # not 0, which leading zeros would leave as it is
        hashes = _hashes([*words, *others], seed)
        pilots = _pilots(hashes[:, : len(words)], numbers["word_buckets"], size)
        if pilots is None:
            continue
        slot = _slots(hashes, pilots, size)
        table, own = arrays["words"].reshape(size, -1), slot[: len(words)]
        table[:] = 0
        table[own, :3] = hashes[0, : len(words), None] >> np.array([8, 16, 24], np.uint32)
        table[own, 3:] = entries[:, None] >> np.arange(0, 8 * (1 + wide), 8)
        found = (table[slot, :3].astype(np.uint32) << np.array([0, 8, 16], np.uint32)).sum(1) == hashes[0] >> 8
        if not found[len(words) :].any():
            arrays["pilots"] = pilots
            return numbers | {"word_seed": seed}, arrays
    raise InputError(f"no perfect hash of {len(words):,} words was found", code="too-large")


def _hashes(words: Sequence[str], seed: int) -> NDArray[np.uint32]:
    """Two hashes of every word: sums of its UTF-8 bytes times weights, mixed after every 16 bytes; -> (2, words)"""
    coded = [word.encode("utf-8", "surrogatepass") for word in words]
    lengths = np.array([len(each) for each in coded], np.int64)
    letters = np.frombuffer(b"".join(coded), np.uint8).astype(np.uint32)
    order, starts = np.argsort(-lengths, kind="stable"), np.cumsum(lengths) - lengths
    hashes = np.full((2, len(words)), seed, np.uint32)
    for at in range(int(lengths.max(initial=0))):
        some = order[: np.count_nonzero(lengths > at)]
        if at and at % _BLOCK == 0:
            hashes[0, some] = _mixed(hashes[:, some])
            hashes[1, some] = _mixed(hashes[::-1, some])
        hashes[:, some] += letters[starts[some] + at] * _WEIGHTS[:, at % _BLOCK, None]
    hashes[0] += lengths.astype(np.uint32)
    hashes[0] = _mixed(hashes)
    return hashes


def _mixed(hashes: NDArray[np.uint32]) -> NDArray[np.uint32]:
    # (2, N) -> (N,)
    return np.asarray((hashes[0] ^ hashes[1] >> np.uint32(15)) * _MIXER, np.uint32)


def _share(hashed: NDArray[np.uint32], count: int) -> NDArray[np.int64]:
    """Numbers below `count`, by the high bits of hashes."""
    return (hashed.astype(np.uint64) * np.uint64(count) >> np.uint64(32)).astype(np.int64)


def _displaced(hashed: NDArray[np.uint32], pilots: NDArray[np.uint16], size: int) -> NDArray[np.int64]:
    return _share((hashed ^ pilots.astype(np.uint32) * _PILOT_MULTIPLIER) * _MIXER, size)


def _slots(hashes: NDArray[np.uint32], pilots: NDArray[np.uint16], size: int) -> NDArray[np.int64]:
    # (2, N) -> (N,)
    return _displaced(hashes[1], pilots[_share(hashes[0], len(pilots))], size)


def _pilots(hashes: NDArray[np.uint32], buckets: int, size: int) -> NDArray[np.uint16] | None:
    """Of every bucket, the largest ones first, a number that leads its words to free slots; None: one has none."""
    bucket = _share(hashes[0], buckets)
    counts, order = np.bincount(bucket, minlength=buckets), np.argsort(bucket, kind="stable")
    ends = np.cumsum(counts)
    pilots, taken = np.zeros(buckets, np.uint16), np.zeros(size, bool)
    for which in np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]:
        members = order[ends[which] - counts[which] : ends[which]]
        pilot = next((found for some in _PILOTS if (found := _free(hashes[1, members], some, taken)) is not None), None)
        if pilot is None:
            return None
        pilots[which] = pilot
        taken[_displaced(hashes[1, members], pilots[which], size)] = True
    return pilots


def _free(hashed: NDArray[np.uint32], pilots: NDArray[np.uint16], taken: NDArray[np.bool_]) -> int | None:
    """The first of some pilots that leads the words to free slots, each to another. hashed: (members,)"""
    slots = _displaced(hashed, pilots, len(taken))  # (pilots, members)
    ordered = np.sort(slots, 1)
    fits = ~taken[slots].any(1) & (ordered[:, 1:] != ordered[:, :-1]).all(1)
    return int(pilots[fits.argmax(), 0]) if fits.any() else None


def _plain_bytes(lower: bool, title: bool, is_basic: bool) -> NDArray[np.uint8]:
    """Of every byte the letter that it stands for, a blank, or 0 where that depends on what is around it. -> (256,)"""
    letters = np.arange(256, dtype=np.uint8)
    letters[0x80:] = letters[: ord(" ")] = 0
    if lower:
        letters[ord("A") : ord("Z") + 1] += ord("a") - ord("A")
    if is_basic:
        letters[list(b".,()!?'\"<")] = 0
        letters[list(b";:")] = ord(" ")
    letters[[code for code in range(0x80) if chr(code).isspace()]] = ord(" ")
    return letters * np.uint8(not title)


@cache
def _changed(change: Callable[[str], str]) -> dict[int, str]:
    """Code points that become something else."""
    return {code: made for code in range(_CODE_POINTS) if (made := change(chr(code))) != chr(code)}


def _moves(change: Callable[[str], str]) -> dict[int, int]:
    """Those that become one other; U+0130, whose small form is two, is written out in the runtimes."""
    return {code: ord(made) for code, made in _changed(change).items() if len(made) == 1}


def _long_titles() -> NDArray[np.int32]:
    """Code points whose titles have two or three; rows of four, filled up with 0."""
    rows = [[code, *map(ord, made), 0][:4] for code, made in _changed(str.title).items() if len(made) > 1]
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
