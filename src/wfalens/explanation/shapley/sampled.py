"""Shapley values of any game: from all coalitions, or from random orders of the words in antithetic pairs.

Along an order the words enter one by one; the marginal of a word is what its entry changes. Its mean over all orders is
the Shapley value. Every order is followed by its reverse, in which a word that came early comes late: the mean of the
two varies less than that of two independent orders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

Game = Callable[[NDArray[np.bool_]], NDArray[np.float64]]  # coalitions (N, L) -> what they are worth (N, classes)
_COALITION_CELLS = 1 << 24  # of coalitions held at a time


def enumerated_shapley(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the values of all coalitions; bit t of a row's number tells whether word t is in. (2^L, C) -> (L, C)"""
    length = len(values).bit_length() - 1
    present = np.arange(len(values))[:, None] >> np.arange(length) & 1  # (2^L, L)
    sizes = present.sum(1)
    share = np.array([factorial(k) * factorial(length - 1 - k) / factorial(length) for k in range(length)])
    entering, staying_out = share[np.maximum(sizes - 1, 0)], share[np.minimum(sizes, length - 1)]
    return np.asarray(np.where(present, entering[:, None], -staying_out[:, None]).T @ values)


def all_coalitions(length: int) -> NDArray[np.bool_]:
    """In the order of their numbers; -> (2^L, L)"""
    return np.asarray((np.arange(1 << length)[:, None] >> np.arange(length) & 1).astype(bool))


def antithetic_ranks(length: int, pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """When each word enters, in random orders and their reverses; -> (pairs, 2, L)"""
    ranks = rng.permuted(np.tile(np.arange(length), (pairs, 1)), axis=1)
    return np.stack([ranks, length - 1 - ranks], 1)


def coalitions_along(ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The coalitions that the orders pass, from none to all; (…, L) -> (…, L + 1, L)"""
    return np.asarray(ranks[..., None, :] < np.arange(ranks.shape[-1] + 1)[:, None])


def pair_marginals(ranks: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean marginals of antithetic pairs; (pairs, 2, L), values (pairs, 2, L + 1, C) -> (pairs, L, C)"""
    changes = np.diff(values, axis=2)
    return np.asarray(np.take_along_axis(changes, ranks[..., None], 2).mean(1))


@dataclass(frozen=True, eq=False)
class Sampled:
    """Means over independent samples, and their standard errors."""

    mean: NDArray[np.float64]  # (L, C)
    standard_error: NDArray[np.float64]  # (L, C); NaN from a single sample

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> Sampled:
        # (samples, L, C)
        if len(samples) < 2:
            return cls(samples.mean(0), np.full(samples.shape[1:], np.nan))
        return cls(samples.mean(0), samples.std(0, ddof=1) / np.sqrt(len(samples)))


def sampled_shapley(game: Game, length: int, pairs: int, rng: np.random.Generator) -> Sampled:
    """From `pairs` antithetic pairs of orders."""
    ranks = antithetic_ranks(length, pairs, rng)
    step = max(1, _COALITION_CELLS // (2 * (length + 1) * length))
    parts = [_marginals(game, ranks[at : at + step]) for at in range(0, pairs, step)]
    return Sampled.of(np.concatenate(parts))


def _marginals(game: Game, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    coalitions = coalitions_along(ranks)
    values = game(coalitions.reshape(-1, ranks.shape[-1]))
    return pair_marginals(ranks, values.reshape(*coalitions.shape[:-1], -1))
