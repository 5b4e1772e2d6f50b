"""From parts of counts to the rows of an automaton, a range of words at a time.

Parts are sorted, so a range of words is one stretch of each: the stretches are read, merged and turned into rows at
once. The counts of a whole corpus are never in memory together, only the rows that they become.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels import Rows
from wfalens.automaton.rows import make_rows
from wfalens.extraction.merging import merge_runs
from wfalens.extraction.transitions import TransitionCounts

_ENTRY = 16  # bytes of a stored key and its count


@dataclass(frozen=True)
class StoredRun:
    """Sorted keys and their counts within a file, read a stretch at a time."""

    path: Path
    name: str  # before "keys" and "counts"

    @cached_property
    def _places(self) -> tuple[int, int, int]:
        """Number of entries, and where keys and counts begin."""
        with self.path.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(size))
        keys, counts = (header[f"{self.name}{part}"] for part in ("keys", "counts"))
        return keys["shape"][0], 8 + size + keys["data_offsets"][0], 8 + size + counts["data_offsets"][0]

    def __len__(self) -> int:
        return self._places[0]

    def search(self, key: int) -> int:
        """The first place with at least that key."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._read(1, middle, 1)[0] < key:
                low = middle + 1
            else:
                high = middle
        return low

    def stretch(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self._read(1, first, last - first), self._read(2, first, last - first)

    def _read(self, part: int, first: int, number: int) -> NDArray[np.int64]:
        return np.fromfile(self.path, np.int64, number, offset=self._places[part] + 8 * first)


@dataclass
class Assembled:
    """Rows in pieces, and what is counted on the way."""

    words: int
    states: int
    rows_per_word: NDArray[np.int64] = field(init=False)
    word_counts: NDArray[np.int64] = field(init=False)
    visits: NDArray[np.int64] = field(init=False)  # of every state after a word
    staying: int = 0  # transitions that stay in their state
    transitions: int = 0
    _state: list[NDArray[np.uint16]] = field(default_factory=list)
    _entries: list[NDArray[np.uint32]] = field(default_factory=list)
    _target: list[NDArray[np.uint16]] = field(default_factory=list)
    _weight: list[NDArray[np.float32]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rows_per_word, self.word_counts = (np.zeros(self.words, np.int64) for _ in range(2))
        self.visits = np.zeros(self.states, np.int64)

    def count(self, counts: TransitionCounts) -> None:
        """Take note of observed transitions, whether they get rows or not."""
        self.word_counts += _added_up(counts.words, counts.counts, self.words)
        self.visits += _added_up(counts.after, counts.counts, self.states)
        self.staying += int(counts.counts[counts.before == counts.after].sum())
        self.transitions += int(counts.counts.sum())

    def add_rows(self, keys: NDArray[np.int64], weights: NDArray[np.number]) -> None:
        """Rows of words above all that were added before; keys: sorted and distinct"""
        row_keys, targets = np.divmod(keys, self.states)
        starts = np.flatnonzero(np.diff(row_keys, prepend=-1))
        row_words, row_states = np.divmod(row_keys[starts], self.states)
        self.rows_per_word += np.bincount(row_words, minlength=self.words)
        self._state.append(row_states.astype(np.uint16))
        self._entries.append(np.diff(np.append(starts, len(keys))).astype(np.uint32))
        self._target.append(targets.astype(np.uint16))
        self._weight.append(weights.astype(np.float32))

    @property
    def self_transition_share(self) -> float:
        """Share of transitions that stay in their state: what 1 − β follows (paper §3.2)."""
        return self.staying / self.transitions if self.transitions else 0.0

    @property
    def bytes_needed(self) -> int:
        """About what the rows so far will take, when they are put together and written."""
        return 40 * sum(map(len, self._target)) + 64 * self.words

    def rows(self) -> Rows:
        """All rows; the pieces are given up."""
        return make_rows(
            self.rows_per_word, _whole(self._state), _whole(self._entries), _whole(self._target), _whole(self._weight)
        )


def _whole(pieces: list[Any]) -> NDArray[Any]:
    whole = np.concatenate(pieces) if pieces else np.zeros(0, np.uint16)
    pieces.clear()
    return whole


def _added_up(places: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Sums of whole numbers, exact up to 2⁵³."""
    return np.bincount(places, counts, size).astype(np.int64)


def by_words(
    paths: Sequence[Path], words: int, states: int, most_bytes: int
) -> Iterator[tuple[TransitionCounts, TransitionCounts]]:
    """Merged counts and augmented counts of one range of words after the other, each of about so many bytes."""
    runs = [[StoredRun(path, name) for path in paths] for name in ("", "augmented.")]
    total = sum(len(run) for kind in runs for run in kind)
    parts = max(1, -(-total * _ENTRY // max(1, most_bytes // 4)))  # merging holds inputs and outputs
    bounds = _even_bounds(runs[0], words * states * states, states * states, parts)
    cuts = [[[run.search(bound) for bound in bounds] for run in kind] for kind in runs]
    for piece in range(len(bounds) - 1):
        first, second = (
            merge_runs([run.stretch(cut[piece], cut[piece + 1]) for run, cut in zip(kind, kind_cuts, strict=True)])
            for kind, kind_cuts in zip(runs, cuts, strict=True)
        )
        yield TransitionCounts(states, *first), TransitionCounts(states, *second)


def _even_bounds(runs: Sequence[StoredRun], end: int, word: int, parts: int) -> list[int]:
    """Keys at which words begin and that cut the runs into about equal parts; a frequent word stays whole."""
    largest = max(runs, key=len)
    marks = {
        int(key) // word * word
        for at in np.linspace(0, len(largest), parts + 1)[1:-1].astype(int)
        for key in largest.stretch(at, at + 1)[0]
    }
    return [0, *sorted(marks - {0}), end]
