"""Sums of Shapley values by word, or of interactions by pair of words, that add up in any order to the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.quadrature import exact_interactions, exact_shapley
from wfalens.explanation.shapley.shapley_values import MOST_PAIRED, MOST_WORDS, check_length
from wfalens.ragged import Ragged

_UNITS = np.array([1 << 30, 1 << 30, 1 << 24])  # sums of φ, |φ| and φ² are whole multiples of one over these
_LARGEST = 1e3  # value, so that the sums of a block of texts cannot overflow


@dataclass(frozen=True, eq=False)
class KeyedSums:
    """Sums of values by key, sorted. Whole numbers make addition exactly associative and commutative."""

    keys: NDArray[np.int64]  # (K,)
    counts: NDArray[np.int64]  # (K,)
    sums: NDArray[np.int64]  # (K, C, 3): of φ, |φ| and φ²

    @classmethod
    def nothing(cls, classes: int) -> KeyedSums:
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, classes, 3), np.int64))

    @classmethod
    def of(cls, keys: NDArray[np.integer], values: NDArray[np.float64]) -> KeyedSums:
        # (N,), (N, C)
        if np.abs(values).max(initial=0) > _LARGEST:
            raise InputError(f"values beyond ±{_LARGEST:,.0f} cannot be added up")
        moments = np.stack([values, np.abs(values), values**2], 2)
        whole = np.rint(moments * _UNITS).astype(np.int64)
        return _collected(keys.astype(np.int64), np.ones(len(keys), np.int64), whole)

    def __add__(self, other: KeyedSums) -> KeyedSums:
        total = _collected(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.sums, other.sums]),
        )
        if np.any(total.sums[..., 1:] < 0):  # sums of |φ| and φ² that passed 2^63
            raise InputError("there are too many texts, or values too large, to be added up")
        return total

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.counts.nbytes + self.sums.nbytes

    def frequent(self, min_count: int) -> KeyedSums:
        """What occurs so often; refused if nothing does."""
        often = self.counts >= max(1, min_count)
        if not often.any():
            raise InputError(f"nothing occurs {min_count} times in these texts; lower the minimum count")
        return KeyedSums(self.keys[often], self.counts[often], self.sums[often])

    def means(self) -> NDArray[np.float64]:
        """Of φ, |φ| and φ²; -> (K, C, 3)"""
        return np.asarray(self.sums / _UNITS / self.counts[:, None, None])


def _collected(keys: NDArray[np.int64], counts: NDArray[np.int64], sums: NDArray[np.int64]) -> KeyedSums:
    if len(keys) == 0:
        return KeyedSums(keys, counts, sums)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return KeyedSums(keys[order][starts], np.add.reduceat(counts[order], starts), np.add.reduceat(sums[order], starts))


def word_sums(wfa: WFA, ids: Ragged[np.int32], absence: str) -> KeyedSums:
    """The values of all words of a block of texts, by word id."""
    check_length(ids, MOST_WORDS, "explained word by word")
    values, _ = exact_shapley(wfa, ids, absence)
    return KeyedSums.of(ids.values, values.values)


def pair_sums(wfa: WFA, ids: Ragged[np.int32], absence: str) -> KeyedSums:
    """The interactions of all pairs of words in a block of texts, by `first · V + second`, the earlier word first."""
    check_length(ids, MOST_PAIRED, "explained by pairs of words")
    keys, values = [np.zeros(0, np.int64)], [np.zeros((0, len(wfa.class_names)))]
    for text, table in zip(ids, exact_interactions(wfa, ids, absence), strict=True):
        first, second = np.triu_indices(len(text), 1)
        keys.append(text[first].astype(np.int64) * len(wfa.encoder.vocabulary) + text[second])
        values.append(table[first, second])
    return KeyedSums.of(np.concatenate(keys), np.concatenate(values))


BlockSums = Callable[[WFA, Ragged[np.int32], str], KeyedSums]
