"""The compiled core of the linear automaton: layer after layer, over stretches of many words.

A layer reads only earlier layers, so what it reads of them, `x·P`, is known for a whole stretch of words before its own
first step: it is one product of matrices, which a processor does many times faster than a product per word, and only
the step `x ← x∘d(σ) + (x·P)∘s(σ) + b(σ)` goes word by word. A stretch runs over the ends of texts, so short
texts fill it as well as long ones. A word's sums are the same in any stretch: what is read beside a text does not
change it, to the bit.

Layers are padded with zeros to blocks of `LANES` numbers. Lengths known in advance, indices that start from 0 and one
array per role are what the compiler needs to vectorise the loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.threads import in_parallel

LANES = 32
_STRETCH = 64  # words
_CONTRACT = {"contract", "nsz"}  # no reordering of sums
_TOKENS_PER_THREAD = 1024


class Layers(NamedTuple):
    """A linear automaton as its kernel reads it; B blocks of LANES numbers, those beyond a layer's width zero."""

    words: NDArray[np.float32]  # (V, B, 3, LANES): d, s and b side by side, as a step needs them
    links: NDArray[np.float64]  # P: (B, B · LANES · LANES), for each block the links that lead to it, row by row
    start: NDArray[np.float64]  # (B, LANES)
    width: int  # m: numbers of a layer

    @property
    def per_layer(self) -> int:
        """Blocks of a layer."""
        return -(-self.width // LANES)

    @property
    def states(self) -> int:
        """n = layers · m"""
        return len(self.start) // self.per_layer * self.width

    def parts(self, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """d, s and b of words; ids: (N,) -> (3, N, n)"""
        parts = self.words[ids].transpose(2, 0, 1, 3)
        layers = parts.reshape(3, len(ids), self.states // self.width, self.per_layer * LANES)
        return layers[..., : self.width].reshape(3, len(ids), self.states)


def bytes_in_use(words: int, states: int, width: int) -> int:
    """About what layers take while they are made, which is more than they take afterwards."""
    lanes = states // width * -(-width // LANES) * LANES
    return 24 * words * lanes + 8 * lanes**2


def in_blocks(table: NDArray[np.floating], width: int) -> NDArray[np.floating]:
    """Numbers of layers of that width, padded; (…, n) -> (…, B, LANES)"""
    layers = table.reshape(*table.shape[:-1], -1, width)
    padding = [(0, 0)] * (layers.ndim - 1) + [(0, -width % LANES)]
    padded = np.pad(layers, padding) if width % LANES else layers
    return padded.reshape(*table.shape[:-1], -1, LANES)


def packed_links(links: NDArray[np.floating], width: int) -> NDArray[np.float64]:
    """P as the kernel reads it; (n, n) -> (B, B · LANES · LANES)"""
    to_blocks = in_blocks(links.astype(np.float64), width)  # (n, B, LANES)
    both = in_blocks(np.moveaxis(to_blocks, 0, -1), width)  # (B to, LANES, B from, LANES)
    blocks = len(both)
    return np.ascontiguousarray(both.transpose(0, 2, 3, 1)).reshape(blocks, -1)


def layered_states(
    words: NDArray[np.int32], offsets: NDArray[np.int64], layers: Layers, every: bool
) -> NDArray[np.float64]:
    """`[x, 1]` after every word, (tokens, n + 1), or after the last word of each text, (texts, n + 1)."""
    result = np.ones((len(words) if every else len(offsets) - 1, layers.states + 1))

    def work(first: int, last: int) -> None:
        _run(words, offsets, first, last, layers, every, result)

    in_parallel(work, offsets, _TOKENS_PER_THREAD)
    return result


@njit(cache=True, nogil=True, fastmath=_CONTRACT)
def _run(words, offsets, first, last, layers, every, result):  # type: ignore[no-untyped-def]
    """States of the texts first … last − 1."""
    blocks, width = layers.start.shape[0], layers.width
    per_layer = (width + LANES - 1) // LANES
    x = np.zeros((_STRETCH + 4, blocks * LANES))  # row t: before word t of the stretch, and after word t − 1
    by_block = x.reshape(_STRETCH + 4, blocks, LANES)
    read = np.zeros(_STRETCH * LANES)
    begins = np.zeros(_STRETCH, np.bool_)
    row = np.full(_STRETCH, -1)  # of the result, that the state after a word goes to
    text = first
    for begin in range(offsets[first], offsets[last], _STRETCH):
        size = min(_STRETCH, offsets[last] - begin)
        for t in range(size):
            position = begin + t
            while offsets[text + 1] <= position:
                text += 1
            begins[t] = position == offsets[text]
            ends = position + 1 == offsets[text + 1]
            row[t] = position if every else (text if ends else -1)
        for block in range(blocks):
            layer = block // per_layer
            _read(x, layers.links[block], layer * per_layer * LANES, size, read)
            place = block % per_layer * LANES
            column, count = layer * width + place, min(LANES, width - place)
            _step(words[begin : begin + size], begins, layers, block, read, by_block, row, column, count, result)
        x[0] = x[size]
    if not every:
        for text in range(first, last):
            if offsets[text] == offsets[text + 1]:
                for block in range(blocks):
                    place = block % per_layer * LANES
                    for j in range(min(LANES, width - place)):
                        result[text, block // per_layer * width + place + j] = layers.start[block, j]


@njit(cache=True, nogil=True, fastmath=_CONTRACT)
def _read(x, links, inputs, size, read):  # type: ignore[no-untyped-def]
    """What the words find in earlier layers, into read: (words · LANES,); x: (words, …), links: (inputs · LANES,)

    Four words and four rows of links at a time: what is loaded is used four times.
    """
    for tile in range((size + 3) // 4):
        t = 4 * tile
        at = t * LANES
        for j in range(4 * LANES):
            read[at + j] = 0.0
        for four in range(inputs // 4):
            i = 4 * four
            row = i * LANES
            a0, b0, c0, d0 = x[t, i], x[t, i + 1], x[t, i + 2], x[t, i + 3]
            a1, b1, c1, d1 = x[t + 1, i], x[t + 1, i + 1], x[t + 1, i + 2], x[t + 1, i + 3]
            a2, b2, c2, d2 = x[t + 2, i], x[t + 2, i + 1], x[t + 2, i + 2], x[t + 2, i + 3]
            a3, b3, c3, d3 = x[t + 3, i], x[t + 3, i + 1], x[t + 3, i + 2], x[t + 3, i + 3]
            for j in range(LANES):
                a, b = links[row + j], links[row + LANES + j]
                c, d = links[row + 2 * LANES + j], links[row + 3 * LANES + j]
                read[at + j] = read[at + j] + a0 * a + b0 * b + c0 * c + d0 * d
                read[at + LANES + j] = read[at + LANES + j] + a1 * a + b1 * b + c1 * c + d1 * d
                read[at + 2 * LANES + j] = read[at + 2 * LANES + j] + a2 * a + b2 * b + c2 * c + d2 * d
                read[at + 3 * LANES + j] = read[at + 3 * LANES + j] + a3 * a + b3 * b + c3 * c + d3 * d


@njit(cache=True, nogil=True, fastmath=_CONTRACT)
def _step(words, begins, layers, block, read, x, row, column, count, result):  # type: ignore[no-untyped-def]
    """The steps of one block; x: (words + 1, B, LANES), read: (words · LANES,); what is wanted goes to the result."""
    table, start = layers.words, layers.start
    column, count = np.uint64(column), np.uint64(count)  # an index that might be negative would not be vectorised
    for t in range(words.shape[0]):
        word = words[t]
        if begins[t]:
            for j in range(LANES):
                x[t, block, j] = start[block, j]
        for j in range(LANES):
            x[t + 1, block, j] = (
                x[t, block, j] * table[word, block, 0, j]
                + read[t * LANES + j] * table[word, block, 1, j]
                + table[word, block, 2, j]
            )
        if row[t] >= 0:
            for k in range(count):
                result[row[t], column + k] = x[t + 1, block, k]
