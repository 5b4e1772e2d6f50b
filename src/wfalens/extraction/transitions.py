"""Abstract transitions, counted sparsely (paper §2: abstract transition count matrices T̂σ), and sums of outputs.

Statistics of texts and their states are additive: blocks add up to the whole in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import rows_from_keys
from wfalens.errors import InputError
from wfalens.extraction.states import PrefixOutputs, States
from wfalens.jit import njit
from wfalens.ragged import Ragged

_UNIT = 1 << 26  # outputs are summed in whole multiples of one over this: the same in any order, for 10¹¹ words
_HELD = 1 << 20  # counts that wait before they are merged
Run = tuple[NDArray[np.int64], NDArray[np.int64]]  # rising distinct keys, and their counts above zero


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """How often `(word, from, to)` was seen: sorted distinct keys and whole-number counts.

    A key is `(word · n + from) · n + to`. Counts are integers, so that `merge` is exactly associative and
    commutative: shards, epochs and machines add up to the same bytes in any order.
    """

    states: int  # n
    keys: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def empty(cls, states: int) -> TransitionCounts:
        return cls(states, np.zeros(0, np.int64), np.zeros(0, np.int64))

    @classmethod
    def of(
        cls,
        states: int,
        words: NDArray[np.int32],
        before: NDArray[np.int32],
        after: NDArray[np.int32],
        counts: NDArray[np.int64] | None = None,
    ) -> TransitionCounts:
        """From transitions that may repeat, each seen `counts` times (None: once)."""
        keys = words.astype(np.int64)
        keys *= states
        keys += before
        keys *= states
        keys += after
        if counts is None:
            return cls(states, *summed(np.sort(keys), None))
        order = np.argsort(keys, kind="stable")
        return cls(states, *summed(keys[order], counts[order]))

    @classmethod
    def in_order(cls, states: int, parts: Sequence[TransitionCounts]) -> TransitionCounts:
        """Of parts whose keys follow each other, such as those of rising words."""
        keys, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("keys", "counts"))
        return cls(states, keys, counts)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def words(self) -> NDArray[np.int64]:
        return self.keys // (self.states * self.states)

    @property
    def before(self) -> NDArray[np.int64]:
        return self.keys // self.states % self.states

    @property
    def after(self) -> NDArray[np.int64]:
        return self.keys % self.states

    def merge(self, *others: TransitionCounts) -> TransitionCounts:
        if any(other.states != self.states for other in others):
            raise InputError("counts over different numbers of states cannot be merged")
        return TransitionCounts(self.states, *merge_runs([(part.keys, part.counts) for part in (self, *others)]))


def summed(keys: NDArray[np.int64], counts: NDArray[np.int64] | None) -> Run:
    """Distinct keys of a sorted run with their summed counts (None: one each)."""
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    if counts is None:
        return keys[starts], np.diff(starts, append=len(keys))
    return keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts


def merge_runs(runs: Sequence[Run]) -> Run:
    """The distinct keys of all runs with their summed counts; the two shortest are merged until one is left."""
    left = sorted(runs, key=lambda run: len(run[0]))
    while len(left) > 1:
        keys, counts = np.empty((2, len(left[0][0]) + len(left[1][0])), np.int64)
        used = _merge(*left[0], *left[1], keys, counts)
        left = sorted([(keys[:used], counts[:used]), *left[2:]], key=lambda run: len(run[0]))
    return left[0]


@njit(cache=True, nogil=True)
def _merge(keys_1, counts_1, keys_2, counts_2, keys, counts):  # type: ignore[no-untyped-def]
    """Two runs as one; -> how many distinct keys there are"""
    one, two, used = 0, 0, 0
    while one < keys_1.shape[0] and two < keys_2.shape[0]:
        first, second = keys_1[one], keys_2[two]
        keys[used] = min(first, second)
        counts[used] = (counts_1[one] if first <= second else 0) + (counts_2[two] if second <= first else 0)
        one += first <= second
        two += second <= first
        used += 1
    for at in range(one, keys_1.shape[0]):
        keys[used], counts[used] = keys_1[at], counts_1[at]
        used += 1
    for at in range(two, keys_2.shape[0]):
        keys[used], counts[used] = keys_2[at], counts_2[at]
        used += 1
    return used


def weighted_sum(
    counts: TransitionCounts, more: TransitionCounts, weight: float
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Keys and weights of `T̂ + weight · T̂'`, T̂' the counts of the augmented texts."""
    if len(more) == 0:
        return counts.keys, counts.counts
    keys, inverse = np.unique(np.concatenate([counts.keys, more.keys]), return_inverse=True)
    return keys, np.bincount(inverse, np.concatenate([counts.counts.astype(np.float64), weight * more.counts]))


def count_transitions(ids: Ragged[np.int32], path: NDArray[np.int32], states: int) -> TransitionCounts:
    """Count `(s, σ, s')` over all tokens; every text starts in state 0. path: (tokens,)."""
    return TransitionCounts.of(states, ids.values, states_before(ids, path), path)


def states_before(ids: Ragged[np.int32], path: NDArray[np.int32]) -> NDArray[np.int32]:
    """The state before each token: that of the token to its left, 0 at the start of a text."""
    before = np.empty_like(path)
    before[1:] = path[:-1]
    before[ids.offsets[:-1][ids.lengths > 0]] = 0
    return before


class TextStatistics:
    """Transitions, those of augmented texts, and sums of outputs by state in units of 1/_UNIT: (n, C)."""

    def __init__(self, states: int, classes: int) -> None:
        self.texts = 0
        self.output_sums = np.zeros((states, classes), np.int64)
        self._counts, self._augmented = _Counter(states), _Counter(states)

    @classmethod
    def of(
        cls, seen: PrefixOutputs, path: NDArray[np.int32], states: States, augmented: Iterable[PrefixOutputs] = ()
    ) -> TextStatistics:
        """Of texts whose states are known, and of texts made from them. path: (tokens,)"""
        total = cls(len(states), seen.outputs.shape[1])
        total.add(seen, path)
        for fresh in augmented:
            total.add_augmented(fresh, states.assign(fresh.points))
        return total

    @property
    def counts(self) -> TransitionCounts:
        return self._counts.result()

    @property
    def augmented(self) -> TransitionCounts:
        return self._augmented.result()

    def add(self, seen: PrefixOutputs, path: NDArray[np.int32]) -> None:
        self._counts.add(count_transitions(seen.ids, path, len(self.output_sums)))
        self.add_sums(len(seen.ids), _output_sums(seen.outputs, path, len(self.output_sums)))

    def add_augmented(self, seen: PrefixOutputs, path: NDArray[np.int32]) -> None:
        self._augmented.add(count_transitions(seen.ids, path, len(self.output_sums)))

    def add_sums(self, texts: int, sums: NDArray[np.int64]) -> None:
        self.texts += texts
        self.output_sums += sums

    def add_counts(self, counts: TransitionCounts, augmented: TransitionCounts) -> None:
        self._counts.add(counts)
        self._augmented.add(augmented)

    def merge(self, other: TextStatistics) -> None:
        """Add the statistics of other texts."""
        self.add_counts(other.counts, other.augmented)
        self.add_sums(other.texts, other.output_sums)

    def mean_outputs(self, visits: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean output of every state that was visited; (n,) -> (n, C)"""
        return np.asarray(self.output_sums / (_UNIT * np.maximum(1, visits))[:, None])


class _Counter:
    """Adds up counts as they come: they wait until there are enough to be merged."""

    def __init__(self, states: int) -> None:
        self._counts = TransitionCounts.empty(states)
        self._waiting: list[TransitionCounts] = []

    def add(self, counts: TransitionCounts) -> None:
        self._waiting.append(counts)
        if sum(map(len, self._waiting)) >= max(_HELD, len(self._counts)):
            self.result()

    def result(self) -> TransitionCounts:
        if self._waiting:
            self._counts, self._waiting = self._counts.merge(*self._waiting), []
        return self._counts


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Rows of observed transitions, and what is counted beside them."""

    word_counts: NDArray[np.int64]  # (V,)
    visits: NDArray[np.int64]  # (n,): of every state, of the first one the number of texts
    self_transition_share: float  # transitions that stay in their state: what 1 − β follows (paper §3.2)
    rows: Callable[[NDArray[np.int32] | None], Rows]  # of all words (None), or of some


def observed_rows(statistics: TextStatistics, words: int, weight: float) -> ObservedRows:
    """Rows for all words; augmented transitions count with a weight."""
    counts, n = statistics.counts, len(statistics.output_sums)
    after = counts.after
    total = counts.counts.sum()
    staying = counts.counts[counts.before == after].sum()
    word_counts = np.bincount(counts.words, counts.counts, words).astype(np.int64)
    visits = np.bincount(after, counts.counts, n).astype(np.int64)
    visits[0] = statistics.texts  # where every text starts

    def rows(chosen: NDArray[np.int32] | None) -> Rows:
        keys, weights = weighted_sum(counts, statistics.augmented, weight)
        if chosen is not None:
            kept = np.isin(keys // (n * n), chosen)
            keys, weights = keys[kept], weights[kept]
        return rows_from_keys(keys, weights, words, n)

    return ObservedRows(word_counts, visits, float(staying / total) if total else 0.0, rows)


def _output_sums(outputs: NDArray[np.float32], path: NDArray[np.int32], states: int) -> NDArray[np.int64]:
    """The summed outputs of each state in units of 1/_UNIT. (N, C), (N,) -> (n, C)"""
    sums = np.zeros((states, outputs.shape[1]), np.int64)
    _add_up(outputs, path, sums)
    return sums


@njit(cache=True, nogil=True)
def _add_up(outputs, path, sums):  # type: ignore[no-untyped-def]
    for token in range(path.shape[0]):
        state = path[token]
        for column in range(outputs.shape[1]):
            sums[state, column] += np.int64(np.rint(np.float64(outputs[token, column]) * _UNIT))
