"""Selective fidelity: agreement by confidence, and what remains if texts of low confidence are not answered."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.evaluation.agreement import Estimate, wilson, wilson_bounds
from wfalens.results import Result, plain

COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
_DECILES = 10
_DIGITS = 1e9  # thresholds end after nine decimals, rounded down: they survive printing and the last bit


@dataclass(frozen=True)
class Decile:
    """A tenth of the texts by confidence; equal confidences stay together."""

    number: int  # 1: the least sure
    texts: int
    confidence: float  # mean
    least: float  # of the confidences
    cr: Estimate


@dataclass(frozen=True)
class Selection:
    """What is answered at a confidence of at least `min_confidence`, and how often the model agrees there."""

    min_confidence: float
    coverage: float  # share of the texts
    texts: int
    cr: Estimate

    def __str__(self) -> str:
        answered = f"answers {self.coverage:.1%} of the texts with CR {self.cr}"
        return f"with a confidence of at least {self.min_confidence:.9f} it {answered}"


@dataclass(frozen=True, eq=False, repr=False)
class SelectiveFidelity(Result):
    """Confidence and agreement, text by text, the surest first."""

    confidence: NDArray[np.float64]  # (texts,), falling
    agrees: NDArray[np.bool_]  # (texts,)

    @classmethod
    def of(cls, confidence: NDArray[np.float64], agrees: NDArray[np.bool_]) -> SelectiveFidelity:
        """From texts in any order."""
        if len(confidence) == 0:
            raise InputError("selective fidelity needs at least one text")
        order = np.argsort(-confidence, kind="stable")
        return cls(confidence[order], agrees[order])

    @property
    def deciles(self) -> tuple[Decile, ...]:
        """From the least sure to the surest; where many texts are equally sure, there are fewer than ten."""
        less_sure = len(self.confidence) - np.searchsorted(-self.confidence, -self.confidence, side="right")
        number = 1 + _DECILES * less_sure // len(self.confidence)
        return tuple(self._decile(each, number == each) for each in np.unique(number).tolist())

    @property
    def curve(self) -> tuple[Selection, ...]:
        """What is answered at each of `COVERAGES`."""
        return tuple(map(self.at_coverage, COVERAGES))

    def at_coverage(self, coverage: float) -> Selection:
        """Answer that share of the texts, the surest first, and those that are as sure as the last of them."""
        if not 0 < coverage <= 1:
            raise InputError(f"coverage must be a share above 0 and at most 1, not {coverage}")
        last = max(1, math.ceil(coverage * len(self.confidence) - 1e-9)) - 1
        return self._selected(float(_rounded_down(self.confidence[last])))

    def at_confidence(self, min_confidence: float) -> Selection | None:
        """Answer where the automaton is at least that sure; None if it is so nowhere."""
        return self._selected(min_confidence) if self.confidence[0] >= min_confidence else None

    def at_rate(self, cr: float) -> Selection | None:
        """The largest coverage at which the lower bound of CR reaches a rate; None if there is none.

        It is the best of many thresholds on these texts: confirm it on others.
        """
        thresholds = np.unique(_rounded_down(self.confidence))  # rising, so that coverage falls
        texts = np.searchsorted(-self.confidence, -thresholds, side="right")
        lowest, _ = wilson_bounds(self._agreed[texts - 1], texts)
        reached = np.flatnonzero(lowest >= cr)
        return self._selected(float(thresholds[reached[0]])) if len(reached) else None

    def select(
        self, *, coverage: float | None = None, min_cr: float | None = None, min_confidence: float | None = None
    ) -> Selection | None:
        """What is answered at a coverage, at a lower bound of CR, or at a confidence; None if nothing is.

        Args:
            coverage: the share of texts to answer, the most confident first.
            min_cr: the lower bound that the CR of the answers must reach.
            min_confidence: the least probability of the most probable class.

        Examples:
            >>> selection = wfa.fidelity(model, corpus).selective.select(coverage=0.8)
            >>> selection.coverage >= 0.8
            True
        """
        if sum(option is not None for option in (coverage, min_cr, min_confidence)) != 1:
            raise InputError("give one of coverage, min_cr and min_confidence", code="option-value")
        if coverage is not None:
            return self.at_coverage(coverage)
        return self.at_rate(min_cr) if min_cr is not None else self.at_confidence(min_confidence or 0.0)

    def to_dict(self) -> dict[str, Any]:
        return {"deciles": plain(self.deciles), "curve": plain(self.curve)}

    @property
    def title(self) -> str:
        return "CR by confidence and by coverage"

    def summary(self) -> str:
        """What is answered at each coverage."""
        return "\n".join([self.title, *map(str, self.curve)])

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per decile and per coverage: texts, mean or least confidence, CR and its interval."""
        groups = [("decile", str(each.number), each.texts, each.confidence, each.cr) for each in self.deciles]
        groups += [
            ("coverage", f"{coverage:.0%}", each.texts, each.min_confidence, each.cr)
            for coverage, each in zip(COVERAGES, self.curve, strict=True)
        ]
        for by, group, texts, confidence, cr in groups:
            row: dict[str, Any] = {"by": by, "group": group, "texts": texts, "confidence": confidence}
            yield row | {"cr": cr.value, "cr_low": cr.low, "cr_high": cr.high}

    @cached_property
    def _agreed(self) -> NDArray[np.int64]:
        """Agreements among the first texts; (texts,)"""
        return np.cumsum(self.agrees)

    def _selected(self, min_confidence: float) -> Selection:
        texts = int(np.searchsorted(-self.confidence, -min_confidence, side="right"))
        cr = wilson(int(self._agreed[texts - 1]), texts)
        return Selection(min_confidence, texts / len(self.confidence), texts, cr)

    def _decile(self, number: int, chosen: NDArray[np.bool_]) -> Decile:
        texts = int(chosen.sum())
        agreed = wilson(int(self.agrees[chosen].sum()), texts)
        here = self.confidence[chosen]
        return Decile(number, texts, float(here.mean()), float(here.min()), agreed)


def _rounded_down(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.floor(confidence * _DIGITS) / _DIGITS
