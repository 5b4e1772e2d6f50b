"""Sparse rows of the transition matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels import Rows
from wfalens.ragged import offsets_of

MAX_STATES = 1 << 16


def rows_from_keys(keys: NDArray[np.int64], weights: NDArray[np.number], words: int, states: int) -> Rows:
    """Rows from sorted distinct keys `(word · n + from) · n + to` and their weights."""
    row_keys, targets = np.divmod(keys, states)
    starts = np.flatnonzero(np.diff(row_keys, prepend=-1))
    row_words, row_states = np.divmod(row_keys[starts], states)
    return make_rows(
        offsets_of(np.bincount(row_words, minlength=words)),
        row_states,
        np.append(starts, len(keys)),
        targets,
        weights,
    )


def make_rows(
    word_start: NDArray[np.int64],
    state: NDArray[np.int64],
    start: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[np.number],
) -> Rows:
    """Rows in the dtypes of the kernels, with their sums."""
    stored = np.ascontiguousarray(weight, np.float32)
    padded = np.append(stored.astype(np.float64), 0.0)  # reduceat needs an element behind the last run
    total = np.add.reduceat(padded, start[:-1]) if len(state) else np.zeros(0)
    return Rows(
        np.ascontiguousarray(word_start, np.int64),
        np.ascontiguousarray(state, np.uint16),
        np.ascontiguousarray(start, np.int64),
        np.ascontiguousarray(target, np.uint16),
        stored,
        total,
    )


def no_rows(words: int) -> Rows:
    empty = np.zeros(0, np.int64)
    return make_rows(np.zeros(words + 1, np.int64), empty, np.zeros(1, np.int64), empty, np.zeros(0))


def has_rows(rows: Rows) -> NDArray[np.bool_]:
    # -> (V,)
    return np.diff(rows.word_start) > 0


def states_with_rows(rows: Rows, word: int) -> NDArray[np.int64]:
    return rows.state[rows.word_start[word] : rows.word_start[word + 1]].astype(np.int64)


def dense(rows: Rows, word: int, states: int) -> NDArray[np.float64]:
    """The stored weights of one word as a matrix; -> (n, n)"""
    matrix = np.zeros((states, states))
    for row in range(rows.word_start[word], rows.word_start[word + 1]):
        entries = slice(rows.start[row], rows.start[row + 1])
        matrix[rows.state[row], rows.target[entries]] = rows.weight[entries]
    return matrix
