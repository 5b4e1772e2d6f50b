"""The compiled core of the linear automaton: layer after layer, over stretches of many words.

A layer reads only earlier layers, so what it reads of them, `x·P`, is known for a whole stretch of words before its own
first step: it is one product of matrices, which a processor does many times faster than a product per word, and only
the step `x ← x∘d(σ) + (x·P)∘s(σ) + b(σ)` goes word by word. A stretch runs over the ends of texts, so short
texts fill it as well as long ones. A word's sums are the same in any stretch: what is read beside a text does not
change it, to the bit.

Nothing leads to the first layer, so it has no gate. There s(σ) multiplies each number's partner instead: numbers j and
j + m/2 are a pair that a step may turn, `xⱼ ← xⱼ·dⱼ + x_partner(j)·sⱼ + bⱼ`. Of an odd m the last has no partner.

Layers are padded with zeros to blocks of `LANES` numbers. States have the precision of the links and the start. All
texts begin alike, so what their first words find in earlier layers is computed once per stretch. What a word does in
the next block, or a word of the next stretch in the first one, is fetched from memory ahead of time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.simd import fetches, products, steps
from wfalens.jit import njit
from wfalens.threads import in_parallel

LANES = 32
_BATCH = 128  # words
_START = _BATCH + 1  # the row of the start among the rows of states
_ROWS = _BATCH + 5  # states before and after words, the start, and what fills up the last four
_fetch = fetches(3 * LANES)
_add_products, _step = products(LANES), steps(LANES)
_TOKENS_PER_THREAD = 1024


class Layers(NamedTuple):
    """A linear automaton as its kernel reads it; B blocks of LANES numbers, those beyond a layer's width zero."""

    words: NDArray[np.float32]  # (V, B, 3, LANES): d, s and b side by side; in the first layer s is for partners
    links: NDArray[np.floating]  # P: (B, B · LANES · LANES), for each block the links that lead to it, row by row
    start: NDArray[np.floating]  # (B, LANES)
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

    def layer(self, number: int) -> NDArray[np.float32]:
        """d, s and b of all words in one layer; -> (3, V, m)"""
        blocks = self.words[:, number * self.per_layer : (number + 1) * self.per_layer]
        return blocks.transpose(2, 0, 1, 3).reshape(3, len(blocks), -1)[..., : self.width]


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


def partners(width: int) -> NDArray[np.int64]:
    """The number that each of a layer turns with; the last of an odd number stands for itself. -> (m,)"""
    half = width // 2
    return np.concatenate([np.arange(half, 2 * half), np.arange(half), np.arange(2 * half, width)])


def packed_links(links: NDArray[np.floating], width: int) -> NDArray[np.float64]:
    """P as the kernel reads it; (n, n) -> (B, B · LANES · LANES)"""
    to_blocks = in_blocks(links.astype(np.float64), width)  # (n, B, LANES)
    both = in_blocks(np.moveaxis(to_blocks, 0, -1), width)  # (B to, LANES, B from, LANES)
    blocks = len(both)
    return np.ascontiguousarray(both.transpose(0, 2, 3, 1)).reshape(blocks, -1)


def layered_states(words: NDArray[np.int32], offsets: NDArray[np.int64], layers: Layers, every: bool) -> NDArray[Any]:
    """`[x, 1]` after every word, (tokens, n + 1), or after the last word of each text, (texts, n + 1).

    In the precision of the layers.
    """
    result = np.ones((len(words) if every else len(offsets) - 1, layers.states + 1), layers.start.dtype)
    in_parallel(_run, offsets, _TOKENS_PER_THREAD, words, offsets, layers, every, result)
    return result


@njit(cache=True, nogil=True)
def _run(first, last, words, offsets, layers, every, result):  # type: ignore[no-untyped-def]
    """States of the texts first … last − 1."""
    blocks, width = layers.start.shape[0], layers.width
    per_layer, numbers = (width + LANES - 1) // LANES, blocks * LANES
    start, links, table = layers.start.reshape(-1), layers.links.reshape(-1), layers.words.reshape(-1)
    x = np.zeros(_ROWS * numbers, start.dtype)  # row t: before word t of the stretch, and after word t − 1
    read = np.zeros(_ROWS * LANES, start.dtype)  # for one block, what each row of x makes of the links to it
    for j in range(numbers):
        x[_START * numbers + j] = start[j]
    before = np.zeros(_BATCH, np.int64)  # the row of x that a word is read in
    distinct = np.zeros(_ROWS, np.int64)  # rows of x that words are read in
    row = np.full(_BATCH, -1)  # of the result, that the state after a word goes to
    text = first
    for begin in range(offsets[first], offsets[last], _BATCH):
        size = min(_BATCH, offsets[last] - begin)
        distinct[0], count = _START, 1
        for t in range(size):
            position = begin + t
            while offsets[text + 1] <= position:
                text += 1
            if position == offsets[text]:
                before[t] = _START
            else:
                before[t] = distinct[count] = t
                count += 1
            ends = position + 1 == offsets[text + 1]
            row[t] = position if every else (text if ends else -1)
        _turn(words[begin : begin + size], before, table, blocks, width, x)
        for block in range(per_layer, blocks):
            inputs = block // per_layer * per_layer * LANES
            _read(x, distinct, count, numbers, links, block * numbers * LANES, inputs, read)
            for t in range(size):
                at, to = before[t] * numbers + block * LANES, (t + 1) * numbers + block * LANES
                entry = (words[begin + t] * blocks + block) * 3 * LANES
                _step(x, at, to, read, before[t] * LANES, table, entry)
                if block + 1 < blocks:
                    _fetch(table, entry + 3 * LANES)
                elif begin + _BATCH + t < offsets[last]:
                    _fetch(table, words[begin + _BATCH + t] * blocks * 3 * LANES)
        for t in range(size):
            if row[t] >= 0:
                _put(x, (t + 1) * numbers, width, per_layer * LANES, result, row[t])
        for j in range(numbers):
            x[j] = x[size * numbers + j]
    if not every:
        for text in range(first, last):
            if offsets[text] == offsets[text + 1]:
                _put(x, _START * numbers, width, per_layer * LANES, result, text)


@njit(cache=True, nogil=True)
def _turn(words, before, table, blocks, width, x):  # type: ignore[no-untyped-def]
    """The steps of the first layer, whose numbers find their partners."""
    numbers, half = blocks * LANES, width // 2
    per_layer = (width + LANES - 1) // LANES
    partner = np.zeros(per_layer * LANES, x.dtype)
    for t in range(words.shape[0]):
        at = before[t] * numbers
        for j in range(half):
            partner[j] = x[at + half + j]
            partner[half + j] = x[at + j]
        for block in range(per_layer):
            place = block * LANES
            entry = (words[t] * blocks + block) * 3 * LANES
            _step(x, at + place, (t + 1) * numbers + place, partner, place, table, entry)
            _fetch(table, entry + 3 * LANES)


@njit(cache=True, nogil=True)
def _read(x, rows, count, numbers, links, first, inputs, read):  # type: ignore[no-untyped-def]
    """What some rows of x make of the links to one block, into read: (rows · LANES,)

    Four rows at a time: what is loaded of the links is used four times.
    """
    for extra in range(count, (count + 3) // 4 * 4):
        rows[extra] = rows[0]
    for at in range(0, count, 4):
        a, b, c, d = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
        sources = (a * numbers, b * numbers, c * numbers, d * numbers)
        targets = (a * LANES, b * LANES, c * LANES, d * LANES)
        _add_products(x, sources, links, first, LANES, inputs, read, targets)


@njit(cache=True, nogil=True)
def _put(x, at, width, padded, result, row):  # type: ignore[no-untyped-def]
    """A state without its padding, into one row of the result."""
    for layer in range((result.shape[1] - 1) // width):
        for j in range(width):
            result[row, layer * width + j] = x[at + layer * padded + j]
