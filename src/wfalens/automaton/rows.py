"""Sparse rows of the transition matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import Rows
from wfalens.ragged import offsets_of
from wfalens.storage import StoredFile, Tensors, compact

MAX_STATES = 1 << 16
_INDICES, _WIDEST_INDEX = ("per_word", "entries", "state", "target"), 4  # tensors of rows; bytes


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
    stored, sizes = np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(entries, np.int64)
    states = np.ascontiguousarray(state, np.uint16)
    starts = offsets_of(sizes)
    total = np.add.reduceat(stored, starts[:-1], dtype=np.float64) if len(states) else np.zeros(0)
    return Rows(
        row_start,
        states,
        total,
        1 / total,
        starts[row_start],
        np.repeat(states, sizes),
        np.ascontiguousarray(target, np.uint16),
        stored,
    )


def no_rows(words: int) -> Rows:
    empty = np.zeros(0, np.int64)
    return make_rows(np.zeros(words, np.int64), empty, empty, empty, empty)


def entries_per_row(rows: Rows) -> NDArray[np.int64]:
    """How many entries each row has: neighbouring entries of one word and one state are a row."""
    words = np.repeat(np.arange(len(rows.entry_start) - 1), np.diff(rows.entry_start))
    starts = np.flatnonzero(np.diff(words * MAX_STATES + rows.source, prepend=-1))
    return np.diff(starts, append=len(rows.source))


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


def store_rows(name: str, rows: Rows) -> Tensors:
    """Rows as tensors of a file, under a name."""
    return {
        f"{name}.per_word": compact(np.diff(rows.row_start)),
        f"{name}.state": compact(rows.state),
        f"{name}.entries": compact(entries_per_row(rows)),
        f"{name}.target": compact(rows.target),
        f"{name}.weight": compact(rows.weight),
    }


def load_rows(file: StoredFile, name: str, words: int, states: int) -> Rows:
    """Rows of a file, checked."""
    per_word, entries, state, target = (file.tensor(f"{name}.{part}", "u") for part in _INDICES)
    if any(part.itemsize > _WIDEST_INDEX for part in (per_word, entries, state, target)):
        raise file.fail(f"the rows of {name!r} are numbered by more than {8 * _WIDEST_INDEX} bits")
    with np.errstate(over="ignore"):  # what is too large for single precision is refused below
        weight = file.tensor(f"{name}.weight", "uf").astype(np.float32)
    if np.any(per_word > len(state)) or np.any(entries > len(target)):
        raise file.fail(f"the rows of {name!r} do not fit its alphabet")
    word_start, start = (np.concatenate([[0], np.cumsum(part, dtype=np.int64)]) for part in (per_word, entries))
    if len(per_word) != words or word_start[-1] != len(state) or len(entries) != len(state):
        raise file.fail(f"the rows of {name!r} do not fit its alphabet")
    if start[-1] != len(target) or len(target) != len(weight) or np.any(entries == 0):
        raise file.fail(f"the entries of {name!r} do not fit its rows")
    if np.any(state >= states) or np.any(target >= states):
        raise file.fail(f"{name!r} names states that do not exist")
    if not (_rises_within(state, word_start) and _rises_within(target, start)):
        raise file.fail(f"the rows of {name!r} are not sorted")
    if not np.all((weight > 0) & np.isfinite(weight)):
        raise file.fail(f"{name!r} holds weights that are not positive")
    return make_rows(per_word, state, entries, target, weight)


def _rises_within(values: NDArray[Any], starts: NDArray[np.int64]) -> bool:
    """Whether values rise strictly within each run."""
    rises = np.empty(len(values) + 1, bool)
    rises[1:-1] = values[1:] > values[:-1]
    rises[starts] = True
    return bool(rises[1:-1].all())
