"""The layout of the map: a band for each class, and in it the sure states at the right; none upon another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

WIDTH = 2.0  # of the map, from outputs that prefer no class to sure ones
_ROUNDS = 300
_PULL = 0.02  # back to the true point, in each round
_LARGEST, _SMALLEST = 0.11, 0.022  # radii
_LEAST_BAND, _GAP = 0.16, 0.05
_MANY, _EMPTY_BAND = 12, 0.03  # of so many classes those without a state have a narrow band


def class_order(outputs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """The classes from top to bottom, so that those that mix stand beside each other; (N, C), (N,) -> (C,)"""
    classes = outputs.shape[1]
    if classes < 3:
        return np.arange(classes)
    together = (outputs * np.maximum(weights, 1e-12)[:, None]).T @ outputs
    alone = np.sqrt(np.maximum(np.diag(together), np.finfo(float).tiny))
    apart = np.maximum(0, 1 - together / np.outer(alone, alone))
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), np.int64)


def sureness(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the likeliest class is above chance, from 0 to 1; (N, C) -> (N,)"""
    chance = 1 / outputs.shape[1]
    return np.asarray((outputs.max(1) - chance) / (1 - chance))


def in_bands(
    outputs: NDArray[np.float64], sizes: NDArray[np.float64], order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Circles in the bands of their likeliest classes; the bands as (top, height) of each class.

    outputs: (n, C), sizes: (n,), order: (C,) -> (n, 2), (C, 2); downwards is positive
    """
    says, x = outputs.argmax(1), WIDTH * sureness(outputs)
    points, bands, top = np.empty((len(outputs), 2)), np.empty((outputs.shape[1], 2)), 0.0
    for label in order:
        members = np.flatnonzero(says == label)
        placed = spread(np.column_stack([x[members], np.zeros(len(members))]), sizes[members])
        reach = np.abs(placed[:, 1]) + sizes[members]
        least = _EMPTY_BAND if outputs.shape[1] > _MANY and len(members) == 0 else _LEAST_BAND
        height = max(least, 2 * float(reach.max()) + _GAP) if len(members) else least
        points[members] = placed + np.array([0, top + height / 2])
        bands[label] = top, height
        top += height
    return points, bands


def radii(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Areas follow frequencies, but no circle is too small to see; (n,) -> (n,)"""
    share = frequencies / max(float(frequencies.max()), np.finfo(float).tiny)
    return np.asarray(np.maximum(_SMALLEST, _LARGEST * np.sqrt(share)))


def spread(points: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Force-directed layout: circles near their points that overlap as little as possible; (n, 2), (n,) -> (n, 2)"""
    angle = np.arange(len(points)) * 2.399963  # the golden angle: equal points move apart in all directions
    moved = points + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    needed = (sizes[:, None] + sizes) * 1.04
    np.fill_diagonal(needed, 0)
    for _ in range(_ROUNDS):
        gap = moved[:, None] - moved
        distance = np.maximum(np.linalg.norm(gap, axis=2), 1e-9)
        push = np.maximum(needed - distance, 0) / distance / 2
        moved += 0.5 * (gap * push[:, :, None]).sum(1) + _PULL * (points - moved)
    return moved
