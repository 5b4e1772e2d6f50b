"""Phrases that decide by themselves, and their regular expressions for raw text (Python's `re`, 3.11 or newer).

An expression finds a phrase where the tokenizer finds it. Two differences remain: a text that is truncated is searched
to its end, and a `"` within a word, which `basic_english` drops, counts as a border between words. No expression
backtracks over a word, so that long texts cannot make one slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.evaluation.agreement import wilson_bounds
from wfalens.explanation.attribution import class_column
from wfalens.results import Result

GAP_SIGN = "…"
_OWN_SHARE = 0.2  # of the effect: what a phrase with `more_than_words` has of its own
Words = Sequence[str | None]  # None: the gap

_MARKS = frozenset(".,()!?'")  # words of their own for basic_english
_PART = r"""[^\s;:".,()!?']"""  # a character of any other word
_APART = r"""(?:[\s;:"]|<br />)*+"""
_BEGINS = rf"(?:(?<!{_PART})|(?<=<br />))(?!<br />|(?<=<br )/>)"  # and not within a line break, which is no word
_ENDS = r"""(?=[\s;:".,()!?']|<br />|\Z)"""
_TOKEN = rf"(?:[.,()!?']|(?:(?!<br />){_PART})++)"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DecidingPhrases(Result):
    """Words and phrases with their class; those whose effect exceeds that of their words come first."""

    words: tuple[tuple[str | None, ...], ...]  # (N,): None is a gap of one to `gap` words
    regexes: tuple[str | None, ...]  # (N,): None where the tokenizer is not a built-in one
    labels: NDArray[np.int64]  # (N,): the class that each phrase raises most
    effects: NDArray[np.float64]  # (N, C): in a random context, against random words in its place
    interactions: NDArray[np.float64]  # (N, C): effect minus the sum of the effects of its words
    support: NDArray[np.int64]  # (N,): texts that contain it
    hits: NDArray[np.int64]  # (N,): those of them to which the reference gives its class
    true_hits: NDArray[np.int64] | None  # (N,): those whose true class is its class, where that is known
    texts: int  # all that were searched
    base_rates: NDArray[np.float64]  # (C,): share of all texts to which the reference gives each class
    reference: str  # whose classes count: "network", or "automaton" where no network was given
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
        """Share of the texts with the phrase to which the reference gives its class; (N,)"""
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
        """The first `k` of every class with `more_than_words`, and the first `k` others, in the same order."""
        group = self.labels * 2 + self.more_than_words
        rank = np.empty(len(self), np.int64)
        for each in np.unique(group):
            members = group == each
            rank[members] = np.arange(members.sum())
        return self.subset(np.flatnonzero(rank < k))

    @property
    def title(self) -> str:
        return (
            f"{len(self):,} deciding phrases in {self.texts:,} texts: effect in {self.unit}, "
            f"precision for the {self.reference}"
        )

    def rows(self) -> list[dict[str, Any]]:
        low, high = self.interval
        columns: dict[str, Any] = {
            "phrase": self.phrases,
            "class": [self.class_names[label] for label in self.labels],
            "effect": self.effect.tolist(),
            "interaction": self.interaction.tolist(),
            "more than words": self.more_than_words.tolist(),
            "texts": self.support.tolist(),
            "precision": self.precision.tolist(),
            "precision low": low.tolist(),
            "precision high": high.tolist(),
            "lift": self.lift.tolist(),
            "regex": self.regexes,
        }
        if self.true_precision is not None:
            columns["true precision"] = self.true_precision.tolist()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_dict(self) -> dict[str, Any]:
        base = dict(zip(self.class_names, self.base_rates.tolist(), strict=True))
        about = {"unit": self.unit, "reference": self.reference, "texts": self.texts, "gap": self.gap}
        return {**about, "base_rates": base, "phrases": self.rows()}


def more_than_words(effect: NDArray[np.float64], interaction: NDArray[np.float64]) -> NDArray[np.bool_]:
    # (N,), (N,) -> (N,)
    return np.asarray(interaction >= _OWN_SHARE * effect)


def regular_expression(words: Words, gap: int, tokenizer: str) -> str | None:
    """The phrase for `re.search`; None where the tokenizer is not one of the built-in ones."""
    spell = _SPELLINGS.get(tokenizer)
    return None if spell is None else spell(words, gap)


def _whitespace(words: Words, gap: int) -> str:
    some = rf"\S++(?:\s++\S++){{0,{gap - 1}}}"
    spelled = r"\s++".join(some if word is None else re.escape(word) for word in words)
    return rf"(?<!\S){spelled}(?!\S)"


def _basic_english(words: Words, gap: int) -> str:
    some = rf"{_TOKEN}(?:{_APART}{_TOKEN}){{0,{gap - 1}}}"

    def spelled(word: str | None) -> str:
        if word is None:
            return some
        return re.escape(word) + ("" if word in _MARKS else _ENDS)

    return f"(?i){'' if words[0] in _MARKS else _BEGINS}{_APART.join(map(spelled, words))}"


def _characters(words: Words, gap: int) -> str:
    return f"(?s){''.join(f'.{{1,{gap}}}' if word is None else re.escape(word) for word in words)}"


_SPELLINGS: dict[str, Callable[[Words, int], str]] = {
    "whitespace": _whitespace,
    "basic_english": _basic_english,
    "characters": _characters,
}
