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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.explanation.shapley.coalitions import GamePrior, enumerated_shapley

_GRID = [GamePrior(additive, theta) for additive in (0.3, 1.0, 3.0) for theta in (1.6, 3.2, 6.4, 12.8, 25.6)]
_WEIGHED_BY = 256  # coalitions, which decide between λ and θ
_LEAST_WEIGHT = 0.01
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
    fits = [_fit(prior, present[few], outputs[few], mean_square) for prior in _GRID]
    likelihood = np.array([fit.log_likelihood for fit in fits])
    weights = np.exp(likelihood - likelihood.max())
    likely = np.flatnonzero(weights >= _LEAST_WEIGHT)
    fits = [fits[at] if count <= _WEIGHED_BY else _fit(_GRID[at], present, outputs, mean_square) for at in likely]
    means = np.stack([fit.mean for fit in fits])
    squares = np.stack([fit.left[:, None] * fit.scale for fit in fits]) + means**2
    mean, square = (np.average(each, 0, weights[likely]) for each in (means, squares))
    return Estimates(mean, np.sqrt(np.maximum(square - mean**2, 0)), count)


class _Fit(NamedTuple):
    """The regression with one prior."""

    log_likelihood: float  # with the likeliest s², a mean over the classes: they are not independent
    mean: NDArray[np.float64]  # (L, C)
    left: NDArray[np.float64]  # (L,): variance that the outputs leave to the values, over s²
    scale: NDArray[np.float64]  # (C,): s²


def _fit(prior: GamePrior, present: NDArray[np.bool_], outputs: NDArray[np.float64], mean_square: float | None) -> _Fit:
    from scipy.linalg import solve_triangular

    kernel, tiny = prior.kernel(present, present), np.finfo(np.float64).tiny
    factor = np.linalg.cholesky(kernel + _NUGGET * np.eye(len(kernel)))
    columns = np.column_stack([outputs, prior.value_covariance(present)])
    whitened = solve_triangular(factor, columns, lower=True, check_finite=False)
    noise, covariance = np.split(whitened, [outputs.shape[1]], 1)  # (N, C) of variance s² each, (N, L)
    scale = np.square(noise).mean(0)
    deviance = len(kernel) * np.log(scale + tiny).mean()
    if mean_square is not None:
        expected = mean_square / (prior.additive + 1)  # s², before any output
        scale = (np.square(noise).sum(0) + expected) / (len(noise) + 1)
        deviance = (len(kernel) + 1) * np.log(scale + tiny).mean() - np.log(expected + tiny)
    left = np.maximum(prior.value_variance(present.shape[1]) - np.square(covariance).sum(0), 0)
    return _Fit(float(-np.log(np.diag(factor)).sum() - deviance / 2), covariance.T @ noise, left, scale)
