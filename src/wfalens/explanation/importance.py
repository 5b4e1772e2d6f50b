"""Shapley values over a corpus: what a word does on average, and together with which others.

Work on a block of texts gives sums (`word_sums`, `pair_sums`); sums of blocks add up (`+`) in any order to the same
numbers, so that a corpus of any size can be read block by block, on any number of machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.influence import Influence
from wfalens.explanation.result import class_column
from wfalens.explanation.shapley.game import checked_absence
from wfalens.explanation.shapley.quadrature import exact_interactions, exact_shapley
from wfalens.explanation.shapley.values import MOST_PAIRED, MOST_WORDS, check_length
from wfalens.html import table_html
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    import pandas as pd

_TOKENS_AT_ONCE = 1 << 15
_UNITS = np.array([1 << 30, 1 << 30, 1 << 24])  # sums of φ, |φ| and φ² are whole multiples of one over these
_LARGEST = 1e4  # value that can be added up often enough
_Z = 1.959963984540054  # of a two-sided 95 % interval


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
        return _collected(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.sums, other.sums]),
        )

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


@dataclass(frozen=True, eq=False)
class Importance:
    """Means over a corpus for words, or for pairs of words "first × second"."""

    names: tuple[str, ...]
    counts: NDArray[np.int64]  # (names,): occurrences
    mean: NDArray[np.float64]  # (names, classes): of φ
    size: NDArray[np.float64]  # (names, classes): of |φ|
    mean_error: NDArray[np.float64]  # (names, classes): standard errors; NaN for what occurred once
    size_error: NDArray[np.float64]
    class_names: tuple[str, ...]
    unit: str
    absence: str

    @classmethod
    def of_sums(cls, wfa: WFA, names: Sequence[str], sums: KeyedSums, absence: str) -> Importance:
        mean, size, square = np.moveaxis(sums.means(), 2, 0)
        counts = sums.counts[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean_error, size_error = (
                np.where(counts > 1, np.sqrt(np.maximum(square - part**2, 0) / (counts - 1)), np.nan)
                for part in (mean, size)
            )
        return cls(tuple(names), sums.counts, mean, size, mean_error, size_error, wfa.class_names, wfa.unit, absence)

    def __len__(self) -> int:
        return len(self.names)

    def subset(self, rows: NDArray[np.int64]) -> Importance:
        names = tuple(self.names[row] for row in rows)
        parts = {name: getattr(self, name)[rows] for name in ("counts", "mean", "size", "mean_error", "size_error")}
        return replace(self, names=names, **parts)

    def of(self, name: str) -> Importance:
        """One word, or one pair "first × second"."""
        if name not in self.names:
            raise InputError(f"no values for {name!r}: it does not occur often enough in these texts")
        return self.subset(np.array([self.names.index(name)]))

    def top(self, class_name: str, k: int = 10) -> Importance:
        """The `k` that matter most for a class: by mean |φ|."""
        column = self.size[:, class_column(self.class_names, class_name)]
        return self.subset(np.argsort(-column, kind="stable")[:k])

    def for_class(self, class_name: str, k: int = 10) -> Importance:
        """The `k` that speak most for a class: by mean φ."""
        column = self.mean[:, class_column(self.class_names, class_name)]
        return self.subset(np.argsort(-column, kind="stable")[:k])

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {"name": self.names, "count": self.counts}
        for at, name in enumerate(self.class_names):
            columns |= {f"{name} mean": self.mean[:, at], f"{name} mean ±": _Z * self.mean_error[:, at]}
            columns |= {f"{name} size": self.size[:, at], f"{name} size ±": _Z * self.size_error[:, at]}
        return pd.DataFrame(columns)

    def to_json(self) -> dict[str, Any]:
        def told(row: int, column: int) -> dict[str, Any]:
            errors = (self.mean_error[row, column], self.size_error[row, column])
            halves = [None if np.isnan(error) else float(_Z * error) for error in errors]
            mean, size = float(self.mean[row, column]), float(self.size[row, column])
            return {"mean": mean, "mean_half_width": halves[0], "size": size, "size_half_width": halves[1]}

        rows = [
            {
                "name": name,
                "count": int(self.counts[row]),
                "values": {label: told(row, column) for column, label in enumerate(self.class_names)},
            }
            for row, name in enumerate(self.names)
        ]
        return {"unit": self.unit, "absence": self.absence, "rows": rows}

    def to_html(self) -> str:
        rows = [
            [name, f"{count:,}", *(f"{mean:+.3f} (|{size:.3f}|)" for mean, size in zip(*row, strict=True))]
            for name, count, *row in zip(self.names, self.counts, self.mean, self.size, strict=True)
        ]
        return table_html(f"Mean φ (and |φ|) by class ({self.unit})", ["name", "seen", *self.class_names], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def word_importance(
    wfa: WFA, texts: Texts, *, absence: str = "delete", min_count: int = 5, progress: Progress = SILENT
) -> Importance:
    """Mean φ and |φ| of every word that occurs `min_count` times in the texts; the model is not asked."""
    sums = _summed(wfa, texts, word_sums, checked_absence(absence), progress)
    sums = _frequent(sums, min_count)
    return Importance.of_sums(wfa, wfa.encoder.vocabulary.decode(sums.keys.astype(np.int32)), sums, absence)


def pair_importance(
    wfa: WFA, texts: Texts, *, absence: str = "delete", min_count: int = 5, progress: Progress = SILENT
) -> Importance:
    """Mean interaction of every pair of words that occurs `min_count` times in a text, the earlier word first."""
    sums = _frequent(_summed(wfa, texts, pair_sums, checked_absence(absence), progress), min_count)
    words = wfa.encoder.vocabulary.words
    names = [f"{words[key // len(words)]} × {words[key % len(words)]}" for key in sums.keys]
    return Importance.of_sums(wfa, names, sums, absence)


def _summed(wfa: WFA, texts: Texts, block_sums: BlockSums, absence: str, progress: Progress) -> KeyedSums:
    ids = wfa.ids(texts)
    ids = ids.take(np.flatnonzero(ids.lengths))
    progress.start("explaining texts", len(ids.values))
    total = KeyedSums.nothing(len(wfa.class_names))
    for block in ids.chunks(_TOKENS_AT_ONCE):
        total += block_sums(wfa, block, absence)
        progress.advance(len(block.values))
    progress.finish()
    return total


def _frequent(sums: KeyedSums, min_count: int) -> KeyedSums:
    often = sums.counts >= max(1, min_count)
    if not often.any():
        raise InputError(f"nothing occurs {min_count} times in these texts; lower the minimum count")
    return KeyedSums(sums.keys[often], sums.counts[often], sums.sums[often])


def rank_correlation(importance: Importance, influence: Influence) -> dict[str, float]:
    """Spearman's ρ of mean φ and the paper's influence score over the words of both, class by class."""
    from scipy.stats import spearmanr

    places = {word: at for at, word in enumerate(influence.words)}
    rows = [at for at, name in enumerate(importance.names) if name in places]
    if len(rows) < 2:
        raise InputError("a rank correlation needs at least two words that have both scores")
    others = [places[importance.names[row]] for row in rows]
    columns = [influence.class_names.index(name) for name in importance.class_names]
    scores = influence.scores[others][:, columns]
    return {
        name: float(spearmanr(importance.mean[rows, at], scores[:, at]).statistic)
        for at, name in enumerate(importance.class_names)
    }
