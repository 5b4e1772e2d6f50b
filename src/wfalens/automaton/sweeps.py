"""Forward vectors and backward matrices of a text, by which any one word can be replaced without reading the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.ragged import Ragged

_MATRIX_FLOATS = 1 << 22  # of a long text's matrices, held at a time


def forward_backward(wfa: WFA, ids: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The forward–backward algorithm: `α_0 … α_L` and `β_0 … β_L` of one text; -> (L + 1, n), (L + 1, n, C)"""
    forward = np.vstack([wfa.initial, wfa.state_vectors(Ragged(ids, np.array([0, len(ids)])), every=True)])
    backward = np.empty((len(ids) + 1, wfa.states, len(wfa.class_names)))
    backward[-1] = wfa.final
    step = max(1, _MATRIX_FLOATS // wfa.states**2)
    for stop in range(len(ids), 0, -step):
        start = max(0, stop - step)
        for position, matrix in reversed(list(enumerate(wfa.matrices(ids[start:stop]), start))):
            backward[position] = matrix @ backward[position + 1]
    return forward, backward


def replacement_outputs(
    wfa: WFA,
    forward: NDArray[np.float64],
    backward: NDArray[np.float64],
    position: int,
    candidates: NDArray[np.int32],
) -> NDArray[np.float64]:
    """The output with each candidate instead of the word at `position`; -> (candidates, classes)"""
    stepped = wfa.advance(forward[position][None], candidates)
    return np.asarray(stepped @ backward[position + 1])
