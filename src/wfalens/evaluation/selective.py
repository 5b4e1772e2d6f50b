"""When an automaton may be trusted: agreement by its confidence, and what it answers if it may say "unsure"."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.evaluation.agreement import Estimate, wilson, wilson_bounds

if TYPE_CHECKING:
    import pandas as pd

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


@dataclass(frozen=True, eq=False)
class SelectiveFidelity:
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

        It is the best of many on these texts: what it is worth, only other texts can tell.
        """
        thresholds = np.unique(_rounded_down(self.confidence))  # rising, so that coverage falls
        texts = np.searchsorted(-self.confidence, -thresholds, side="right")
        lowest, _ = wilson_bounds(self._agreed[texts - 1], texts)
        reached = np.flatnonzero(lowest >= cr)
        return self._selected(float(thresholds[reached[0]])) if len(reached) else None

    def to_json(self) -> dict[str, Any]:
        return {"deciles": [asdict(each) for each in self.deciles], "curve": [asdict(each) for each in self.curve]}

    def to_dataframe(self) -> pd.DataFrame:
        """One row per decile and per coverage: texts, mean or least confidence, CR and its interval."""
        import pandas as pd

        groups = [("decile", str(each.number), each.texts, each.confidence, each.cr) for each in self.deciles]
        groups += [
            ("coverage", f"{wanted:.0%}", each.texts, each.min_confidence, each.cr)
            for wanted, each in zip(COVERAGES, self.curve, strict=True)
        ]
        return pd.DataFrame(
            [
                {"by": by, "group": group, "texts": texts, "confidence": sure, "cr": cr.value}
                | {"cr_low": cr.low, "cr_high": cr.high}
                for by, group, texts, sure, cr in groups
            ]
        )

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
