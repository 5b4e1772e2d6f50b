"""Fixed-point sums of outputs, the same in any order: integers (units of 2⁻³⁰), stored as high and low 32 bits."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNIT = 1 << 30


def output_sums(outputs: NDArray[np.float32], path: NDArray[np.int32], states: int) -> NDArray[np.int64]:
    """The summed outputs of each state in units of 1/UNIT: high and low 32 bits. (N, C), (N,) -> (n, C, 2)"""
    sums = np.zeros((states, outputs.shape[1]), np.int64)
    _add_up(outputs, path, sums)
    return carried(np.stack([np.zeros_like(sums), sums], 2))


@njit(cache=True, nogil=True)
def _add_up(outputs, path, sums):  # type: ignore[no-untyped-def]
    for token in range(path.shape[0]):
        state = path[token]
        for column in range(outputs.shape[1]):
            sums[state, column] += np.int64(np.rint(np.float64(outputs[token, column]) * UNIT))


def carried(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same numbers with less than 32 bits in their low part, so that it never overflows."""
    high, low = sums[..., 0], sums[..., 1]
    return np.stack([high + (low >> 32), low & 0xFFFFFFFF], -1)


def added(sums: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    total = sums[0]
    for each in sums[1:]:
        total = carried(total + each)
    return total


def mean_outputs(sums: NDArray[np.int64], visits: NDArray[np.int64]) -> NDArray[np.float64]:
    """What sums of outputs over numbers of visits come to; (n, C, 2), (n,) -> (n, C)"""
    whole = sums[..., 0].astype(object) * (1 << 32) + sums[..., 1].astype(object)
    return np.array(
        [[int(each) / (UNIT * max(1, int(of))) for each in row] for row, of in zip(whole, visits, strict=True)]
    )
