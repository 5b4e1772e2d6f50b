"""Shapley values over a corpus: means by word and by pair of words, and all occurrences of one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.attribution import class_column
from wfalens.explanation.influence import Influence
from wfalens.explanation.shapley.game import checked_absence
from wfalens.explanation.shapley.quadrature import exact_shapley
from wfalens.explanation.shapley.shapley_blocks import PAIRS, WORDS, corpus_sums
from wfalens.explanation.shapley.shapley_sums import KeyedSums, pair_sums, word_sums
from wfalens.explanation.shapley.shapley_values import MOST_WORDS, check_length
from wfalens.results import Result
from wfalens.scale.run_config import RunConfig
from wfalens.text.corpus import Corpus
from wfalens.text.files import TextFiles

_TOKENS_AT_ONCE = 1 << 15
_Z = 1.959963984540054  # of a two-sided 95 % interval


@dataclass(frozen=True, eq=False, repr=False)
class Importance(Result):
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
            message = f"no values for {name!r}: it does not occur often enough in these texts"
            raise InputError(message, code="word-without-score")
        return self.subset(np.array([self.names.index(name)]))

    def top(self, class_name: str, k: int = 10) -> Importance:
        """The `k` that matter most for a class: by mean |φ|."""
        column = self.size[:, class_column(self.class_names, class_name)]
        return self.subset(np.argsort(-column, kind="stable")[:k])

    def for_class(self, class_name: str, k: int = 10) -> Importance:
        """The `k` that raise a class most: by mean φ."""
        column = self.mean[:, class_column(self.class_names, class_name)]
        return self.subset(np.argsort(-column, kind="stable")[:k])

    @property
    def title(self) -> str:
        return f"Mean φ and |φ| of {len(self):,} names by class, with 95 % half-widths ({self.unit})"

    def rows(self) -> list[dict[str, Any]]:
        parts = {
            "mean": self.mean,
            "mean ±": _Z * self.mean_error,
            "size": self.size,
            "size ±": _Z * self.size_error,
        }
        return [
            {"name": name, "count": int(self.counts[row])}
            | {
                f"{label} {part}": float(values[row, at])
                for at, label in enumerate(self.class_names)
                for part, values in parts.items()
            }
            for row, name in enumerate(self.names)
        ]


def word_importance(
    wfa: WFA,
    texts: Texts | Corpus | TextFiles,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: RunConfig | None = None,
) -> Importance:
    """Mean φ and |φ| of every word that occurs `min_count` times in the texts; without a query of the model.

    `texts` are in memory, or `TextFiles` of any size. `run` says how files are read (workers,
    checkpoints); it has no effect on the figures.
    """
    sums = _sums(wfa, texts, WORDS, absence, run).frequent(min_count)
    return Importance.of_sums(wfa, wfa.encoder.vocabulary.decode(sums.keys.astype(np.int32)), sums, absence)


def pair_importance(
    wfa: WFA,
    texts: Texts | Corpus | TextFiles,
    *,
    absence: str = "delete",
    min_count: int = 5,
    run: RunConfig | None = None,
) -> Importance:
    """Mean interaction of every pair of words that occurs `min_count` times in a text, the earlier word first.

    `texts` and `run` are those of `word_importance`.
    """
    sums = _sums(wfa, texts, PAIRS, absence, run).frequent(min_count)
    words = wfa.encoder.vocabulary.words
    names = [f"{words[key // len(words)]} × {words[key % len(words)]}" for key in sums.keys]
    return Importance.of_sums(wfa, names, sums, absence)


def _sums(wfa: WFA, texts: Texts | Corpus | TextFiles, kind: str, absence: str, run: RunConfig | None) -> KeyedSums:
    """Of texts in memory, here; of files, block by block."""
    absence = checked_absence(absence)
    if isinstance(texts, TextFiles):
        return corpus_sums(wfa, texts, kind, absence, run or RunConfig())
    _, ids = wfa.ids(texts.texts if isinstance(texts, Corpus) else texts).nonempty()
    if len(ids) == 0:
        raise InputError("there is no text with a word in it", code="no-words")
    total = KeyedSums.nothing(len(wfa.class_names))
    for part in ids.chunks(_TOKENS_AT_ONCE):
        total += word_sums(wfa, part, absence) if kind == WORDS else pair_sums(wfa, part, absence)
    return total


def rank_correlation(importance: Importance, influence: Influence) -> dict[str, float]:
    """Spearman's ρ of mean φ and the paper's influence score over the words of both, class by class."""
    from scipy.stats import spearmanr

    places = {word: at for at, word in enumerate(influence.words)}
    rows = [at for at, name in enumerate(importance.names) if name in places]
    if len(rows) < 2:
        raise InputError("a rank correlation needs at least two words that have both scores", code="few-words")
    others = [places[importance.names[row]] for row in rows]
    columns = [influence.class_names.index(name) for name in importance.class_names]
    scores = influence.scores[others][:, columns]
    return {
        name: float(spearmanr(importance.mean[rows, at], scores[:, at]).statistic)
        for at, name in enumerate(importance.class_names)
    }


@dataclass(frozen=True, eq=False, repr=False)
class Occurrences(Result):
    """Every occurrence of a word in some texts, with its context and its Shapley values."""

    word: str
    contexts: tuple[str, ...]  # (N,): the words around it
    texts: NDArray[np.int64]  # (N,): number of the text
    positions: NDArray[np.int64]  # (N,)
    values: NDArray[np.float64]  # (N, classes)
    class_names: tuple[str, ...]
    unit: str

    def __add__(self, other: Occurrences) -> Occurrences:
        """These texts followed by others, whose numbers are their own."""
        return replace(
            self,
            contexts=self.contexts + other.contexts,
            texts=np.concatenate([self.texts, other.texts]),
            positions=np.concatenate([self.positions, other.positions]),
            values=np.concatenate([self.values, other.values]),
        )

    def quantiles(self, class_name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> list[float]:
        column = self.values[:, class_column(self.class_names, class_name)]
        return [float(value) for value in np.quantile(column, shares)]

    def extremes(self, class_name: str, k: int = 5) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Contexts in which the word lowers a class most, and in which it raises it most, with the values."""
        column = self.values[:, class_column(self.class_names, class_name)]
        order = np.argsort(column, kind="stable")
        low, high = (
            [(self.contexts[at], float(column[at])) for at in places] for places in (order[:k], order[::-1][:k])
        )
        return low, high

    @property
    def title(self) -> str:
        return f"{len(self.contexts):,} occurrences of {self.word} ({self.unit})"

    def rows(self) -> list[dict[str, Any]]:
        places = zip(self.texts.tolist(), self.positions.tolist(), self.contexts, self.values.tolist(), strict=True)
        return [
            {"text": text, "position": at, "context": context, **dict(zip(self.class_names, values, strict=True))}
            for text, at, context, values in places
        ]


def word_occurrences(
    wfa: WFA, texts: Texts, word: str, *, absence: str = "delete", around: int = 4, first_text: int = 0
) -> Occurrences:
    """All occurrences of one word, with `around` words to each side; texts are numbered from `first_text` on."""
    if word not in wfa.encoder.vocabulary:
        raise InputError(f"the automaton does not know the word {word!r}", code="unknown-word")
    ids, code = wfa.ids(texts), wfa.encoder.vocabulary.id_of(word)
    containing = np.unique(ids.item_of_value()[ids.values == code])
    if len(containing) == 0:
        raise InputError(f"the word {word!r} does not occur in these texts", code="unknown-word")
    chosen = ids.take(containing)
    check_length(chosen, MOST_WORDS, "explained word by word")
    values, _ = exact_shapley(wfa, chosen, checked_absence(absence))
    places = np.flatnonzero(chosen.values == code)
    item = chosen.item_of_value()[places]
    positions = places - chosen.offsets[item]
    contexts = [
        " ".join(wfa.encoder.vocabulary.decode(chosen[text][max(0, at - around) : at + around + 1]))
        for text, at in zip(item, positions, strict=True)
    ]
    return Occurrences(
        word,
        tuple(contexts),
        first_text + containing[item],
        positions,
        values.values[places],
        wfa.class_names,
        wfa.unit,
    )
