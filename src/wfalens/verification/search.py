"""Variants of a text followed forwards, with the values of backward induction as a bound on what is to come."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.verification.induction import Values
from wfalens.verification.substitutes import Choices


class Search:
    """Looks for the variant of a text that gives an objective its most.

    `values` are those of `backward_induction` on the same choices; an objective is one of their columns.
    """

    def __init__(
        self,
        wfa: StochasticWFA,
        choices: Choices,
        values: Values,
        *,
        changes: int | None = None,
        start: NDArray[np.float64] | None = None,
    ) -> None:
        self.wfa, self.choices, self.values, self.limited = wfa, choices, values, changes is not None
        self.start = wfa.initial if start is None else start  # (n,)

    def greedy(self, objective: int) -> tuple[float, NDArray[np.int32]]:
        """The variant that takes the most promising word at every position, and the value it reaches."""
        vector, level, path = self.start, len(self.values[0]) - 1, []
        for at in range(len(self.choices)):
            bounds, vectors, levels = self.expand(objective, at, vector, level)
            best = int(bounds.argmax())
            vector, level = vectors[best], int(levels[best])
            path.append(self.choices[at][best])
        return float(vector @ self.values[-1][level][:, objective]), np.array(path, np.int32)

    def best_first(
        self, objective: int, effort: int, enough: float = -np.inf
    ) -> tuple[float, NDArray[np.int32] | None, int]:
        """Follow the most promising beginnings until the best is whole, or below `enough`, or the effort is spent.

        -> a bound on the value, the variant that reaches it where one is known, and the effort left
        """
        number, start = count(), len(self.values[0]) - 1
        bound = float(self.start @ self.values[0][start][:, objective])
        queue: list[tuple[float, int, tuple[int, ...], int, NDArray[np.float64]]] = []
        heapq.heappush(queue, (-bound, next(number), (), start, self.start))
        while True:
            negated, _, path, level, vector = queue[0]
            if len(path) == len(self.choices):
                return -negated, np.array(path, np.int32), effort
            if -negated < enough or effort == 0:
                return -negated, None, effort
            heapq.heappop(queue)
            effort -= 1
            bounds, vectors, levels = self.expand(objective, len(path), vector, level)
            for place, word in enumerate(self.choices[len(path)]):
                if np.isfinite(bounds[place]):
                    item = (-float(bounds[place]), next(number), (*path, int(word)), int(levels[place]), vectors[place])
                    heapq.heappush(queue, item)

    def expand(
        self, objective: int, at: int, vector: NDArray[np.float64], level: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """One step by every word that may stand at a position: bounds (−∞: not allowed), vectors, levels left."""
        options = self.choices[at]
        vectors = self.wfa.advance(vector[None], options)
        levels = np.full(len(options), level)
        if self.limited:
            levels[1:] -= 1
        bounds = np.einsum("on,on->o", vectors, self.values[at + 1][np.maximum(levels, 0), :, objective])
        bounds[levels < 0] = -np.inf
        return bounds, vectors, levels
