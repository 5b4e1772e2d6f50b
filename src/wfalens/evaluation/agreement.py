"""How far an automaton agrees with its model: consistency rate and Jensen-Shannon divergence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # of a two-sided 95 % interval
_RESAMPLES = 1000
_BLOCK = 1 << 22  # resampled values held at once
MANY = 100_000  # texts from which on resampling costs much and its own noise exceeds what it could correct


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
    mean = normal_mean(divergence) if len(divergence) >= MANY else bootstrap_mean(divergence, rng)
    return Agreement(len(agrees), wilson(int(agrees.sum()), len(agrees)), mean)


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


def bootstrap_mean(values: NDArray[np.float64], rng: np.random.Generator) -> Estimate:
    """A mean with the percentile interval over resampled texts."""
    means = np.empty(_RESAMPLES)
    step = max(1, _BLOCK // len(values))
    for start in range(0, _RESAMPLES, step):
        block = slice(start, min(start + step, _RESAMPLES))
        draws = rng.integers(len(values), size=(block.stop - start, len(values)), dtype=np.int32)
        means[block] = values[draws].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(values.mean()), float(low), float(high))


def bootstrap_ratio(sums: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator) -> Estimate:
    """A mean over all parts of all texts with the percentile interval over resampled texts; (texts,), (texts,)"""
    ratios = np.empty(_RESAMPLES)
    step = max(1, _BLOCK // len(sums))
    for start in range(0, _RESAMPLES, step):
        block = slice(start, min(start + step, _RESAMPLES))
        draws = rng.integers(len(sums), size=(block.stop - start, len(sums)), dtype=np.int32)
        ratios[block] = sums[draws].sum(1) / counts[draws].sum(1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high))


def normal_mean(values: NDArray[np.float64]) -> Estimate:
    """A mean with the interval of the normal distribution, to which that of resampling tends."""
    mean, half = float(values.mean()), _Z * float(values.std()) / np.sqrt(len(values))
    return Estimate(mean, float(mean - half), float(mean + half))
