"""Shapley values of any game from the outputs of some of its coalitions, by Gaussian process regression.

Coalitions that differ in few of the L players have similar outputs. As a prior over games,

    v ~ N(0, s²·K),     K(S, T) = c + λ·(1 − 2d/L) + exp(−θ·d/L),     d = |S △ T|

has three parts: a constant, an additive game, and one in which all orders of interaction are, the more the larger θ is.
The last is `Π_i ρ^[i is in one of S and T only]`, ρ = exp(−θ/L). Shapley values are linear in the game, so the outputs
v(T) of some coalitions T give them a normal distribution with

    mean  φ[K]·K⁻¹·v,     variance  s²·(φφ[K] − φ[K]·K⁻¹·φ[K])

φ of a product over the players is an integral of a polynomial (Owen 1972, as for automata), exact by Gauss-Legendre
quadrature. The mean is shrunk towards an even share of v(all) − v(none) as far as λ and θ demand, adds up to that
difference, and is exact when all coalitions are asked. Means over a grid of λ and θ, weighted by likelihood, decide
between them; s² has Jeffreys' prior, which makes Student's t of the normal distribution. Where the mean square of
outputs is known beforehand, as that of an automaton's residual on held-out texts, it counts as one more observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.explanation.shapley.quadrature import gauss_legendre

MOST_COALITIONS = 4096  # that one regression takes
_LISTED = 16  # players up to which all coalitions may be asked
_GRID = [(additive, roughness) for additive in (0.3, 1.0, 3.0) for roughness in (1.6, 3.2, 6.4, 12.8, 25.6)]  # λ, θ
_WEIGHED_BY = 256  # coalitions, which decide between λ and θ
_LEAST_WEIGHT = 0.01
_WIDENED = 1.06  # standard errors, for what λ and θ leave open; chosen on three models, see the benchmark for others
_CONSTANT, _NUGGET = 10.0, 1e-8  # c, and what is added to the diagonal for outputs in single precision


def all_coalitions(players: int) -> NDArray[np.bool_]:
    """In the order of their numbers, whose bit t says whether player t is present; -> (2^L, L)"""
    return np.asarray((np.arange(1 << players)[:, None] >> np.arange(players) & 1).astype(bool))


def most_coalitions(players: int, budget: int) -> int:
    """How many coalitions a budget pays for: all of them, or what a regression takes."""
    return 1 << players if players <= _LISTED and budget >= 1 << players else min(budget, MOST_COALITIONS)


def draw_coalitions(players: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """None, all, and random pairs of complements, no coalition twice; -> (count, L)

    Sizes are drawn as KernelSHAP weighs them, `1 / (k·(L − k))`: the smallest and largest coalitions come first. With
    an equal generator, a larger count begins with the coalitions of a smaller one.
    """
    if players <= _LISTED:
        numbers = np.arange(1, 1 << (players - 1))
        weights = np.array([1 / (k * (players - k) * comb(players, k)) for k in range(1, players)])
        waiting = rng.exponential(size=len(numbers)) / weights[np.bitwise_count(numbers) - 1]
        order = np.append(0, numbers[np.argsort(waiting)])
        return np.asarray(all_coalitions(players)[np.stack([order, (1 << players) - 1 - order], 1).ravel()[:count]])
    share = 1 / (np.arange(1, players) * np.arange(players - 1, 0, -1))
    drawn = {row.tobytes(): row for row in (np.zeros(players, bool), np.ones(players, bool))}
    while len(drawn) < count:
        row = rng.permutation(players) < rng.choice(players - 1, p=share / share.sum()) + 1
        drawn |= {each.tobytes(): each for each in (row, ~row)}
    return np.array(list(drawn.values())[:count])


def enumerated_shapley(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the values of all coalitions, in the order of their numbers; (2^L, C) -> (L, C)"""
    length = len(values).bit_length() - 1
    present = all_coalitions(length)
    sizes = present.sum(1)
    share = np.array([factorial(k) * factorial(length - 1 - k) / factorial(length) for k in range(length)])
    entering, staying_out = share[np.maximum(sizes - 1, 0)], share[np.minimum(sizes, length - 1)]
    return np.asarray(np.where(present, entering[:, None], -staying_out[:, None]).T @ values)


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
    fits = [_Fit(present[few], outputs[few], mean_square, *priors) for priors in _GRID]
    likelihood = np.array([fit.log_likelihood for fit in fits])
    weights = np.exp(likelihood - likelihood.max())
    likely = np.flatnonzero(weights >= _LEAST_WEIGHT)
    if count > _WEIGHED_BY:
        fits = [_Fit(present, outputs, mean_square, *priors) for priors in _GRID]
    means, variances = (np.stack([getattr(fits[at], name) for at in likely]) for name in ("mean", "variance"))
    mean, total = np.average(means, 0, weights[likely]), variances + means**2
    variance = np.maximum(np.average(total, 0, weights[likely]) - mean**2, 0)
    return Estimates(mean, _WIDENED * np.sqrt(variance), count)


class _Fit:
    """The regression with one λ and θ; what is asked of it is computed then."""

    def __init__(
        self,
        present: NDArray[np.bool_],
        outputs: NDArray[np.float64],
        mean_square: float | None,
        additive: float,
        roughness: float,
    ):
        self._present, self._outputs, self._additive, self._roughness = present, outputs, additive, roughness
        self._expected = None if mean_square is None else mean_square / (additive + 1)  # s², before any output
        self._players = present.shape[1]
        self._rho = np.exp(-roughness / self._players)

    @cached_property
    def _factor(self) -> NDArray[np.float64]:
        """K's Cholesky factor; (N, N)"""
        one = self._present.astype(np.float64)
        apart = one @ (1 - one).T
        share = (apart + apart.T) / self._players
        kernel = _CONSTANT + self._additive * (1 - 2 * share) + np.exp(-self._roughness * share)
        return np.linalg.cholesky(kernel + _NUGGET * np.eye(len(kernel)))

    def _whitened(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self._factor, right, lower=True, check_finite=False))

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """The outputs as independent numbers of variance s²; (N, C)"""
        return self._whitened(self._outputs)

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
        known = (
            0.0 if self._expected is None else (np.log(self._scale + tiny).mean() - np.log(self._expected + tiny)) / 2
        )
        deviance = len(self._present) / 2 * np.log(self._scale + tiny).mean() + known
        return float(-np.log(np.diag(self._factor)).sum() - deviance)

    @cached_property
    def _covariance(self) -> NDArray[np.float64]:
        """Of the values with the outputs, whitened; (N, L)

        `φ_i[K(·, T)] = ±(2λ/L + (1 − ρ)·∫ (z + (1−z)·ρ)^a·(1 − z + z·ρ)^(L−1−a) dz)`, + if player i is in T, a: the
        number of others in T.
        """
        z, weight = gauss_legendre((self._players + 1) // 2)
        others = np.arange(self._players)[:, None]
        low, high = 1 - z + z * self._rho, z + (1 - z) * self._rho
        integral = (high**others * low ** (self._players - 1 - others)) @ weight
        size = 2 * self._additive / self._players + (1 - self._rho) * integral
        others_present = self._present.sum(1)[:, None] - self._present
        return self._whitened(np.where(self._present, 1, -1) * size[others_present])

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.asarray(self._covariance.T @ self._noise)

    @property
    def variance(self) -> NDArray[np.float64]:
        """(L, C); before any output, `φ_iφ_i[K] = 4λ/L + 2·(1 − ρ)·∫∫ (e + (1−e)·ρ)^(L−1) dz dz'` of every player i,
        with `e = z·z' + (1−z)·(1−z')`."""
        z, weight = gauss_legendre((self._players + 1) // 2)
        equal = np.outer(z, z) + np.outer(1 - z, 1 - z)
        integral = weight @ (equal + (1 - equal) * self._rho) ** (self._players - 1) @ weight
        prior = 4 * self._additive / self._players + 2 * (1 - self._rho) * integral
        return np.asarray(np.maximum(prior - np.square(self._covariance).sum(0), 0)[:, None] * self._scale)
