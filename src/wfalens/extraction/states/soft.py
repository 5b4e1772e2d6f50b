"""Soft assignment by pairwise Frank–Wolfe: a point as a mixture of a few near centres.

Averaging over steps loses less than with the nearest centre alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.threads import in_parallel

_NEAR = 12  # centres that may take part
_TOLERANCE, _MOST_STEPS = 1e-5, 60
_POINTS_PER_THREAD = 4096


def mixtures(
    points: NDArray[np.float32], centres: NDArray[np.float32], hardness: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weights w on the simplex over the nearest centres c that minimise ½|x − w·c|² + λ/2 Σ wⱼ|x − cⱼ|².

    The first term keeps the mean, the second, λ = `hardness`, keeps the centres near; a large λ leaves the nearest
    one only. -> states (N, near), 1 + the centre, and weights (N, near), zero for those that do not take part
    """
    near = min(_NEAR, len(centres))
    states = np.empty((len(points), near), np.int32)
    weights = np.empty((len(points), near), np.float32)
    between = np.stack([np.square(centres - each).sum(1) for each in centres.astype(np.float64)])
    columns = np.ascontiguousarray(centres.T)

    def work(first: int, last: int) -> None:
        _mix(points, columns, between, hardness, first, last, states, weights)

    in_parallel(work, np.arange(len(points) + 1), _POINTS_PER_THREAD)
    return states, weights


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _measure(point, columns, distance):  # type: ignore[no-untyped-def]
    """Squared distances of a point (D,) to all centres, whose coordinates are columns (D, K); one column at a time."""
    distance[:] = 0
    for at in range(columns.shape[0]):
        for centre in range(columns.shape[1]):
            gap = point[at] - columns[at, centre]
            distance[centre] += gap * gap


@njit(cache=True, nogil=True)
def _mix(points, columns, between, hardness, first, last, states, weights):  # type: ignore[no-untyped-def]
    """Pairwise Frank–Wolfe: moves weight from the centre of the steepest slope to that of the lowest."""
    count, near = columns.shape[1], states.shape[1]
    distance, chosen = np.empty(count, np.float32), np.empty(near, np.int64)
    slope, weight = np.empty(near), np.empty(near)
    for point in range(first, last):
        filled = 0
        _measure(points[point], columns, distance)
        for centre in range(count):
            total = distance[centre]
            if filled < near or total < distance[chosen[filled - 1]]:
                slot = filled if filled < near else near - 1
                while slot > 0 and distance[chosen[slot - 1]] > total:
                    chosen[slot] = chosen[slot - 1]
                    slot -= 1
                chosen[slot] = centre
                filled = min(near, filled + 1)
        nearest = chosen[0]
        for j in range(near):
            weight[j] = 0.0
            own = distance[chosen[j]]
            slope[j] = 0.5 * (own + distance[nearest] - between[chosen[j], nearest] + hardness * own)
        weight[0] = 1.0
        for _ in range(_MOST_STEPS):
            taker, giver = 0, -1
            for j in range(near):
                if slope[j] < slope[taker]:
                    taker = j
                if weight[j] > 0 and (giver < 0 or slope[j] > slope[giver]):
                    giver = j
            gain = slope[giver] - slope[taker]
            if gain <= _TOLERANCE:
                break
            apart = between[chosen[giver], chosen[taker]]
            moved = weight[giver] if apart <= 1e-12 else min(weight[giver], gain / apart)
            weight[taker] += moved
            weight[giver] = weight[giver] - moved if moved < weight[giver] else 0.0
            shift = distance[chosen[taker]] - distance[chosen[giver]]
            for j in range(near):
                change = between[chosen[j], chosen[giver]] - between[chosen[j], chosen[taker]]
                slope[j] += moved * 0.5 * (shift + change)
        for j in range(near):
            states[point, j] = chosen[j] + 1
            weights[point, j] = weight[j]
