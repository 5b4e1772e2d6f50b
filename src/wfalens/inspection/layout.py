"""The layout of the map: a linear projection of the class simplex; circles that overlap are moved apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 300
_PULL = 0.02  # back to the true point, in each round
_LARGEST, _SMALLEST = 0.11, 0.022  # radii; corners stand at distance 1


def class_corners(outputs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """A corner for each class: two at the ends of a line, more on a circle, with classes that mix beside each other.

    outputs: (N, C), weights: (N,) -> (C, 2). The point of an output is the mean of the corners, weighted by it.
    """
    classes = outputs.shape[1]
    if classes == 2:
        return np.array([[-1.0, 0.0], [1.0, 0.0]])
    weights = weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
    centred = (outputs - np.average(outputs, axis=0, weights=weights)) * np.sqrt(weights)[:, None]
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    loading = directions[:2].T if len(directions) > 1 else np.eye(classes, 2)
    order = np.argsort(np.arctan2(loading[:, 1], loading[:, 0]), kind="stable")
    turn = np.empty(classes)
    turn[np.roll(order, -int(np.flatnonzero(order == 0)[0]))] = np.arange(classes)  # the first class stands on top
    angle = np.pi / 2 - 2 * np.pi * turn / classes
    return np.column_stack([np.cos(angle), np.sin(angle)])


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
