"""Which coalitions of L players to ask a model for, and what is assumed of its answers beforehand.

Coalitions that differ in few players have similar outputs. As a prior over games,

    v ~ N(0, s²·K),     K(S, T) = c + λ·(1 − 2d/L) + exp(−θ·d/L),     d = |S △ T|

has three parts: a constant, an additive game, and one in which all orders of interaction are, the more the larger θ is.
The last is `Π_i ρ^[i is in one of S and T only]`, ρ = exp(−θ/L). φ of a product over the players is an integral of a
polynomial (Owen 1972, as for automata), exact by Gauss-Legendre quadrature.

Shapley values depend on the differences v(S) − v(all others) alone, so coalitions are asked in pairs of complements.
What variance the outputs leave to the values does not depend on the outputs, so the pairs are chosen beforehand: each
next pair lowers the sum over the players most (a greedy A-optimal design). Most are single words or halves of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from wfalens.explanation.shapley.quadrature import gauss_legendre

MOST_COALITIONS = 4096  # that one regression takes
_LISTED = 16  # players up to which all coalitions may be asked
_DESIGNED, _CANDIDATES = 96, 2048  # pairs that are chosen, and out of how many; with more, intervals were too narrow
_CONSTANT, _TINY = 10.0, 1e-9  # c, and the least variance that is divided by


@dataclass(frozen=True)
class GamePrior:
    """K of games of any number of players."""

    additive: float  # λ
    roughness: float  # θ

    def kernel(self, one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(N, L), (M, L) -> (N, M)"""
        a, b = one.astype(np.float64), other.astype(np.float64)
        apart = (a @ (1 - b).T + (1 - a) @ b.T) / one.shape[1]
        return np.asarray(_CONSTANT + self.additive * (1 - 2 * apart) + np.exp(-self.roughness * apart))

    def value_covariance(self, present: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Of the values with the outputs of some coalitions; (N, L) -> (N, L)

        `φ_i[K(·, T)] = ±(2λ/L + (1 − ρ)·∫ (z + (1−z)·ρ)^a·(1 − z + z·ρ)^(L−1−a) dz)`, + if player i is in T, a: the
        number of others in T.
        """
        players = present.shape[1]
        rho, (z, weight) = np.exp(-self.roughness / players), gauss_legendre((players + 1) // 2)
        others = np.arange(players)[:, None]
        low, high = 1 - z + z * rho, z + (1 - z) * rho
        integral = (high**others * low ** (players - 1 - others)) @ weight
        size = 2 * self.additive / players + (1 - rho) * integral
        return np.asarray(np.where(present, 1, -1) * size[present.sum(1)[:, None] - present])

    def value_variance(self, players: int) -> float:
        """`φ_iφ_i[K] = 4λ/L + 2·(1 − ρ)·∫∫ (e + (1−e)·ρ)^(L−1) dz dz'` of every player i, `e = z·z' + (1−z)·(1−z')`."""
        rho, (z, weight) = np.exp(-self.roughness / players), gauss_legendre((players + 1) // 2)
        equal = np.outer(z, z) + np.outer(1 - z, 1 - z)
        integral = weight @ (equal + (1 - equal) * rho) ** (players - 1) @ weight
        return float(4 * self.additive / players + 2 * (1 - rho) * integral)


_EXPECTED = GamePrior(additive=1.0, roughness=12.8)  # of residuals, for the choice of coalitions


def all_coalitions(players: int) -> NDArray[np.bool_]:
    """In the order of their numbers, whose bit t says whether player t is present; -> (2^L, L)"""
    return np.asarray((np.arange(1 << players)[:, None] >> np.arange(players) & 1).astype(bool))


def most_coalitions(players: int, budget: int) -> int:
    """How many coalitions a budget pays for: all of them, or what a regression takes."""
    return 1 << players if players <= _LISTED and budget >= 1 << players else min(budget, MOST_COALITIONS)


def draw_coalitions(players: int, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """None, all, and pairs of complements, no coalition twice; -> (count, L)

    The first pairs are those of the design, for players in random order. For others, sizes are drawn as KernelSHAP
    weighs them, `1 / (k·(L − k))`. With an equal generator, a larger count begins with the coalitions of a smaller one.
    """
    first = _designed_pairs(players)[:, rng.permutation(players)]
    if players <= _LISTED:
        numbers = np.arange(1 << (players - 1))
        weights = np.array([np.inf, *(1 / (k * (players - k) * comb(players, k)) for k in range(1, players))])
        waiting = rng.exponential(size=len(numbers)) / weights[np.bitwise_count(numbers)]
        chosen = first @ (1 << np.arange(players))
        waiting[np.minimum(chosen, (1 << players) - 1 - chosen)] = np.arange(-len(chosen), 0)
        order = numbers[np.argsort(waiting)]
        return np.asarray(all_coalitions(players)[np.stack([order, (1 << players) - 1 - order], 1).ravel()[:count]])
    share = 1 / (np.arange(1, players) * np.arange(players - 1, 0, -1))
    drawn = {row.tobytes(): row for half in first for row in (half, ~half)}
    while len(drawn) < count:
        row = rng.permutation(players) < rng.choice(players - 1, p=share / share.sum()) + 1
        drawn |= {each.tobytes(): each for each in (row, ~row)}
    return np.array(list(drawn.values())[:count])


@lru_cache(maxsize=256)
def _designed_pairs(players: int) -> NDArray[np.bool_]:
    """One coalition of each pair, in the order in which they are asked; the first is that of no player. -> (pairs, L)

    `factor` is the Cholesky factor of the covariance of the chosen pairs' differences with those of all candidates.
    """
    pairs = _candidate_pairs(players)
    count, covariance = min(_DESIGNED, len(pairs)), _EXPECTED.value_covariance(pairs)
    factor, left = np.zeros((len(pairs), count)), _difference_kernel(pairs[:1], pairs[:1]).repeat(len(pairs))
    order: list[int] = []
    for step in range(count):
        gain = np.square(covariance).sum(1) / np.maximum(left, _TINY)
        gain[order] = -1
        best = int(gain.round(9).argmax()) if order else 0
        column = _difference_kernel(pairs, pairs[best : best + 1])[:, 0] - factor @ factor[best]
        column /= np.sqrt(max(left[best], _TINY))
        covariance -= np.outer(column, covariance[best] / np.sqrt(max(left[best], _TINY)))
        factor[:, step], left = column, left - column**2
        order.append(best)
    return pairs[order]


def _difference_kernel(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Of `(v(S) − v(all others)) / 2`"""
    return (_EXPECTED.kernel(one, other) - _EXPECTED.kernel(one, ~other)) / 2


def _candidate_pairs(players: int) -> NDArray[np.bool_]:
    """No player, single ones, and coalitions of other sizes: all, or random ones where there are too many."""
    if 1 << (players - 1) <= _CANDIDATES:
        return all_coalitions(players)[: 1 << (players - 1)]
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, players // 2, _CANDIDATES, endpoint=True)
    drawn = np.array([rng.permutation(players) < size for size in sizes])
    single = np.eye(players, dtype=bool)
    return np.concatenate([np.zeros_like(single[:1]), single, np.unique(drawn, axis=0)])


def enumerated_shapley(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the values of all coalitions, in the order of their numbers; (2^L, C) -> (L, C)"""
    length = len(values).bit_length() - 1
    present = all_coalitions(length)
    sizes = present.sum(1)
    share = np.array([factorial(k) * factorial(length - 1 - k) / factorial(length) for k in range(length)])
    entering, staying_out = share[np.maximum(sizes - 1, 0)], share[np.minimum(sizes, length - 1)]
    return np.asarray(np.where(present, entering[:, None], -staying_out[:, None]).T @ values)
