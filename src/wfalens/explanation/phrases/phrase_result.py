"""Phrases that decide by themselves, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.evaluation.agreement import wilson_bounds
from wfalens.explanation.explanation import class_column
from wfalens.html import table_html
from wfalens.messages import sentence

if TYPE_CHECKING:
    import pandas as pd

GAP_SIGN = "…"
COLUMNS = ("phrase", "class", "effect", "interaction", "texts", "precision [95 %]", "lift", "truth")
_LONGEST_SHOWN = 80  # characters of a phrase in a table
_OWN_SHARE = 0.2  # of the effect: what a phrase that says more than its words has of its own


@dataclass(frozen=True, eq=False, kw_only=True)
class DecidingPhrases:
    """Words and phrases with their class; those that say more than their words come first."""

    words: tuple[tuple[str | None, ...], ...]  # (N,): None is a gap of one to `gap` words
    regexes: tuple[str | None, ...]  # (N,): None where the tokenizer is not a built-in one
    labels: NDArray[np.int64]  # (N,): class to which each phrase speaks
    effects: NDArray[np.float64]  # (N, C): in a random context, against random words in its place
    interactions: NDArray[np.float64]  # (N, C): effect minus the sum of the effects of its words
    support: NDArray[np.int64]  # (N,): texts that contain it
    hits: NDArray[np.int64]  # (N,): those of them to which the judge gives its class
    true_hits: NDArray[np.int64] | None  # (N,): those whose true class is its class, where that is known
    texts: int  # all that were searched
    base_rates: NDArray[np.float64]  # (C,): share of all texts to which the judge gives each class
    judge: str  # "network", or "automaton" where no network was given
    gap: int
    class_names: tuple[str, ...]
    unit: str

    def __len__(self) -> int:
        return len(self.words)

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(" ".join(GAP_SIGN if word is None else word for word in words) for words in self.words)

    @property
    def effect(self) -> NDArray[np.float64]:
        """On the phrase's own class; (N,)"""
        return np.asarray(self.effects[np.arange(len(self)), self.labels])

    @property
    def interaction(self) -> NDArray[np.float64]:
        """On the phrase's own class; (N,)"""
        return np.asarray(self.interactions[np.arange(len(self)), self.labels])

    @property
    def more_than_words(self) -> NDArray[np.bool_]:
        """Whether a fifth of the effect or more is not in the single words, as in "not good"; (N,)"""
        return more_than_words(self.effect, self.interaction)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the texts with the phrase to which the judge gives its class; (N,)"""
        return np.asarray(self.hits / self.support)

    @property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends of the 95 % intervals of the precisions (Wilson); (N,), (N,)"""
        return wilson_bounds(self.hits, self.support)

    @property
    def lift(self) -> NDArray[np.float64]:
        """Precision over the share of the class among all texts; (N,)"""
        return np.asarray(self.precision / self.base_rates[self.labels])

    @property
    def true_precision(self) -> NDArray[np.float64] | None:
        """Share of the texts with the phrase whose true class is its class; (N,)"""
        return None if self.true_hits is None else np.asarray(self.true_hits / self.support)

    def subset(self, rows: NDArray[np.int64]) -> DecidingPhrases:
        parts = {name: getattr(self, name)[rows] for name in ("labels", "effects", "interactions", "support", "hits")}
        return replace(
            self,
            words=tuple(self.words[row] for row in rows),
            regexes=tuple(self.regexes[row] for row in rows),
            true_hits=None if self.true_hits is None else self.true_hits[rows],
            **parts,
        )

    def of_class(self, class_name: str) -> DecidingPhrases:
        return self.subset(np.flatnonzero(self.labels == class_column(self.class_names, class_name)))

    def top(self, k: int = 10) -> DecidingPhrases:
        """The first `k` of every class that say more than their words, and the first `k` others, in the same order."""
        group = self.labels * 2 + self.more_than_words
        rank = np.empty(len(self), np.int64)
        for each in np.unique(group):
            members = group == each
            rank[members] = np.arange(members.sum())
        return self.subset(np.flatnonzero(rank < k))

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        low, high = self.interval
        return pd.DataFrame(
            {
                "phrase": self.phrases,
                "class": [self.class_names[label] for label in self.labels],
                "effect": self.effect,
                "interaction": self.interaction,
                "more than words": self.more_than_words,
                "texts": self.support,
                "precision": self.precision,
                "precision low": low,
                "precision high": high,
                "lift": self.lift,
                **({} if self.true_hits is None else {"true precision": self.true_precision}),
                "regex": self.regexes,
            }
        )

    def to_json(self) -> dict[str, Any]:
        low, high = self.interval
        truth = self.true_precision
        rows = [
            {
                "phrase": phrase,
                "words": list(self.words[row]),
                "class": self.class_names[self.labels[row]],
                "effect": float(self.effect[row]),
                "interaction": float(self.interaction[row]),
                "more_than_words": bool(self.more_than_words[row]),
                "texts": int(self.support[row]),
                "precision": float(self.precision[row]),
                "precision_interval": [float(low[row]), float(high[row])],
                "lift": float(self.lift[row]),
                "true_precision": None if truth is None else float(truth[row]),
                "regex": self.regexes[row],
            }
            for row, phrase in enumerate(self.phrases)
        ]
        base = dict(zip(self.class_names, map(float, self.base_rates), strict=True))
        told = {"unit": self.unit, "judge": self.judge, "texts": self.texts, "gap": self.gap, "base_rates": base}
        return {**told, "phrases": rows}

    def shown(self) -> list[list[str]]:
        """Cells for a table, see `COLUMNS`; very long words are cut."""
        low, high = self.interval
        truth = self.true_precision
        return [
            [
                sentence(phrase, _LONGEST_SHOWN),
                sentence(self.class_names[self.labels[row]], _LONGEST_SHOWN),
                f"{self.effect[row]:+.2f}",
                f"{self.interaction[row]:+.2f}" if len(self.words[row]) > 1 else "",
                f"{self.support[row]:,}",
                f"{self.precision[row]:.2f} [{low[row]:.2f}, {high[row]:.2f}]",
                f"{self.lift[row]:.1f}",
                "" if truth is None else f"{truth[row]:.2f}",
            ]
            for row, phrase in enumerate(self.phrases)
        ]

    def to_html(self) -> str:
        title = f"Deciding phrases in {self.texts:,} texts: effect in {self.unit}, precision for the {self.judge}"
        return table_html(title, COLUMNS, self.shown())

    def _repr_html_(self) -> str:
        return self.to_html()


def more_than_words(effect: NDArray[np.float64], interaction: NDArray[np.float64]) -> NDArray[np.bool_]:
    # (N,), (N,) -> (N,)
    return np.asarray(interaction >= _OWN_SHARE * effect)
