"""Greedy and best-first (A*) search for a sequence of options, with backward induction as the upper bound."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from numpy.typing import NDArray

from wfalens.robustness.certify.induction import Steps, Values

Path = tuple[int, ...]  # the option taken at each position; 0 where an earlier one covers it


class PathSearch:
    """Looks for the options, one at each position, that maximise an objective.

    `values` are those of `backward_induction` on the same steps; an objective is one of their columns.
    """

    def __init__(self, steps: Steps, values: Values, start: NDArray[np.float64], *, changes: int | None = None) -> None:
        self.steps, self.values, self.start = steps, values, start
        self.limited = changes is not None

    def greedy(self, objective: int) -> tuple[float, Path]:
        """The most promising option at every position, and the value that this reaches."""
        vector, level = self.start, len(self.values[0]) - 1
        path: Path = ()
        while len(path) < self.steps.length:
            bounds, vectors, levels = self._expand(objective, len(path), vector, level)
            best = int(bounds.argmax())
            vector, level, path = vectors[best], int(levels[best]), self._longer(path, best)
        return float(vector @ self.values[-1][level][:, objective]), path

    def best_first(self, objective: int, effort: int, enough: float = -np.inf) -> tuple[float, Path | None, int]:
        """A* search: expand the best prefix until it is complete, its bound is below `enough`, or the effort is spent.

        -> a bound on the value, the path that reaches it where one is known, and the effort left
        """
        number, level = count(), len(self.values[0]) - 1
        bound = float(self.start @ self.values[0][level][:, objective])
        queue: list[tuple[float, int, Path, int, NDArray[np.float64]]] = []
        heapq.heappush(queue, (-bound, next(number), (), level, self.start))
        passed_over = -np.inf  # the best bound of the prefixes that were dropped
        while queue:
            negated, _, path, level, vector = queue[0]
            if len(path) == self.steps.length:
                return -negated, path, effort
            if -negated < enough or effort == 0:
                return max(-negated, passed_over), None, effort
            heapq.heappop(queue)
            effort -= 1
            bounds, vectors, levels = self._expand(objective, len(path), vector, level)
            worth = bounds >= enough
            passed_over = max(passed_over, bounds.max(where=~worth, initial=-np.inf))
            for option in np.flatnonzero(worth & np.isfinite(bounds)).tolist():
                item = (
                    -float(bounds[option]),
                    next(number),
                    self._longer(path, option),
                    int(levels[option]),
                    vectors[option],
                )
                heapq.heappush(queue, item)
        return float(passed_over), None, effort

    def _expand(
        self, objective: int, at: int, vector: NDArray[np.float64], level: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """One step by every option of a position: bounds (−∞: not allowed), vectors, levels left."""
        vectors = self.steps.advance(at, vector)
        levels = np.full(len(vectors), level)
        if self.limited:
            levels[1:] -= 1
        later = [
            self.values[at + span][max(left, 0), :, objective]
            for span, left in zip(self.steps.spans(at).tolist(), levels.tolist(), strict=True)
        ]
        bounds = np.einsum("on,on->o", vectors, np.array(later))
        bounds[levels < 0] = -np.inf
        return bounds, vectors, levels

    def _longer(self, path: Path, option: int) -> Path:
        return (*path, option, *(0,) * (int(self.steps.spans(len(path))[option]) - 1))
