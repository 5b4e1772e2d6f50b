"""Automaton and model side by side, text by text: consistency rate, Jensen-Shannon divergence, selective fidelity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.walk import Walk
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.messages import listed
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import jensen_shannon as jensen_shannon
from wfalens.ragged import Ragged
from wfalens.results import Result, plain

RARE = 5  # a word seen at most that often in extraction is rare
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
MANY = 100_000  # texts from which on resampling costs much and its own noise exceeds what it could correct
_Z = 1.959963984540054  # of a two-sided 95 % interval
_RESAMPLES = 1000
_BLOCK = 1 << 22  # resampled values held at once
_DECILES = 10
_DIGITS = 1e9  # thresholds end after nine decimals, rounded down: they survive printing and the last bit


@dataclass(frozen=True, eq=False)
class Estimate:
    """A value with its 95 % interval; it compares with numbers as its value does.

    Examples:
        >>> from wfalens.evaluation import Estimate
        >>> rate = Estimate(0.95, 0.9, 0.98)
        >>> print(rate)
        0.950 [0.900, 0.980]
        >>> rate > 0.9, float(rate)
        (True, 0.95)
        >>> Estimate(1.0, 0.9, 1.0) <= 1
        True
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __lt__(self, other: SupportsFloat) -> bool:
        return self.value < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return self.value <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return self.value > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return self.value >= float(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Estimate):
            return (self.value, self.low, self.high) == (other.value, other.low, other.high)
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        spec = spec or ".3f"
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"


@dataclass(frozen=True)
class Agreement:
    """Consistency rate and mean divergence over a number of texts."""

    texts: int
    cr: Estimate
    jsd: Estimate

    def __str__(self) -> str:
        return f"CR {self.cr}, JSD {self.jsd:.4f} on {self.texts:,} texts"


def agreement(agrees: NDArray[np.bool_], divergence: NDArray[np.float64], rng: np.random.Generator) -> Agreement:
    """CR with Wilson's interval and mean JSD with a bootstrap interval. agrees, divergence: (texts,)"""
    return Agreement(len(agrees), wilson(int(agrees.sum()), len(agrees)), mean_estimate(divergence, rng))


def wilson(hits: int, total: int) -> Estimate:
    """A share with Wilson's score interval."""
    low, high = wilson_bounds(np.array([hits]), np.array([total]))
    return Estimate(hits / total, float(low[0]), float(high[0]))


def wilson_bounds(hits: NDArray[np.int64], total: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of Wilson's interval for many shares at once; (N,), (N,) -> (N,), (N,)"""
    share, weight = hits / total, _Z * _Z / total
    middle = (share + weight / 2) / (1 + weight)
    half = _Z * np.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    # at 0 and 1 the interval touches the share itself, which rounding may miss by one bit
    return np.minimum(share, np.maximum(0.0, middle - half)), np.maximum(share, np.minimum(1.0, middle + half))


def bootstrap_mean(
    sums: NDArray[np.float64], rng: np.random.Generator, counts: NDArray[np.int64] | None = None
) -> Estimate:
    """A mean with the percentile interval over resampled texts; with counts, the mean over all parts of the texts.

    sums: (texts,), of the parts of each; counts: (texts,), how many parts each has
    """
    counts = np.ones(len(sums), np.int64) if counts is None else counts
    means = np.empty(_RESAMPLES)
    step = max(1, _BLOCK // len(sums))
    for start in range(0, _RESAMPLES, step):
        block = slice(start, min(start + step, _RESAMPLES))
        draws = rng.integers(len(sums), size=(block.stop - start, len(sums)), dtype=np.int32)
        means[block] = sums[draws].sum(1) / counts[draws].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))


def mean_estimate(values: NDArray[np.float64], rng: np.random.Generator) -> Estimate:
    """A mean with its bootstrap interval; of many values that of the normal distribution, to which it tends."""
    if len(values) < MANY:
        return bootstrap_mean(values, rng)
    mean, half = float(values.mean()), _Z * float(values.std()) / np.sqrt(len(values))
    return Estimate(mean, float(mean - half), float(mean + half))


@dataclass(frozen=True, eq=False)
class Comparison:
    """One entry for each text; small enough for many millions of them."""

    label: NDArray[np.int32]  # the model's class
    predicted: NDArray[np.int32]  # the automaton's, -1 for undecided
    divergence: NDArray[np.float64]  # Jensen-Shannon, of the two outputs
    confidence: NDArray[np.float64]  # the automaton's largest probability
    length: NDArray[np.int32]
    rare: NDArray[np.float64]  # share of the words that are rare
    truth: NDArray[np.int32] | None = None  # the true class, where labels are known
    outputs: NDArray[np.floating] | None = None  # (texts, C): the model's, where they are kept

    @classmethod
    def of(
        cls,
        wfa: WFA,
        ids: Ragged[np.int32],
        outputs: NDArray[np.floating],
        truth: NDArray[np.integer] | None = None,
    ) -> Comparison:
        """Read texts with the automaton; comparisons of several blocks of texts merge with `joined`.

        ids: no text is empty; outputs: (texts, C), the model's after the last word; truth: (texts,)
        """
        weights = wfa.prediction_weights(ids)
        probabilities = wfa.probabilities(weights)
        rare = (wfa.word_counts[ids.values] <= RARE).astype(np.float64)
        return cls(
            outputs.argmax(1).astype(np.int32),
            wfa.decide(weights).astype(np.int32),
            jensen_shannon(probabilities, outputs.astype(np.float64)),
            probabilities.max(1),
            ids.lengths.astype(np.int32),
            np.add.reduceat(rare, ids.offsets[:-1]) / ids.lengths,
            None if truth is None else truth.astype(np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence[Comparison]) -> Comparison:
        """One comparison of several, all with labels and outputs or all without."""
        known = [field.name for field in fields(cls) if getattr(parts[0], field.name) is not None]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in known})

    def __len__(self) -> int:
        return len(self.label)

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Where both choose the same class; (texts,)"""
        return np.asarray(self.label == self.predicted)


def check_pair(wfa: WFA, model: PrefixClassifier | None) -> None:
    """Refuse a model that cannot be the one that the automaton was extracted from; without a model all is well."""
    if model is None:
        return
    if not isinstance(model, PrefixClassifier):
        raise InputError(
            f"the model must be a wrapped classifier (wfalens.wrap), not {type(model).__name__}", code="model-type"
        )
    if wfa.class_names != tuple(model.class_names):
        classes = listed(wfa.class_names), listed(model.class_names)
        raise InputError(f"the automaton's classes ({classes[0]}) are not the model's ({classes[1]})", code="classes")
    words, others = wfa.encoder.vocabulary, model.encoder.vocabulary
    if words is not others and words != others:
        raise InputError("the automaton was extracted from a model with another vocabulary", code="vocabulary")


def trace_text(wfa: WFA, text: str, model: PrefixClassifier | None = None) -> Walk:
    """Read a text word by word, with the network beside the automaton if it is given."""
    walk = wfa.walk(text)
    if not walk.words:
        raise InputError("the text has no words", code="no-words")
    if model is None:
        return walk
    check_pair(wfa, model)
    return replace(walk, network=model.trace(model.encoder.encode([text])).values)


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
        return tuple(map(self._at_coverage, COVERAGES))

    def select(
        self, *, coverage: float | None = None, min_cr: float | None = None, min_confidence: float | None = None
    ) -> Selection | None:
        """What is answered at a coverage, at a lower bound of CR, or at a confidence; None if nothing is.

        A threshold for a CR is the best of many on these texts: confirm it on others.

        Args:
            coverage: the share of texts to answer, the most confident first, and those as sure as the last of them.
            min_cr: the lower bound that the CR of the answers must reach; as many as possible are answered.
            min_confidence: the least probability of the most probable class.

        Examples:
            >>> selection = wfa.fidelity(model, corpus).selective.select(coverage=0.8)
            >>> selection.coverage >= 0.8
            True
        """
        if sum(option is not None for option in (coverage, min_cr, min_confidence)) != 1:
            raise InputError("give one of coverage, min_cr and min_confidence", code="option-value")
        if coverage is not None:
            return self._at_coverage(coverage)
        if min_cr is not None:
            return self._at_rate(min_cr)
        return self._selected(min_confidence or 0.0) if self.confidence[0] >= (min_confidence or 0.0) else None

    def _at_coverage(self, coverage: float) -> Selection:
        if not 0 < coverage <= 1:
            raise InputError(f"coverage must be a share above 0 and at most 1, not {coverage}")
        last = max(1, math.ceil(coverage * len(self.confidence) - 1e-9)) - 1
        return self._selected(float(_rounded_down(self.confidence[last])))

    def _at_rate(self, cr: float) -> Selection | None:
        thresholds = np.unique(_rounded_down(self.confidence))  # rising, so that coverage falls
        texts = np.searchsorted(-self.confidence, -thresholds, side="right")
        lowest, _ = wilson_bounds(self._agreed[texts - 1], texts)
        reached = np.flatnonzero(lowest >= cr)
        return self._selected(float(thresholds[reached[0]])) if len(reached) else None

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
