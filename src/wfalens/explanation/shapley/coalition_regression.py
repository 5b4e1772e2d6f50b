"""Shapley values of any game from the outputs of some of its coalitions, by Gaussian process regression.

Shapley values are linear in the game, so with the prior `v ~ N(0, s²·K)` (`coalitions`) the outputs v(T) of some
coalitions T give them a normal distribution with

    mean  φ[K]·K⁻¹·v,     variance  s²·(φφ[K] − φ[K]·K⁻¹·φ[K])

The mean is shrunk towards an even share of v(all) − v(none) as far as λ and θ demand, adds up to that difference, and
is exact when all coalitions are asked. Means over a grid of λ and θ, weighted by likelihood, decide between them; s²
has Jeffreys' prior, which makes Student's t of the normal distribution. Where the mean square of outputs is known
beforehand, as that of an automaton's residual on held-out texts, it counts as one more observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.explanation.shapley.coalitions import GamePrior, enumerated_shapley

_GRID = [GamePrior(additive, theta) for additive in (0.3, 1.0, 3.0) for theta in (1.6, 3.2, 6.4, 12.8, 25.6)]
_WEIGHED_BY = 256  # coalitions, which decide between λ and θ
_LEAST_WEIGHT = 0.01
_WIDENED = 1.06  # standard errors, for what λ and θ leave open; chosen on three models, see the benchmark for others
_NUGGET = 1e-8  # is added to the diagonal for outputs in single precision


@dataclass(frozen=True, eq=False)
class Estimates:
    """Shapley values, and how far off they may be."""

    values: NDArray[np.float64]  # (L, C)
    standard_error: NDArray[np.float64]  # (L, C): the scale of Student's t; 0 where the values are exact
    samples: int  # coalitions, which are the degrees of freedom; 0: the values are exact

    @classmethod
    def exact(cls, values: NDArray[np.float64]) -> Estimates:
        return cls(values, np.zeros_like(values), 0)

    def __add__(self, other: Estimates) -> Estimates:
        """Values of the sum of two games that were estimated independently."""
        error = np.hypot(self.standard_error, other.standard_error)
        return Estimates(self.values + other.values, error, max(self.samples, other.samples))

    def fields(self) -> dict[str, Any]:
        """What an `Attribution` holds of them."""
        return vars(self) | ({} if self.samples else {"standard_error": None})


def estimate_shapley(
    present: NDArray[np.bool_], outputs: NDArray[np.float64], mean_square: float | None = None
) -> Estimates:
    """Shapley values from the outputs of some coalitions, no word and all words among them; (N, L), (N, C) -> (L, C)

    mean_square: of the outputs of other texts
    """
    count, players = present.shape
    if count == 1 << players:
        return Estimates.exact(enumerated_shapley(outputs[np.argsort(present @ (1 << np.arange(players)))]))
    few = slice(_WEIGHED_BY)
    fits = [_Fit(prior, present[few], outputs[few], mean_square) for prior in _GRID]
    likelihood = np.array([fit.log_likelihood for fit in fits])
    weights = np.exp(likelihood - likelihood.max())
    likely = np.flatnonzero(weights >= _LEAST_WEIGHT)
    if count > _WEIGHED_BY:
        fits = [_Fit(prior, present, outputs, mean_square) for prior in _GRID]
    means, variances = (np.stack([getattr(fits[at], name) for at in likely]) for name in ("mean", "variance"))
    mean, total = np.average(means, 0, weights[likely]), variances + means**2
    variance = np.maximum(np.average(total, 0, weights[likely]) - mean**2, 0)
    return Estimates(mean, _WIDENED * np.sqrt(variance), count)


@dataclass(frozen=True, eq=False)
class _Fit:
    """The regression with one prior; what is asked of it is computed then."""

    prior: GamePrior
    present: NDArray[np.bool_]  # (N, L)
    outputs: NDArray[np.float64]  # (N, C)
    mean_square: float | None

    @cached_property
    def _factor(self) -> NDArray[np.float64]:
        """K's Cholesky factor; (N, N)"""
        kernel = self.prior.kernel(self.present, self.present)
        return np.asarray(np.linalg.cholesky(kernel + _NUGGET * np.eye(len(kernel))))

    def _whitened(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self._factor, right, lower=True, check_finite=False))

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """The outputs as independent numbers of variance s²; (N, C)"""
        return self._whitened(self.outputs)

    @property
    def _expected(self) -> float | None:
        """s², before any output."""
        return None if self.mean_square is None else self.mean_square / (self.prior.additive + 1)

    @cached_property
    def _scale(self) -> NDArray[np.float64]:
        """s² of every class; (C,)"""
        if self._expected is None:
            return np.asarray(np.square(self._noise).mean(0))
        return np.asarray((np.square(self._noise).sum(0) + self._expected) / (len(self._noise) + 1))

    @property
    def log_likelihood(self) -> float:
        """With the likeliest s², a mean over the classes: they are not independent."""
        tiny = np.finfo(np.float64).tiny
        scale = np.log(self._scale + tiny).mean()
        known = 0.0 if self._expected is None else (scale - np.log(self._expected + tiny)) / 2
        return float(-np.log(np.diag(self._factor)).sum() - len(self.present) / 2 * scale - known)

    @cached_property
    def _covariance(self) -> NDArray[np.float64]:
        """Of the values with the outputs, whitened; (N, L)"""
        return self._whitened(self.prior.value_covariance(self.present))

    @property
    def mean(self) -> NDArray[np.float64]:
        """(L, C)"""
        return np.asarray(self._covariance.T @ self._noise)

    @property
    def left_variance(self) -> NDArray[np.float64]:
        """What the outputs leave of the variance of the values, over s²; (L,)"""
        prior = self.prior.value_variance(self.present.shape[1])
        return np.asarray(np.maximum(prior - np.square(self._covariance).sum(0), 0))

    @property
    def variance(self) -> NDArray[np.float64]:
        """(L, C)"""
        return self.left_variance[:, None] * self._scale
