"""The usual tokenizers for plain ASCII, compiled: from the bytes of many texts to word ids in one pass.

It gives what the tokenizer and the vocabulary give, without making a string of each token, and lets other threads run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.jit import njit
from wfalens.ragged import Ragged, concatenate
from wfalens.text.packed import PackedTexts
from wfalens.text.vocabulary import PADDING, UNKNOWN

_PART, _APART, _ALONE, _DROPPED = range(4)  # of a word, between words, a word of its own, nothing at all
_SPACES = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"  # what str.split takes for space
_AT_ONCE = 1 << 18  # characters, whose tokens stay in the cache
_SIZE = np.uint64(0xFFFFFFFF)  # the low half of a number
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, with bits all over: high bits of a product depend on all below


def _roles(alone: bytes, dropped: bytes, apart: bytes) -> NDArray[np.uint8]:
    roles = np.zeros(128, np.uint8)
    for role, marks in ((_APART, _SPACES + apart), (_ALONE, alone), (_DROPPED, dropped)):
        roles[list(marks)] = role
    return roles


# what each character is to a tokenizer, how it is spelled, and whether <br /> is a space
_RULES = {
    "whitespace": (_roles(b"", b"", b""), np.arange(128, dtype=np.uint8), False),
    "basic_english": (_roles(b".,()!?'", b'"', b";:"), np.array(list(bytes(range(128)).lower()), np.uint8), True),
}


@dataclass(frozen=True, eq=False)
class WordHashTable:
    """Words by their hash: open addressing, one cache line to a word.

    A word of up to eight bytes is its own key; a longer one has its hash for a key, and its spelling is compared too.
    """

    slots: NDArray[np.uint64]  # (slots, 2): key, and size · 2³² + id; 0 for none. Their number is a power of two
    spelling: NDArray[np.uint8]
    offsets: NDArray[np.int64]  # (V + 1,)

    @classmethod
    def of(cls, words: PackedTexts) -> WordHashTable:
        spelled = words.content
        slots = np.zeros((1 << (2 * len(words)).bit_length(), 2), np.uint64)
        _fill(spelled.values, spelled.offsets, slots)
        return cls(slots, spelled.values, spelled.offsets)


def encode_ascii(texts: PackedTexts, tokenizer: str, table: WordHashTable) -> Ragged[np.int32]:
    """Word ids of texts that are ASCII."""
    parts = texts.content.chunks(_AT_ONCE) if len(texts) else [texts.content]
    return concatenate(_encoded(part, tokenizer, table) for part in parts)


def _encoded(texts: Ragged[np.uint8], tokenizer: str, table: WordHashTable) -> Ragged[np.int32]:
    roles, spelled, breaks = _RULES[tokenizer]
    most = len(texts.values)  # no token is shorter than a character
    letters, tokens = np.empty(most, np.uint8), np.empty((most, 3), np.uint64)
    lengths = np.empty(len(texts), np.int64)
    used = _split(texts.values, texts.offsets, roles, spelled, breaks, letters, tokens, lengths)
    ids = np.empty(used, np.int32)
    _look_up(tokens, letters, table.slots, table.spelling, table.offsets, ids)
    return Ragged.from_lengths(ids, lengths)


@njit(cache=True, nogil=True)
def _hashed(token, size):  # type: ignore[no-untyped-def]
    """The hash of a token, and its key: its bytes where they fit into one number, else the hash."""
    code, packed = np.uint64(size), np.uint64(0)
    for at in range(size):
        if at > 0 and at & 7 == 0:
            code, packed = (code ^ packed) * _FACTOR, np.uint64(0)
        packed = (packed << np.uint64(8)) | np.uint64(token[at])
    code = (code ^ packed) * _FACTOR
    code ^= code >> np.uint64(32)
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
def _look_up(tokens, letters, slots, spelling, offsets, ids):  # type: ignore[no-untyped-def]
    """The id of every token: apart from splitting, so that many words are fetched from memory at a time."""
    mask = slots.shape[0] - 1
    for token in range(ids.shape[0]):
        key, size = tokens[token, 1], tokens[token, 2] & _SIZE
        slot = np.int64(tokens[token, 0]) & mask
        word = np.int64(UNKNOWN)
        while slots[slot, 1] != 0:
            if slots[slot, 0] == key and slots[slot, 1] >> np.uint64(32) == size:
                found = np.int64(slots[slot, 1] & _SIZE)
                first = np.int64(tokens[token, 2] >> np.uint64(32))
                if size <= 8 or _same(letters[first:], np.int64(size), spelling, offsets[found]):
                    word = found
                    break
            slot = (slot + 1) & mask
        ids[token] = word


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
def _split(content, starts, roles, spelled, breaks, letters, tokens, lengths):  # type: ignore[no-untyped-def]
    """Every token as its hash, its key, and where its letters stand: place · 2³² + size. -> how many there are"""
    used, written = 0, 0
    for text in range(lengths.shape[0]):
        at, end = starts[text], starts[text + 1]
        first, begin = used, written
        while at <= end:
            role, char, step = _APART, np.uint8(0), 1
            if at < end:
                char = content[at]
                role = roles[char]
                if breaks and _is_break(content, at, end):
                    role, step = _APART, 6
            if role == _PART:
                letters[written] = spelled[char]
                written += 1
            elif role != _DROPPED:
                if written > begin:
                    used = _noted(letters, begin, written, tokens, used)
                    begin = written
                if role == _ALONE:
                    letters[written] = char
                    written += 1
                    used = _noted(letters, begin, written, tokens, used)
                    begin = written
            at += step
        lengths[text] = used - first
        written = begin
    return used


@njit(cache=True, nogil=True)
def _noted(letters, begin, end, tokens, used):  # type: ignore[no-untyped-def]
    tokens[used, 0], tokens[used, 1] = _hashed(letters[begin:end], end - begin)
    tokens[used, 2] = (np.uint64(begin) << np.uint64(32)) | np.uint64(end - begin)
    return used + 1
