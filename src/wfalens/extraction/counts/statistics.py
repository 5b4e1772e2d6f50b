"""Statistics of texts and their states; they are additive, so that blocks add up to the whole in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import make_rows
from wfalens.extraction.counts.transitions import TransitionCounts, transition_keys, weighted_sum
from wfalens.extraction.states.abstraction import States
from wfalens.extraction.states.views import PrefixOutputs
from wfalens.ragged import Ragged

_UNIT = 1 << 30  # outputs are summed in whole multiples of one over this: the same in any order
_HELD = 1 << 20  # keys that are held before they are counted


class TextStatistics:
    """Transitions, those of augmented texts, and sums of outputs by state, as high and low 32 bits: (n, C, 2)."""

    def __init__(self, states: int, classes: int) -> None:
        self.texts = 0
        self.output_sums = np.zeros((states, classes, 2), np.int64)
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
        self._counts.add_texts(seen.ids, path)
        self.add_sums(len(seen.ids), _output_sums(seen.outputs, path, len(self.output_sums)))

    def add_augmented(self, seen: PrefixOutputs, path: NDArray[np.int32]) -> None:
        self._augmented.add_texts(seen.ids, path)

    def add_sums(self, texts: int, sums: NDArray[np.int64]) -> None:
        self.texts += texts
        self.output_sums = _carried(self.output_sums + sums)

    def merge(self, other: TextStatistics) -> None:
        """Add the statistics of other texts."""
        self._counts.add(other.counts)
        self._augmented.add(other.augmented)
        self.add_sums(other.texts, other.output_sums)

    def add_counts(self, counts: TransitionCounts, augmented: TransitionCounts) -> None:
        self._counts.add(counts)
        self._augmented.add(augmented)

    def mean_outputs(self, visits: NDArray[np.int64]) -> NDArray[np.float64]:
        """The mean output of every state that was visited; (n,) -> (n, C)"""
        whole = self.output_sums[..., 0].astype(object) * (1 << 32) + self.output_sums[..., 1].astype(object)
        return np.array(
            [[int(each) / (_UNIT * max(1, int(of))) for each in row] for row, of in zip(whole, visits, strict=True)]
        )


class _Counter:
    """Counts transitions as they come: they are held until there are enough to be sorted or merged."""

    def __init__(self, states: int) -> None:
        self._counts = TransitionCounts.empty(states)
        self._keys: list[NDArray[np.int64]] = []
        self._others: list[TransitionCounts] = []

    def add_texts(self, ids: Ragged[np.int32], path: NDArray[np.int32]) -> None:
        self._keys.append(transition_keys(ids, path, self._counts.states))
        self._fold_if(sum(map(len, self._keys)))

    def add(self, counts: TransitionCounts) -> None:
        self._others.append(counts)
        self._fold_if(sum(map(len, self._others)))

    def _fold_if(self, held: int) -> None:
        if held >= max(_HELD, len(self._counts)):
            self.result()

    def result(self) -> TransitionCounts:
        if self._keys:
            self._others.append(TransitionCounts.of_keys(self._counts.states, np.concatenate(self._keys)))
            self._keys = []
        if self._others:
            self._counts = self._counts.merge(*self._others)
            self._others = []
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
    word_counts, visits = np.zeros(words, np.int64), np.zeros(n, np.int64)
    staying, total = _count(counts.keys, counts.counts, n, word_counts, visits)
    visits[0] = statistics.texts  # where every text starts

    def rows(chosen: NDArray[np.int32] | None) -> Rows:
        keys, weights = weighted_sum(counts, statistics.augmented, weight)
        if chosen is not None:
            kept = np.isin(keys // (n * n), chosen)
            keys, weights = keys[kept], weights[kept]
        per_word = np.zeros(words, np.int64)
        state, entries = np.empty(len(keys), np.uint16), np.empty(len(keys), np.uint32)
        target = np.empty(len(keys), np.uint16)
        number = _divide(keys, n, per_word, state, entries, target)
        return make_rows(per_word, state[:number], entries[:number], target, weights)

    return ObservedRows(word_counts, visits, staying / total if total else 0.0, rows)


@njit(cache=True, nogil=True)
def _count(keys, counts, states, word_counts, visits):  # type: ignore[no-untyped-def]
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
def _divide(keys, states, rows_per_word, state, entries, target):  # type: ignore[no-untyped-def]
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


def _output_sums(outputs: NDArray[np.float32], path: NDArray[np.int32], states: int) -> NDArray[np.int64]:
    """The summed outputs of each state in units of 1/_UNIT: high and low 32 bits. (N, C), (N,) -> (n, C, 2)"""
    sums = np.zeros((states, outputs.shape[1]), np.int64)
    _add_up(outputs, path, sums)
    return _carried(np.stack([np.zeros_like(sums), sums], 2))


@njit(cache=True, nogil=True)
def _add_up(outputs, path, sums):  # type: ignore[no-untyped-def]
    for token in range(path.shape[0]):
        state = path[token]
        for column in range(outputs.shape[1]):
            sums[state, column] += np.int64(np.rint(np.float64(outputs[token, column]) * _UNIT))


def _carried(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers with less than 32 bits in their low part, so that it never overflows."""
    high, low = sums[..., 0], sums[..., 1]
    return np.stack([high + (low >> 32), low & 0xFFFFFFFF], -1)
