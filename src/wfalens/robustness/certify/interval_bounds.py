"""Bounds for automata whose rows are not distributions, by interval arithmetic.

Boxes hold every state that a text can reach with so many changes: a word moves a box's centre c to `c·Êσ` and its
half-widths r to `r·|Êσ|`. With g the backward vectors of the text as it stands, an option σ at position t + 1 that
covers s positions gains at most

    δ = max over the box of x·(Êσ·g_{t+s} − g_t)

so that `x·g_t + c_t` bounds all that changes can reach from x, with c the largest sum of gains that the changes left
allow. For a single change boxes are points and the bound is exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.robustness.certify.induction import Steps, Values


def interval_values(
    steps: Steps, start: NDArray[np.float64], final: NDArray[np.float64], changes: int | None = None
) -> Values:
    """As `backward_induction`, for states whose last number is always 1.

    start: (n,); final: (n, objectives) -> L + 1 × (levels, n, objectives)
    """
    length = steps.length
    levels = 1 if changes is None else min(changes, length) + 1
    spent = 0 if changes is None else 1  # levels that a change costs
    matrices = [steps.matrices(at) for at in range(length)]
    spans = [steps.spans(at).tolist() for at in range(length)]
    middles, widths = _boxes(matrices, spans, start, levels, spent)
    own = [final] * (length + 1)
    gains = [np.zeros((levels, final.shape[1]))] * (length + 1)
    for at in reversed(range(length)):
        own[at] = matrices[at][0] @ own[at + 1]
        gains[at] = gains[at + 1].copy()
        for matrix, span in zip(matrices[at][1:], spans[at][1:], strict=True):
            difference = matrix @ own[at + span] - own[at]
            most = middles[at] @ difference + widths[at] @ np.abs(
                difference
            )  # by the changes made: (levels, objectives)
            most = most[::-1]  # by the changes left
            gains[at][spent:] = np.maximum(gains[at][spent:], gains[at + span][: levels - spent] + most[spent:])
    return [_with_constant(vector, gain) for vector, gain in zip(own, gains, strict=True)]


def _boxes(
    matrices: list[NDArray[np.float64]], spans: list[list[int]], start: NDArray[np.float64], levels: int, spent: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres and half-widths of the boxes after each position, by the number of changes made; (L + 1, levels, n)"""
    length = len(matrices)
    low = np.full((length + 1, levels, len(start)), np.inf)
    high = -low
    low[0], high[0] = start, start
    for at in range(length):
        middle, width = (high[at] + low[at]) / 2, (high[at] - low[at]) / 2
        for number, (matrix, span) in enumerate(zip(matrices[at], spans[at], strict=True)):
            cost = spent if number else 0
            to, reach = (middle @ matrix)[: levels - cost], (width @ np.abs(matrix))[: levels - cost]
            np.minimum(low[at + span, cost:], to - reach, out=low[at + span, cost:])
            np.maximum(high[at + span, cost:], to + reach, out=high[at + span, cost:])
    return (high + low) / 2, (high - low) / 2


def _with_constant(vector: NDArray[np.float64], gain: NDArray[np.float64]) -> NDArray[np.float64]:
    """`x·g + c` as one vector, since the last number of x is 1; (n, objectives), (levels, objectives)"""
    values = np.repeat(vector[None], len(gain), axis=0)
    values[:, -1] += gain
    return values
