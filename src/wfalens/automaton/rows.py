"""Sparse rows of the transition matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import Rows
from wfalens.ragged import offsets_of

MAX_STATES = 1 << 16


def rows_from_keys(keys: NDArray[np.int64], weights: NDArray[np.number], words: int, states: int) -> Rows:
    """Rows from sorted distinct keys `(word · n + from) · n + to` and their weights."""
    row_keys, targets = np.divmod(keys, states)
    starts = np.flatnonzero(np.diff(row_keys, prepend=-1))
    row_words, row_states = np.divmod(row_keys[starts], states)
    per_word, entries = np.bincount(row_words, minlength=words), np.diff(np.append(starts, len(keys)))
    return make_rows(per_word, row_states, entries, targets, weights)


def make_rows(
    per_word: NDArray[Any],
    state: NDArray[Any],
    entries: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any],
) -> Rows:
    """Rows from their number per word, their states and their number of entries (at least one each)."""
    row_start = offsets_of(per_word)
    stored, sizes = np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(entries, np.uint32)
    states = np.ascontiguousarray(state, np.uint16)
    total, entry_start = np.empty(len(states)), np.zeros(len(row_start), np.int64)
    _add_up(stored, sizes, row_start, total, entry_start)
    return Rows(
        row_start,
        states,
        total,
        1 / total,
        entry_start,
        np.repeat(states, sizes),
        np.ascontiguousarray(target, np.uint16),
        stored,
    )


@njit(cache=True, nogil=True)
def _add_up(weight, entries, row_start, total, entry_start):  # type: ignore[no-untyped-def]
    """The sum of every row, and where the entries of every word begin."""
    entry = 0
    for word in range(row_start.shape[0] - 1):
        for row in range(row_start[word], row_start[word + 1]):
            total[row] = 0.0
            for _ in range(entries[row]):
                total[row] += weight[entry]
                entry += 1
        entry_start[word + 1] = entry


def no_rows(words: int) -> Rows:
    empty = np.zeros(0, np.int64)
    return make_rows(np.zeros(words, np.int64), empty, empty, empty, empty)


def entries_per_row(rows: Rows) -> NDArray[np.uint32]:
    """How many entries each row has."""
    entries = np.zeros(len(rows.state), np.uint32)
    _count(rows.row_start, rows.state, rows.entry_start, rows.source, entries)
    return entries


@njit(cache=True, nogil=True)
def _count(row_start, state, entry_start, source, entries):  # type: ignore[no-untyped-def]
    for word in range(row_start.shape[0] - 1):
        row = row_start[word]
        for entry in range(entry_start[word], entry_start[word + 1]):
            while state[row] != source[entry]:
                row += 1
            entries[row] += np.uint32(1)


def has_rows(rows: Rows) -> NDArray[np.bool_]:
    # -> (V,)
    return np.diff(rows.row_start) > 0


def states_with_rows(rows: Rows, word: int) -> NDArray[np.int64]:
    return rows.state[rows.row_start[word] : rows.row_start[word + 1]].astype(np.int64)


def dense(rows: Rows, word: int, states: int) -> NDArray[np.float64]:
    """The stored weights of one word as a matrix; -> (n, n)"""
    matrix = np.zeros((states, states))
    entries = slice(rows.entry_start[word], rows.entry_start[word + 1])
    matrix[rows.source[entries], rows.target[entries]] = rows.weight[entries]
    return matrix
