"""The likelihood of a model's outputs under a chain of states driven by words, and its slopes, compiled.

With d₀ the start and d_t = d_{t−1}·M_{w_t}, the loss of a text is −Σ_t λ_t Σ_c p_t[c]·log (d_t·F)[c], p_t the model's
output after t words; its slopes follow from forward and backward vectors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.jit import njit
from wfalens.ragged import Ragged
from wfalens.threads import in_parallel

_PARTS = 4  # texts are summed in that many parts whatever the threads, so that equal seeds give equal bytes
_LEAST = 1e-9  # probability of any class


class Slopes(NamedTuple):
    """The loss of texts, summed, and its slopes."""

    loss: float
    matrices: NDArray[np.float32]  # (words, n, n)
    centres: NDArray[np.float32]  # (n, C)


def slopes(
    words: Ragged[np.int64],
    targets: NDArray[np.float32],
    matrices: NDArray[np.float32],
    centres: NDArray[np.float32],
    every: float,
) -> Slopes:
    """Of texts, which begin in state 0. targets: (tokens, C), matrices: (words, n, n), centres: (n, C)

    every   λ of a prefix; the whole text counts 1 more
    """
    cuts = np.searchsorted(words.offsets, np.linspace(0, words.offsets[-1], _PARTS + 1)).clip(max=len(words))
    cuts[0], cuts[-1] = 0, len(words)
    moved = np.zeros((_PARTS, *matrices.shape), np.float32)
    shown = np.zeros((_PARTS, *centres.shape), np.float32)
    losses = np.zeros(_PARTS)

    def work(first: int, last: int) -> None:
        for part in range(first, last):
            offsets = words.offsets[cuts[part] : cuts[part + 1] + 1]
            losses[part] = _slopes(
                words.values, offsets, targets, matrices, centres, np.float32(every), moved[part], shown[part]
            )

    in_parallel(work, np.arange(_PARTS + 1), 1)
    return Slopes(float(losses.sum()), moved.sum(0), shown.sum(0))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _slopes(words, offsets, targets, matrices, centres, every, moved, shown):  # type: ignore[no-untyped-def]
    n, classes = centres.shape
    longest = 0
    for text in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    forward = np.zeros((longest + 1, n), np.float32)
    backward, earlier = np.zeros(n, np.float32), np.zeros(n, np.float32)
    likelihood, pull = np.zeros(classes, np.float32), np.zeros(classes, np.float32)
    loss = 0.0
    for text in range(offsets.shape[0] - 1):
        start, length = offsets[text], offsets[text + 1] - offsets[text]
        forward[0, :] = 0
        forward[0, 0] = 1
        for step in range(length):
            word = words[start + step]
            for j in range(n):
                forward[step + 1, j] = 0
            for i in range(n):
                mass = forward[step, i]
                for j in range(n):
                    forward[step + 1, j] += mass * matrices[word, i, j]
        backward[:] = 0
        for step in range(length - 1, -1, -1):
            word, share = words[start + step], every + np.float32(1 if step == length - 1 else 0)
            for c in range(classes):
                likelihood[c] = _LEAST
            for i in range(n):
                for c in range(classes):
                    likelihood[c] += forward[step + 1, i] * centres[i, c]
            for c in range(classes):
                p = targets[start + step, c]
                loss -= share * p * np.log(likelihood[c])
                pull[c] = -share * p / likelihood[c]
            for i in range(n):
                total = np.float32(0)
                for c in range(classes):
                    total += centres[i, c] * pull[c]
                    shown[i, c] += forward[step + 1, i] * pull[c]
                backward[i] += total
            for i in range(n):
                total, mass = np.float32(0), forward[step, i]
                for j in range(n):
                    total += matrices[word, i, j] * backward[j]
                    moved[word, i, j] += mass * backward[j]
                earlier[i] = total
            for i in range(n):
                backward[i] = earlier[i]
    return loss
