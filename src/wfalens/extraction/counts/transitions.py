"""Abstract transitions, counted sparsely (paper §2: abstract transition count matrices T̂σ)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.extraction.counts.merging import merge_runs, sorted_keys, summed
from wfalens.ragged import Ragged


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
        keys = keys_of(states, words, before, after)
        if counts is None:
            return cls.of_keys(states, keys)
        order = np.argsort(keys, kind="stable")
        return cls(states, *summed(keys[order], counts[order]))

    @classmethod
    def of_keys(cls, states: int, keys: NDArray[np.int64]) -> TransitionCounts:
        """From the keys of single transitions."""
        return cls(states, *summed(sorted_keys(keys), None))

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

    def of_words(self, words: NDArray[np.int32]) -> TransitionCounts:
        """The counts of some words only."""
        kept = np.isin(self.words, words)
        return TransitionCounts(self.states, self.keys[kept], self.counts[kept])

    def self_transition_share(self) -> float:
        """Share of transitions that stay in their state: what 1 − β follows (paper §3.2)."""
        total = self.counts.sum()
        return float(self.counts[self.before == self.after].sum() / total) if total else 0.0


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
    return TransitionCounts.of_keys(states, transition_keys(ids, path, states))


def transition_keys(ids: Ragged[np.int32], path: NDArray[np.int32], states: int) -> NDArray[np.int64]:
    """One key for each token; path: (tokens,) -> (tokens,)"""
    return keys_of(states, ids.values, states_before(ids, path), path)


def keys_of(
    states: int, words: NDArray[np.int32], before: NDArray[np.int32], after: NDArray[np.int32]
) -> NDArray[np.int64]:
    keys = words.astype(np.int64)
    keys *= states
    keys += before
    keys *= states
    keys += after
    return keys


def states_before(ids: Ragged[np.int32], path: NDArray[np.int32]) -> NDArray[np.int32]:
    """The state before each token: that of the token to its left, 0 at the start of a text."""
    before = np.empty_like(path)
    before[1:] = path[:-1]
    before[ids.offsets[:-1][ids.lengths > 0]] = 0
    return before
