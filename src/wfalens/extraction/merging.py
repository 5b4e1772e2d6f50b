"""Merging many sorted runs of counts in one pass over memory.

Keys are dense enough to be added up in a window: for each window of neighbouring keys every run adds its counts to a
table that stays in the cache, a bitmap remembers which places were touched, and what was touched is written out in
order. Every input is read once, every output written once. Runs too sparse for that are merged by sorting.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit, typed
from numpy.typing import NDArray

_WINDOW = 1 << 17  # keys of a window: a table of a megabyte
_LEAST_PER_WINDOW = 64  # entries on average, below which windows are mostly empty
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_LOWEST_BIT = np.zeros(64, np.int64)  # the place of a single bit, by the product with the sequence above
for _bit in range(64):
    _LOWEST_BIT[(int(_DE_BRUIJN) << _bit & (1 << 64) - 1) >> 58] = _bit

Run = tuple[NDArray[np.int64], NDArray[np.int64]]  # rising distinct keys, and their counts above zero


def merge_runs(runs: Sequence[Run]) -> Run:
    """The distinct keys of all runs with their summed counts."""
    runs = [run for run in runs if len(run[0])]
    if not runs:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if len(runs) == 1:
        return runs[0]
    total = sum(len(keys) for keys, _ in runs)
    low, high = min(int(keys[0]) for keys, _ in runs), max(int(keys[-1]) for keys, _ in runs)
    if total < _LEAST_PER_WINDOW * ((high - low) // _WINDOW):
        return merge_by_sorting(runs)
    most = min(total, high - low + 1)
    keys, counts = np.empty(most, np.int64), np.empty(most, np.int64)
    used = _add_up(
        typed.List([np.ascontiguousarray(run[0], np.int64) for run in runs]),
        typed.List([np.ascontiguousarray(run[1], np.int64) for run in runs]),
        low,
        high,
        keys,
        counts,
    )
    return keys[:used], counts[:used]  # memory behind them was never touched


def merge_by_sorting(runs: Sequence[Run]) -> Run:
    keys = np.concatenate([run[0] for run in runs])
    counts = np.concatenate([run[1] for run in runs])
    order = np.argsort(keys, kind="stable")
    return summed(keys[order], counts[order])


def summed(keys: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Run:
    """Distinct keys of a sorted run with their summed counts (None: one each)."""
    if len(keys) == 0:
        return keys, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if counts is None:
        return keys[starts], np.diff(np.append(starts, len(keys)))
    return keys[starts], np.add.reduceat(counts, starts)


@njit(cache=True, nogil=True)
def _add_up(key_runs, count_runs, low, high, keys, counts):  # type: ignore[no-untyped-def]
    runs = len(key_runs)
    table, touched = np.zeros(_WINDOW, np.int64), np.zeros(_WINDOW // 64, np.uint64)
    place = np.zeros(runs, np.int64)
    used, one = 0, np.uint64(1)
    for base in range(low, high + 1, _WINDOW):
        end = base + _WINDOW
        for run in range(runs):
            at = place[run]
            own_keys = key_runs[run]
            size = own_keys.shape[0]
            if at >= size or own_keys[at] >= end:
                continue
            own_counts = count_runs[run]
            while at < size:
                key = own_keys[at]
                if key >= end:
                    break
                slot = key - base
                table[slot] += own_counts[at]
                touched[slot >> 6] |= one << np.uint64(slot & 63)
                at += 1
            place[run] = at
        for word in range(_WINDOW // 64):
            bits = touched[word]
            if bits == 0:
                continue
            touched[word] = 0
            while bits != 0:
                lowest = bits & (~bits + one)
                bits ^= lowest
                slot = (word << 6) + _LOWEST_BIT[(lowest * _DE_BRUIJN) >> np.uint64(58)]
                keys[used] = base + slot
                counts[used] = table[slot]
                table[slot] = 0
                used += 1
    return used
