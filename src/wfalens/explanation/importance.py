"""Shapley values over a corpus: what a word does on average, and together with which others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.explanation import class_column
from wfalens.explanation.influence import Influence
from wfalens.explanation.shapley_blocks import PAIRS, WORDS, Texts, corpus_sums
from wfalens.explanation.shapley_sums import KeyedSums
from wfalens.html import table_html
from wfalens.scale.run_config import Run

if TYPE_CHECKING:
    import pandas as pd

_Z = 1.959963984540054  # of a two-sided 95 % interval


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
    wfa: WFA,
    texts: Texts,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: Run | None = None,
) -> Importance:
    """Mean φ and |φ| of every word that occurs `min_count` times in the texts; the model is not asked.

    `texts` are texts in memory, or a source of any size such as `TextFiles`. `run` says how they are read (workers, a
    folder from which a stopped run goes on); it has no effect on the figures.
    """
    sums = corpus_sums(wfa, texts, WORDS, absence, run or Run()).frequent(min_count)
    return Importance.of_sums(wfa, wfa.encoder.vocabulary.decode(sums.keys.astype(np.int32)), sums, absence)


def pair_importance(
    wfa: WFA,
    texts: Texts,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: Run | None = None,
) -> Importance:
    """Mean interaction of every pair of words that occurs `min_count` times in a text, the earlier word first.

    `texts` and `run` are those of `word_importance`.
    """
    sums = corpus_sums(wfa, texts, PAIRS, absence, run or Run()).frequent(min_count)
    words = wfa.encoder.vocabulary.words
    names = [f"{words[key // len(words)]} × {words[key % len(words)]}" for key in sums.keys]
    return Importance.of_sums(wfa, names, sums, absence)


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
