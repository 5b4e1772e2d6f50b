"""Backward induction: the most that an adversary can reach who sees the state and chooses every word.

With f a number for every state, such as the advantage of one class over another,

    v_L = f,   v_t[i] = max over σ that may stand at t + 1 of Σⱼ Êσ[i,j]·v_{t+1}[j]

`I·v_0` bounds `A(w)·f` over all texts of the choices, because a text does not see the state. It is the value of a
Markov decision process whose actions are words, over as many steps as there are positions. An option that is a phrase
has the product of its words' matrices, and one that covers two positions leads to `v_{t+2}`. Where rows are not
distributions, interval arithmetic bounds the value. The bound guides a best-first (A*) search for the worst text.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import Serving, stochastic_of
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.robustness.certify.edits import Choices

Path = tuple[int, ...]  # the option taken at each position; 0 where an earlier one covers it
Values = list[NDArray[np.float64]]  # for every position (levels, n, objectives); level r: r words may still be changed


class Steps(Protocol):
    """What may be read at each of a number of positions, and what it does; option 0 is the text's own word."""

    @property
    def length(self) -> int: ...

    def spans(self, at: int) -> NDArray[np.int64]:
        """The positions that each option at a position covers; (options,)"""
        ...

    def matrices(self, at: int) -> NDArray[np.float64]:
        """Êσ of the options at a position; (options, n, n)"""
        ...

    def advance(self, at: int, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """`d·Êσ` of the options at a position; (n,) -> (options, n)"""
        ...


@dataclass(frozen=True)
class TextSteps:
    """The positions of a text with what may stand there."""

    wfa: WFA
    choices: Choices

    @property
    def length(self) -> int:
        return len(self.choices)

    def spans(self, at: int) -> NDArray[np.int64]:
        return np.array([option.span for option in self.choices[at]])

    def matrices(self, at: int) -> NDArray[np.float64]:
        options = self.choices[at]
        words = list(dict.fromkeys(word for option in options for word in option.words))
        single = dict(zip(words, self.wfa.matrices(np.array(words, np.int32)), strict=True))
        return np.array([self._product([single[word] for word in option.words]) for option in options])

    def advance(self, at: int, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        options = self.choices[at]
        vectors = np.tile(vector, (len(options), 1))
        for slot in range(max(len(option.words) for option in options)):
            reading = [number for number, option in enumerate(options) if len(option.words) > slot]
            words = np.array([options[number].words[slot] for number in reading], np.int32)
            vectors[reading] = self.wfa.advance(vectors[reading], words)
        return vectors

    def _product(self, matrices: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """What a phrase does, the identity if it has no words; (n, n)"""
        return reduce(lambda one, other: one @ other, matrices) if matrices else np.eye(self.wfa.states)


def backward_induction(steps: Steps, final: NDArray[np.float64], changes: int | None = None) -> Values:
    """`v_0 … v_L` for several objectives; final: (n, objectives) -> L + 1 × (levels, n, objectives)

    Without a limit on changes there is one level, and any word may be changed.
    """
    levels = 1 if changes is None else min(changes, steps.length) + 1
    values = [np.repeat(final[None], levels, axis=0)] * (steps.length + 1)
    for at in reversed(range(steps.length)):
        later = np.stack([values[at + span] for span in steps.spans(at)])
        after = steps.matrices(at)[:, None] @ later  # (options, levels, n, objectives)
        now = after.max(0) if changes is None else after[0].copy()
        if changes is not None and len(after) > 1:
            now[1:] = np.maximum(now[1:], after[1:, :-1].max(0))
        values[at] = now
    return values


def interval_values(
    steps: Steps, start: NDArray[np.float64], final: NDArray[np.float64], changes: int | None = None
) -> Values:
    """As `backward_induction`, by interval arithmetic, for states whose last number is always 1.

    Boxes hold every state that a text can reach with so many changes: a word moves a box's centre c to `c·Êσ` and its
    half-widths r to `r·|Êσ|`. With g the backward vectors of the text as it is, an option σ at position t + 1 that
    covers s positions gains at most

        δ = max over the box of x·(Êσ·g_{t+s} − g_t)

    so that `x·g_t + c_t` bounds all that changes can reach from x, with c the largest sum of gains that the changes
    left allow. For a single change boxes are points and the bound is exact.

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
            most = middles[at] @ difference + widths[at] @ np.abs(difference)  # by changes made: (levels, objectives)
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
            promising = bounds >= enough
            passed_over = max(passed_over, bounds.max(where=~promising, initial=-np.inf))
            for option in np.flatnonzero(promising & np.isfinite(bounds)).tolist():
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


def stochastic_only(wfa: WFA, what: str) -> Serving:
    """The automaton if it is an MDP, else the attached one, else the reason why it cannot be asked."""
    serving = stochastic_of(wfa)
    if serving is None:
        raise InputError(
            f"a {wfa.kind} automaton cannot be {what}: its rows are not distributions, so the best word in each "
            "state bounds nothing; extract a stochastic one",
            code="not-stochastic",
        )
    return serving
