"""From parts of counts to the rows of an automaton, a range of words at a time.

Parts are sorted, so a range of words is one stretch of each: the stretches are read, merged and turned into rows at
once. The counts of a whole corpus are never in memory together, only the rows that they become.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import make_rows
from wfalens.extraction.counts.count_parts import KINDS, CountParts
from wfalens.extraction.counts.merging import Run, Runs, empty_run, merged
from wfalens.extraction.counts.transitions import TransitionCounts, weighted_sum
from wfalens.ragged import offsets_of
from wfalens.scale.checkpoints import Slices
from wfalens.scale.run_config import Session

_ENTRY = 16  # bytes of a key and its count that are being merged
_LEAST_AT_ONCE, _MOST_AT_ONCE = 1 << 22, 1 << 24  # bytes that are merged: more are not merged faster
_WINDOW = 1 << 14  # keys that are read to find one among them


@dataclass(frozen=True, eq=False)
class StoredRun:
    """Sorted keys and their counts within a part, read a stretch at a time."""

    part: Slices
    kind: str  # before "keys" and "counts"

    def __len__(self) -> int:
        return self.part.size(f"{self.kind}keys")

    def starts(self, keys: Sequence[int]) -> NDArray[np.int64]:
        """The first entry with at least that key, for each of some."""
        firsts = self.keys_at(np.arange(0, len(self), _WINDOW))
        starts = np.maximum(np.searchsorted(firsts, keys) - 1, 0) * _WINDOW
        windows = self._stretches(starts, np.minimum(starts + _WINDOW, len(self)))
        inside = [np.searchsorted(window.astype(np.int64), key) for window, key in zip(windows, keys, strict=True)]
        return starts + np.array(inside)

    def keys_at(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *self._stretches(entries, entries + 1)], dtype=np.int64)

    def read(self, first: int, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Fill the arrays with what stands from an entry on."""
        if len(keys):
            wanted = [(f"{self.kind}{list_}", first, first + len(keys)) for list_ in ("keys", "counts")]
            keys[:], counts[:] = self.part.slices(wanted)

    def _stretches(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[NDArray[np.integer]]:
        name = f"{self.kind}keys"
        return self.part.slices((name, first, end) for first, end in zip(starts.tolist(), ends.tolist(), strict=True))


def assembled(evidence: CountParts, words: int, states: int, weight: float, session: Session) -> Assembled:
    """Rows for all words; augmented transitions count with a weight."""
    runs = _runs(evidence)
    entries = sum(len(run) for kind in runs for run in kind)
    result = Assembled(words, states, min(entries, words * states * states))
    room = session.room
    at_once = _MOST_AT_ONCE if room is None else min(max(_LEAST_AT_ONCE, room // 16), _MOST_AT_ONCE)
    for counts, more in by_words(runs, words, states, at_once):
        session.check_room(result.bytes_needed, "the automaton")
        result.count(counts)
        result.add_rows(*weighted_sum(counts, more, weight))
    return result


def _runs(evidence: CountParts) -> list[list[StoredRun]]:
    parts = [evidence.parts.sliced(name) for name in evidence.names]
    return [[StoredRun(part, kind) for part in parts] for kind in KINDS]


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

    def rows(self, words: NDArray[np.int32] | None = None) -> Rows:
        """The rows of all words, or of some."""
        per_word, rows, entries = self._per_word, self._rows, self._entries
        state, per_row = self._state[:rows], self._per_row[:rows]
        target, weight = self._target[:entries], self._weight[:entries]
        if words is not None:
            chosen = np.zeros(self.words, bool)
            chosen[words] = True
            row = np.repeat(chosen, per_word)
            entry = np.repeat(row, per_row)
            per_word = np.where(chosen, per_word, 0)
            state, per_row, target, weight = state[row], per_row[row], target[entry], weight[entry]
        return make_rows(per_word, state, per_row, target, weight)


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


def by_words(
    kinds: Sequence[Sequence[StoredRun]], words: int, states: int, at_once: int
) -> Iterator[tuple[TransitionCounts, TransitionCounts]]:
    """Merged counts and augmented counts of one range of words after the other; all use the same memory in turn."""
    entries = sum(len(run) for runs in kinds for run in runs)
    ranges = max(1, -(-entries * _ENTRY // at_once))
    bounds = _even_bounds(kinds[0], words * states * states, states * states, ranges)
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
        cuts = np.array([run.starts(bounds) for run in runs])
        largest = int(np.diff(cuts).sum(0).max())
        return cls(runs, cuts, empty_run(largest), empty_run(largest))

    def merged(self, piece: int) -> Run:
        first, behind = self.cuts[:, piece], self.cuts[:, piece + 1]
        offsets = offsets_of(behind - first)
        keys, counts = (part[: offsets[-1]] for part in self.held)
        for run, entry, (start, end) in zip(self.runs, first.tolist(), pairwise(offsets.tolist()), strict=True):
            run.read(entry, keys[start:end], counts[start:end])
        if len(self.runs) == 1:
            return keys, counts
        return merged(Runs(keys, counts, offsets), self.result)


def _even_bounds(runs: Sequence[StoredRun], end: int, word: int, parts: int) -> list[int]:
    """Keys at which words begin and that cut the runs into about equal parts; a frequent word stays whole."""
    largest = max(runs, key=len)
    if len(largest) == 0:
        return [0, end]
    keys = largest.keys_at(np.linspace(0, len(largest), parts + 1)[1:-1].astype(np.int64))
    return [0, *sorted({int(key) // word * word for key in keys} - {0}), end]
