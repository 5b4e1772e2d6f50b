"""Merging sorted runs of counts.

Keys are dense enough to be added up in a window: for each window of neighbouring keys every run adds its counts to a
table that stays in the cache, a bitmap remembers which entries were touched, and what was touched is written out in
order. Every input is read once, every output written once; ranges of keys are merged side by side. Runs too sparse
for that are merged by sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.jit import njit
from wfalens.ragged import offsets_of
from wfalens.threads import in_parallel

_WINDOW = 1 << 17  # keys of a window: a table of a megabyte
_LEAST_PER_WINDOW = 64  # entries on average, below which windows are mostly empty
_COST_OF_WINDOW = 500  # as long as so many entries
_RANGES, _LEAST_PER_RANGE, _LEAST_PER_THREAD = 64, 1 << 14, 1 << 18  # of keys that threads deal with; entries in each
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_LOWEST_BIT = np.zeros(64, np.uint64)  # the position of a single bit, by the product with the sequence above
for _bit in range(64):
    _LOWEST_BIT[(int(_DE_BRUIJN) << _bit & (1 << 64) - 1) >> 58] = _bit

Run = tuple[NDArray[np.int64], NDArray[np.int64]]  # rising distinct keys, and their counts above zero


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs one behind the other."""

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    offsets: NDArray[np.int64]  # (runs + 1,)

    @classmethod
    def of(cls, parts: Sequence[Run]) -> Runs:
        keys, counts = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
        return cls(keys, counts, offsets_of(np.array([len(part[0]) for part in parts])))

    def starts(self, key: int) -> NDArray[np.int64]:
        """The first entry of each run with at least that key."""
        bounds = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return np.array([first + np.searchsorted(self.keys[first:last], key) for first, last in bounds])


def merge_runs(parts: Sequence[Run]) -> Run:
    """The distinct keys of all runs with their summed counts."""
    parts = [part for part in parts if len(part[0])]
    if len(parts) < 2:
        return parts[0] if parts else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    return merged(Runs.of(parts))


def merged(runs: Runs) -> Run:
    """The same for runs that lie together."""
    if len(runs.keys) == 0:
        return runs.keys, runs.counts
    filled = np.diff(runs.offsets) > 0
    first, last = runs.offsets[:-1][filled], runs.offsets[1:][filled] - 1
    low, high = int(runs.keys[first].min()), int(runs.keys[last].max())
    if len(runs.keys) < _LEAST_PER_WINDOW * ((high - low) // _WINDOW):
        return merge_by_sorting(runs)
    bounds = _even_bounds(runs, low, high + 1)
    starts = np.stack([runs.starts(bound) for bound in bounds])  # (bounds, runs)
    below = (starts - runs.offsets[:-1]).sum(1)  # entries under each bound: where its results may begin
    keys, counts = np.empty_like(runs.keys), np.empty_like(runs.counts)
    found = np.zeros(len(bounds) - 1, np.int64)

    def merge(first: int, last: int) -> None:
        into = slice(below[first], below[last])
        between = starts[first].copy(), starts[last], bounds[first], bounds[last]
        found[first] = _add_up(runs.keys, runs.counts, *between, keys[into], counts[into])

    def close_gaps(first: int, last: int) -> None:
        for part in (keys, counts)[first:last]:
            _move_up(below, found, part)

    windows = np.subtract(bounds, low) // _WINDOW
    in_parallel(merge, below + _COST_OF_WINDOW * windows, _LEAST_PER_THREAD)
    in_parallel(close_gaps, np.arange(3) * len(keys), _LEAST_PER_THREAD)
    total = int(found.sum())
    return keys[:total], counts[:total]  # memory behind them was never touched


def _even_bounds(runs: Runs, low: int, end: int) -> list[int]:
    """Keys between which there are about equally many entries."""
    longest = int(np.argmax(np.diff(runs.offsets)))
    first, last = runs.offsets[longest : longest + 2]
    ranges = min(_RANGES, 1 + len(runs.keys) // _LEAST_PER_RANGE)
    inner = runs.keys[np.linspace(first, last, ranges + 1)[1:-1].astype(np.int64)]
    return [low, *np.unique(inner[inner > low]).tolist(), end]


def merge_by_sorting(runs: Runs) -> Run:
    order = np.argsort(runs.keys, kind="stable")
    return summed(runs.keys[order], runs.counts[order])


def summed(keys: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Run:
    """Distinct keys of a sorted run with their summed counts (None: one each)."""
    if len(keys) == 0:
        return keys, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if counts is None:
        return keys[starts], np.diff(np.append(starts, len(keys)))
    return keys[starts], np.add.reduceat(counts, starts)


@njit(cache=True, nogil=True)
def _add_up(key_runs, count_runs, start, stop, low, end, keys, counts):  # type: ignore[no-untyped-def]
    """Merge what the runs have from `start` to `stop`, all of it from `low` up to `end`; -> how many keys there are

    Indices are unsigned, which spares a test for negative ones at every step.
    """
    table, touched = np.zeros(_WINDOW, np.int64), np.zeros(_WINDOW // 64, np.uint64)
    one, word_bits, last_bit = np.uint64(1), np.uint64(6), np.uint64(63)
    used = np.uint64(0)
    for base in range(low, end, _WINDOW):
        behind = base + _WINDOW
        for run in range(start.shape[0]):
            at, last = np.uint64(start[run]), np.uint64(stop[run])
            while at < last:
                key = key_runs[at]
                if key >= behind:
                    break
                slot = np.uint64(key - base)
                table[slot] += count_runs[at]
                touched[slot >> word_bits] |= one << (slot & last_bit)
                at += one
            start[run] = at
        for number in range(_WINDOW // 64):
            word = np.uint64(number)
            bits = touched[word]
            if bits == 0:
                continue
            touched[word] = 0
            while bits != 0:
                lowest = bits & (~bits + one)
                bits ^= lowest
                slot = (word << word_bits) + _LOWEST_BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                keys[used] = base + np.int64(slot)
                counts[used] = table[slot]
                table[slot] = 0
                used += one
    return used


@njit(cache=True, nogil=True)
def _move_up(starts, found, values):  # type: ignore[no-untyped-def]
    """Close the gaps behind the results of each range."""
    used = 0
    for part in range(found.shape[0]):
        if starts[part] == used:
            used += found[part]
            continue
        for at in range(starts[part], starts[part] + found[part]):
            values[used] = values[at]
            used += 1
