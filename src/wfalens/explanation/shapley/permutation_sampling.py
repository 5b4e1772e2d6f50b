"""Shapley values of any game: from all coalitions, or from random permutations of the words in antithetic pairs.

Along a permutation the words enter one by one; the marginal of a word is what its entry changes. Its mean over all
permutations is the Shapley value. Every permutation is followed by its reverse, in which a word that came early comes
late: the mean of the two varies less than that of two independent ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from wfalens.explanation.attribution import moderated_errors

Game = Callable[[NDArray[np.bool_]], NDArray[np.float64]]  # coalitions (N, L) -> their outputs (N, classes)
_COALITION_CELLS = 1 << 24  # of coalitions held at a time
_FITTED, _FOLDS, _LEEWAY = 4, 10, 0.15


def enumerated_shapley(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the values of all coalitions; bit t of a row's number says whether word t is present. (2^L, C) -> (L, C)"""
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
    """When each word enters, in random permutations and their reverses; -> (pairs, 2, L)"""
    ranks = rng.permuted(np.tile(np.arange(length), (pairs, 1)), axis=1)
    return np.stack([ranks, length - 1 - ranks], 1)


def coalitions_along(ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The coalitions along the permutations, from none to all; (…, L) -> (…, L + 1, L)"""
    return np.asarray(ranks[..., None, :] < np.arange(ranks.shape[-1] + 1)[:, None])


def marginals(game: Game, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean marginals of antithetic pairs; ranks: (pairs, 2, L) -> (pairs, L, C)"""
    coalitions = coalitions_along(ranks)
    values = game(coalitions.reshape(-1, ranks.shape[-1])).reshape(*coalitions.shape[:-1], -1)
    return np.asarray(np.take_along_axis(np.diff(values, axis=2), ranks[..., None], 2).mean(1))


@dataclass(frozen=True, eq=False)
class Estimates:
    """Means over independent samples, and their standard errors."""

    mean: NDArray[np.float64]  # (L, C)
    standard_error: NDArray[np.float64]  # (L, C); NaN from a single sample, 0 where nothing was sampled
    samples: int  # 0: the values are exact

    @classmethod
    def exact(cls, values: NDArray[np.float64]) -> Estimates:
        return cls(values, np.zeros_like(values), 0)

    @classmethod
    def of(cls, samples: NDArray[np.float64]) -> Estimates:
        # (samples, L, C)
        return cls(samples.mean(0), moderated_errors(samples), len(samples))


def controlled(
    samples: NDArray[np.float64], controls: NDArray[np.float64], known: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Samples minus what their controls explain, without changing their expected value; -> (samples, L, C)

    samples: (samples, L, C); controls: (samples, L, D), the first C being the same game of the copy; `known`, their
    expected value: (L, D). A sample loses `(control − known)·W`. W takes the first C controls as they are and, from
    `_FITTED` samples on, is fitted by ridge regression to *other* samples: it must be independent of the sample that it
    corrects.
    """
    shifted, classes, width = controls - known, samples.shape[2], controls.shape[2]
    if len(samples) < _FITTED:
        return np.asarray(samples - shifted[..., :classes])
    result = np.empty_like(samples)
    for fold in np.array_split(np.arange(len(samples)), min(_FOLDS, len(samples))):
        others = np.delete(np.arange(len(samples)), fold)
        target, control = (part[others] - part[others].mean(0) for part in (samples, shifted))
        result[fold] = samples[fold] - shifted[fold] @ _ridge(control.reshape(-1, width), target.reshape(-1, classes))
    return result


def _ridge(control: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    """W with `control·W ≈ target`, whose entries leave `(1, 0)` by about `_LEEWAY`. (N, D), (N, C) -> (D, C)"""
    copy = np.eye(control.shape[1], target.shape[1])
    rest = target - control @ copy
    rows = np.sqrt(np.mean(rest**2)) / _LEEWAY * np.eye(control.shape[1])
    change = np.linalg.lstsq(np.vstack([control, rows]), np.vstack([rest, np.zeros_like(copy)]), rcond=None)[0]
    return np.asarray(copy + change)


def sampled_shapley(game: Game, length: int, pairs: int, rng: np.random.Generator) -> Estimates:
    """From `pairs` antithetic pairs of permutations."""
    ranks = antithetic_ranks(length, pairs, rng)
    step = max(1, _COALITION_CELLS // (2 * (length + 1) * length))
    return Estimates.of(np.concatenate([marginals(game, ranks[at : at + step]) for at in range(0, pairs, step)]))
