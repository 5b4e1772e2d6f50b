"""The usual tokenizers for plain ASCII, compiled: from the bytes of many texts to word ids in one pass.

It gives what the tokenizer and the vocabulary give, without making a string of each token, and lets other threads run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.corpus.vocabulary import PADDING, UNKNOWN
from wfalens.ragged import Ragged, offsets_of

_PART, _APART, _ALONE, _DROPPED = range(4)  # of a word, between words, a word of its own, nothing at all
_SPACES = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"  # what str.split takes for space
_FACTOR, _START = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)


def _roles(alone: bytes, dropped: bytes, apart: bytes) -> NDArray[np.uint8]:
    roles = np.zeros(128, np.uint8)
    for role, marks in ((_APART, _SPACES + apart), (_ALONE, alone), (_DROPPED, dropped)):
        roles[list(marks)] = role
    return roles


def _lower() -> NDArray[np.uint8]:
    table = np.arange(128, dtype=np.uint8)
    table[ord("A") : ord("Z") + 1] += 32
    return table


# what each character is to a tokenizer, how it is spelled, and whether <br /> is a space
_RULES = {
    "whitespace": (_roles(b"", b"", b""), np.arange(128, dtype=np.uint8), False),
    "basic_english": (_roles(b".,()!?'", b'"', b";:"), _lower(), True),
}


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words by their hash: open addressing, one cache line to a word.

    A word of up to eight bytes is its own key; a longer one has its hash for a key, and its spelling is compared too.
    """

    slots: NDArray[np.uint64]  # (slots, 2): key, and size · 2³² + id; 0 for none. Their number is a power of two
    spelling: NDArray[np.uint8]
    offsets: NDArray[np.int64]  # (V + 1,)

    @classmethod
    def of(cls, words: Sequence[str]) -> WordTable:
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        offsets = offsets_of(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        spelling = np.frombuffer(b"".join(encoded), np.uint8)
        slots = np.zeros((1 << (2 * len(words)).bit_length(), 2), np.uint64)
        _fill(spelling, offsets, slots)
        return cls(slots, spelling, offsets)


def encode_ascii(texts: Sequence[str], tokenizer: str, table: WordTable, max_length: int | None) -> Ragged[np.int32]:
    """Word ids of texts that are ASCII."""
    roles, spelled, breaks = _RULES[tokenizer]
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    content = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    ids = np.empty(len(content), np.int32)  # no token is shorter than a character
    lengths = np.empty(len(texts), np.int64)
    longest = int(sizes.max(initial=0))
    limit = longest if max_length is None else max_length
    used = _encode(
        content,
        offsets_of(sizes),
        roles,
        spelled,
        breaks,
        limit,
        table.slots,
        table.spelling,
        table.offsets,
        np.empty(longest + 1, np.uint8),
        ids,
        lengths,
    )
    return Ragged.from_lengths(ids[:used].copy(), lengths)


@njit(cache=True, nogil=True)
def _hashed(token, size):  # type: ignore[no-untyped-def]
    """The hash of a token, and its key: its bytes where they fit into one number, else the hash."""
    code, packed = _START, np.uint64(0)
    for at in range(size):
        byte = np.uint64(token[at])
        code = (code ^ byte) * _FACTOR
        packed = (packed << np.uint64(8)) | byte
    code ^= code >> np.uint64(29)
    return code, packed if size <= 8 else code


@njit(cache=True, nogil=True)
def _fill(spelling, offsets, slots):  # type: ignore[no-untyped-def]
    mask = slots.shape[0] - 1
    for word in range(offsets.shape[0] - 1):
        if word == PADDING:
            continue  # it is not a word: a text that contains it says <unk>
        size = offsets[word + 1] - offsets[word]
        code, key = _hashed(spelling[offsets[word] : offsets[word + 1]], size)
        slot = np.int64(code) & mask
        while slots[slot, 1] != 0:
            slot = (slot + 1) & mask
        slots[slot, 0] = key
        slots[slot, 1] = (np.uint64(size) << np.uint64(32)) | np.uint64(word)


@njit(cache=True, nogil=True)
def _word(token, size, slots, spelling, offsets):  # type: ignore[no-untyped-def]
    """The id of a token."""
    code, key = _hashed(token, size)
    mask = slots.shape[0] - 1
    slot = np.int64(code) & mask
    while slots[slot, 1] != 0:
        if slots[slot, 0] == key and slots[slot, 1] >> np.uint64(32) == np.uint64(size):
            word = np.int64(slots[slot, 1] & np.uint64(0xFFFFFFFF))
            if size <= 8 or _same(token, size, spelling, offsets[word]):
                return word
        slot = (slot + 1) & mask
    return UNKNOWN


@njit(cache=True, nogil=True)
def _same(token, size, spelling, start):  # type: ignore[no-untyped-def]
    for at in range(size):  # noqa: SIM110 - compiled
        if spelling[start + at] != token[at]:
            return False
    return True


@njit(cache=True, nogil=True)
def _is_break(content, at, end):  # type: ignore[no-untyped-def]
    """Whether <br /> stands here, in any case."""
    if at + 6 > end or content[at] != 60:
        return False
    return (
        content[at + 1] | 32 == 98
        and content[at + 2] | 32 == 114
        and content[at + 3] == 32
        and content[at + 4] == 47
        and content[at + 5] == 62
    )


@njit(cache=True, nogil=True)
def _encode(  # type: ignore[no-untyped-def]
    content, starts, roles, spelled, breaks, limit, slots, spelling, offsets, token, ids, lengths
):
    used = 0
    for text in range(lengths.shape[0]):
        at, end = starts[text], starts[text + 1]
        first, size = used, 0
        while at <= end and used - first < limit:
            role, char, step = _APART, np.uint8(0), 1
            if at < end:
                char = content[at]
                role = roles[char]
                if breaks and _is_break(content, at, end):
                    role, step = _APART, 6
            if role == _PART:
                token[size] = spelled[char]
                size += 1
            elif role != _DROPPED:
                if size > 0:
                    ids[used] = _word(token, size, slots, spelling, offsets)
                    used += 1
                    size = 0
                if role == _ALONE and used - first < limit:
                    token[0] = char
                    ids[used] = _word(token, 1, slots, spelling, offsets)
                    used += 1
            at += step
        lengths[text] = used - first
    return used
