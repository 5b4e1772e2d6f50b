"""From parts of counts to the rows of an automaton, a range of words at a time.

Parts are sorted, so a range of words is one stretch of each: the stretches are read, merged and turned into rows at
once. The counts of a whole corpus are never in memory together, only the rows that they become.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.automaton.kernels import Rows
from wfalens.automaton.rows import make_rows
from wfalens.extraction.evidence.merging import Run, Runs, empty_run, merged
from wfalens.extraction.evidence.transitions import TransitionCounts
from wfalens.ragged import offsets_of
from wfalens.storage import SlicedFile

_KINDS = ("", "augmented.")  # of runs in a part: what their names begin with
_ENTRY = 16  # bytes of a key and its count that are being merged
_MOST_AT_ONCE = 1 << 24  # bytes that are merged: more are not merged faster
_WINDOW = 1 << 14  # keys that are read to find one among them


@dataclass(frozen=True)
class StoredRun:
    """Sorted keys and their counts within a file, read a stretch at a time."""

    file: SlicedFile
    name: str  # before "keys" and "counts"

    def __len__(self) -> int:
        return self.file.size(f"{self.name}keys")

    def places(self, keys: Sequence[int]) -> NDArray[np.int64]:
        """The first place with at least that key, for each of some."""
        firsts = self.keys_at(np.arange(0, len(self), _WINDOW))
        starts = np.maximum(np.searchsorted(firsts, keys) - 1, 0) * _WINDOW
        ends = np.minimum(starts + _WINDOW, len(self))
        windows = self._stretches(starts, ends)
        inside = [np.searchsorted(window.astype(np.int64), key) for window, key in zip(windows, keys, strict=True)]
        return starts + np.array(inside)

    def keys_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *self._stretches(places, places + 1)], dtype=np.int64)

    def _stretches(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[NDArray[np.integer]]:
        name = f"{self.name}keys"
        return self.file.slices((name, first, end) for first, end in zip(starts.tolist(), ends.tolist(), strict=True))

    def read(self, first: int, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Fill the arrays with what stands from a place on."""
        if len(keys):
            wanted = [(f"{self.name}{part}", first, first + len(keys)) for part in ("keys", "counts")]
            keys[:], counts[:] = self.file.slices(wanted)


class Assembled:
    """Rows as they come, and what is counted on the way."""

    def __init__(self, words: int, states: int, most: int) -> None:
        """`most`: a bound on the transitions that get rows; memory is taken as they come."""
        self.words, self.states = words, states
        self.word_counts = np.zeros(words, np.int64)
        self.visits = np.zeros(states, np.int64)  # of every state after a word
        self.staying = self.transitions = 0  # transitions that stay in their state, and all
        self._rows = self._entries = 0
        self._per_word = np.zeros(words, np.int64)
        self._state, self._per_row = np.empty(most, np.uint16), np.empty(most, np.uint32)
        self._target, self._weight = np.empty(most, np.uint16), np.empty(most, np.float32)

    def count(self, counts: TransitionCounts) -> None:
        """Take note of observed transitions, whether they get rows or not."""
        staying, total = _tally(counts.keys, counts.counts, self.states, self.word_counts, self.visits)
        self.staying += staying
        self.transitions += total

    def add_rows(self, keys: NDArray[np.int64], weights: NDArray[np.number]) -> None:
        """Rows of words above all that were added before; keys: sorted and distinct"""
        into = slice(self._entries, self._entries + len(keys))
        state, per_row = self._state[self._rows :], self._per_row[self._rows :]
        self._rows += _divided(keys, self.states, self._per_word, state, per_row, self._target[into])
        self._weight[into] = weights
        self._entries += len(keys)

    @property
    def self_transition_share(self) -> float:
        """Share of transitions that stay in their state: what 1 − β follows (paper §3.2)."""
        return self.staying / self.transitions if self.transitions else 0.0

    @property
    def bytes_needed(self) -> int:
        """About what the rows so far will take, when they are put together and written."""
        return 40 * self._entries + 64 * self.words

    def rows(self) -> Rows:
        rows, entries = self._rows, self._entries
        return make_rows(
            self._per_word, self._state[:rows], self._per_row[:rows], self._target[:entries], self._weight[:entries]
        )


@njit(cache=True, nogil=True)
def _tally(keys, counts, states, word_counts, visits):  # type: ignore[no-untyped-def]
    """Add up by word and by state; -> how many stay in their state, how many there are"""
    staying, total = 0, 0
    for at in range(keys.shape[0]):
        row, after = divmod(keys[at], states)
        word, before = divmod(row, states)
        word_counts[word] += counts[at]
        visits[after] += counts[at]
        total += counts[at]
        if before == after:
            staying += counts[at]
    return staying, total


@njit(cache=True, nogil=True)
def _divided(keys, states, rows_per_word, state, entries, target):  # type: ignore[no-untyped-def]
    """Where rows begin: the state of each, its number of entries, and the target of every entry; -> rows"""
    rows, earlier = 0, np.int64(-1)
    for at in range(keys.shape[0]):
        row, after = divmod(keys[at], states)
        target[at] = after
        if row != earlier:
            word, before = divmod(row, states)
            rows_per_word[word] += 1
            state[rows], entries[rows] = before, 0
            rows += 1
            earlier = row
        entries[rows - 1] += np.uint32(1)
    return rows


def entries_in(paths: Sequence[Path]) -> int:
    """How many entries there are in parts, before they are merged."""
    return sum(len(StoredRun(SlicedFile(path), name)) for path in paths for name in _KINDS)


def by_words(
    paths: Sequence[Path], words: int, states: int, most_bytes: int
) -> Iterator[tuple[TransitionCounts, TransitionCounts]]:
    """Merged counts and augmented counts of one range of words after the other; all use the same memory in turn."""
    kinds = [[StoredRun(SlicedFile(path), name) for path in paths] for name in _KINDS]
    at_once = max(1, min(most_bytes // 4, _MOST_AT_ONCE))  # merging holds inputs and outputs
    parts = max(1, -(-entries_in(paths) * _ENTRY // at_once))
    bounds = _even_bounds(kinds[0], words * states * states, states * states, parts)
    pieces = [_Pieces.of(runs, bounds) for runs in kinds]
    for number in range(len(bounds) - 1):
        counts, more = (TransitionCounts(states, *each.merged(number)) for each in pieces)
        yield counts, more


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Stored runs that are cut at the same keys, and memory for the largest piece and for what it is merged to."""

    runs: Sequence[StoredRun]
    cuts: NDArray[np.int64]  # (runs, pieces + 1)
    held: Run
    result: Run

    @classmethod
    def of(cls, runs: Sequence[StoredRun], bounds: Sequence[int]) -> _Pieces:
        cuts = np.array([run.places(bounds) for run in runs])
        largest = int(np.diff(cuts).sum(0).max())
        return cls(runs, cuts, empty_run(largest), empty_run(largest))

    def merged(self, piece: int) -> Run:
        first, behind = self.cuts[:, piece], self.cuts[:, piece + 1]
        offsets = offsets_of(behind - first)
        keys, counts = (part[: offsets[-1]] for part in self.held)
        for run, place, (start, end) in zip(self.runs, first.tolist(), pairwise(offsets.tolist()), strict=True):
            run.read(place, keys[start:end], counts[start:end])
        return merged(Runs(keys, counts, offsets), self.result)


def _even_bounds(runs: Sequence[StoredRun], end: int, word: int, parts: int) -> list[int]:
    """Keys at which words begin and that cut the runs into about equal parts; a frequent word stays whole."""
    largest = max(runs, key=len)
    if len(largest) == 0:
        return [0, end]
    keys = largest.keys_at(np.linspace(0, len(largest), parts + 1)[1:-1].astype(np.int64))
    return [0, *sorted({int(key) // word * word for key in keys} - {0}), end]
