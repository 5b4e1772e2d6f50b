"""Backward induction: the most that an adversary can reach who sees the state and chooses every word.

With f a number for every state, such as the advantage of one class over another,

    v_L = f,   v_t[i] = max over σ that may stand at t + 1 of Σⱼ Êσ[i,j]·v_{t+1}[j]

`I·v_0` bounds `A(w)·f` over all texts of the choices, because a text does not see the state. It is the value of a
Markov decision process whose actions are words, over as many steps as there are positions. An option that is a phrase
has the product of its words' matrices, and one that covers two positions leads to `v_{t+2}`. Where rows are not
distributions, interval arithmetic bounds the value. The bound guides a best-first (A*) search for the worst text.

What a single change does is exact on the automaton, from the state before the position and the backward matrix behind
the option. In log-odds, changes are taken to add up. The network's outputs on variants that it has read correct
what is expected of those that share their changes.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import Serving, stochastic_of
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.robustness.certify.edits import Choices, Picks

_LEAST = 1e-3  # what is less likely counts as that likely: differences below it are noise
Path = tuple[int, ...]  # the option taken at each position; 0 where an earlier one covers it
Values = list[NDArray[np.float64]]  # for every position (levels, n, objectives); level r: r words may still be changed


class Position(NamedTuple):
    """What may be read at a position, and what it does; option 0 is the text's own word."""

    matrices: NDArray[np.float64]  # Êσ of the options: (options, n, n)
    spans: list[int]  # the positions that each option covers


def text_positions(wfa: WFA, choices: Choices) -> list[Position]:
    """The positions of a text with what may stand there; a phrase without words changes nothing."""
    words = np.unique([word for options in choices for option in options for word in option.words])
    matrix_of = dict(zip(words.tolist(), wfa.matrices(words.astype(np.int32)), strict=True))
    nothing = np.eye(wfa.states)
    return [
        Position(
            np.array([reduce(np.matmul, map(matrix_of.__getitem__, option.words), nothing) for option in options]),
            [option.span for option in options],
        )
        for options in choices
    ]


def backward_induction(steps: list[Position], final: NDArray[np.float64], changes: int | None = None) -> Values:
    """`v_0 … v_L` for several objectives; final: (n, objectives) -> L + 1 × (levels, n, objectives)

    Without a limit on changes there is one level, and any word may be changed.
    """
    levels = 1 if changes is None else min(changes, len(steps)) + 1
    values = [np.repeat(final[None], levels, axis=0)] * (len(steps) + 1)
    for at, (matrices, spans) in reversed(list(enumerate(steps))):
        later = np.stack([values[at + span] for span in spans])
        after = matrices[:, None] @ later  # (options, levels, n, objectives)
        now = after.max(0) if changes is None else after[0].copy()
        if changes is not None and len(after) > 1:
            now[1:] = np.maximum(now[1:], after[1:, :-1].max(0))
        values[at] = now
    return values


def interval_values(
    steps: list[Position], start: NDArray[np.float64], final: NDArray[np.float64], changes: int | None = None
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
    length = len(steps)
    levels = 1 if changes is None else min(changes, length) + 1
    spent = 0 if changes is None else 1  # levels that a change costs
    middles, widths = _boxes(steps, start, levels, spent)
    own = [final] * (length + 1)
    gains = [np.zeros((levels, final.shape[1]))] * (length + 1)
    for at, (matrices, spans) in reversed(list(enumerate(steps))):
        own[at] = matrices[0] @ own[at + 1]
        gains[at] = gains[at + 1].copy()
        for matrix, span in zip(matrices[1:], spans[1:], strict=True):
            difference = matrix @ own[at + span] - own[at]
            most = middles[at] @ difference + widths[at] @ np.abs(difference)  # by changes made: (levels, objectives)
            most = most[::-1]  # by the changes left
            gains[at][spent:] = np.maximum(gains[at][spent:], gains[at + span][: levels - spent] + most[spent:])
    return [_with_constant(vector, gain) for vector, gain in zip(own, gains, strict=True)]


def _boxes(
    steps: list[Position], start: NDArray[np.float64], levels: int, spent: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres and half-widths of the boxes after each position, by the number of changes made; (L + 1, levels, n)"""
    low = np.full((len(steps) + 1, levels, len(start)), np.inf)
    high = -low
    low[0], high[0] = start, start
    for at, (matrices, spans) in enumerate(steps):
        middle, width = (high[at] + low[at]) / 2, (high[at] - low[at]) / 2
        for number, (matrix, span) in enumerate(zip(matrices, spans, strict=True)):
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


@dataclass(frozen=True)
class _Prefix:
    """Options taken at the first positions, and what they lead to."""

    path: Path
    vector: NDArray[np.float64]  # (n,)
    level: int  # changes left
    bound: float  # on what any continuation reaches


@dataclass(frozen=True)
class PathSearch:
    """Looks for the options, one at each position, that maximise an objective.

    `values` are those of `backward_induction` on the same steps; an objective is one of their columns.
    """

    steps: list[Position]
    values: Values
    start: NDArray[np.float64]
    is_limited: bool = False  # whether a change uses up a level

    def greedy(self, objective: int) -> tuple[float, Path]:
        """The most promising option at every position, and the value that this reaches."""
        prefix = self._first(objective)
        while len(prefix.path) < len(self.steps):
            prefix = max(self._expand(objective, prefix), key=lambda each: each.bound)
        return float(prefix.vector @ self.values[-1][prefix.level][:, objective]), prefix.path

    def best_first(self, objective: int, effort: int, enough: float = -np.inf) -> tuple[float, Path | None, int]:
        """A* search: expand the best prefix until it is complete, its bound is below `enough`, or the effort is spent.

        -> a bound on the value, the path that reaches it where one is known, and the effort left
        """
        age, best = count(), self._first(objective)
        queue = [(-best.bound, next(age), best)]
        passed_over = -np.inf  # the best bound of the prefixes that were dropped
        while queue:
            best = queue[0][-1]
            if len(best.path) == len(self.steps):
                return best.bound, best.path, effort
            if best.bound < enough or effort == 0:
                return max(best.bound, passed_over), None, effort
            heapq.heappop(queue)
            effort -= 1
            for longer in self._expand(objective, best):
                if longer.bound >= enough:
                    heapq.heappush(queue, (-longer.bound, next(age), longer))
                else:
                    passed_over = max(passed_over, longer.bound)
        return float(passed_over), None, effort

    def _first(self, objective: int) -> _Prefix:
        level = len(self.values[0]) - 1
        return _Prefix((), self.start, level, float(self.start @ self.values[0][level][:, objective]))

    def _expand(self, objective: int, prefix: _Prefix) -> list[_Prefix]:
        """The prefixes that every allowed option of the next position leads to."""
        at, found = len(prefix.path), []
        matrices, spans = self.steps[at]
        for option, (vector, span) in enumerate(zip(prefix.vector @ matrices, spans, strict=True)):
            level = prefix.level - int(self.is_limited and option > 0)
            if level >= 0:
                path = (*prefix.path, option, *(0,) * (span - 1))
                found.append(_Prefix(path, vector, level, float(vector @ self.values[at + span][level][:, objective])))
        return found


@dataclass(frozen=True, eq=False)
class ChangeEffects:
    """How near variants are expected to bring another class to the network's, in log-odds."""

    label: int
    lead: NDArray[np.float64]  # (C,): of every class over the network's, on the text itself
    gains: tuple[NDArray[np.float64], ...]  # L × (options, C): what each option alone adds to it

    @classmethod
    def of(cls, wfa: WFA, choices: Choices, label: int, output: NDArray[np.float64] | None = None) -> ChangeEffects:
        """output: the network's output on the text, (C,); its lead and the automaton's count half each"""
        steps = text_positions(wfa, choices)
        before, after = [wfa.initial], [wfa.read_out(np.eye(wfa.states))]
        for options in choices:
            before.append(wfa.advance(before[-1][None], np.array(options[0].words, np.int32))[0])
        for matrices, _ in reversed(steps):
            after.append(matrices[0] @ after[-1])
        after.reverse()
        gains = []
        for at, (matrices, spans) in enumerate(steps):
            later = np.stack([after[at + span] for span in spans])  # (options, n, C)
            weights = np.einsum("on,onc->oc", before[at] @ matrices, later)
            leads = _leads(_log_odds(wfa, weights), label)
            gains.append(leads - leads[0])
        (lead,) = _leads(_log_odds(wfa, wfa.read_out(before[-1][None])), label)
        if output is not None:
            lead = (lead + _leads(_logs(output[None]), label)[0]) / 2
        return cls(label, lead, tuple(gains))

    def expected(self, picks: Picks) -> NDArray[np.float64]:
        """The lead of every class over the network's; (variants, L) -> (variants, C)"""
        total = np.tile(self.lead, (len(picks), 1))
        for at, gain in enumerate(self.gains):
            total += gain[picks[:, at]]
        return total

    def __call__(self, picks: Picks) -> NDArray[np.float64]:
        """The lead of the class that comes nearest; (variants, L) -> (variants,)"""
        return np.asarray(np.delete(self.expected(picks), self.label, axis=1).max(1))

    def ordered(self, picks: Picks) -> Picks:
        """The variants that come nearest to another class first."""
        return picks[np.argsort(-self(picks), kind="stable")]

    def updated(self, picks: Picks, outputs: NDArray[np.float64]) -> ChangeEffects:
        """With the network's outputs on variants: what was not expected is shared among the changes of each.

        picks: (variants, L); outputs: (variants, C)
        """
        missed = _leads(_logs(outputs), self.label) - self.expected(picks)
        missed /= np.maximum(1, np.count_nonzero(picks, axis=1))[:, None]
        gains = []
        for at, gain in enumerate(self.gains):
            changed = np.flatnonzero(picks[:, at])
            sums, times = np.zeros_like(gain), np.zeros(len(gain))
            np.add.at(sums, picks[changed, at], missed[changed])
            np.add.at(times, picks[changed, at], 1)
            gains.append(gain + sums / np.maximum(1, times)[:, None])
        return replace(self, gains=tuple(gains))

    def greedy(self, changes: int | None) -> Picks:
        """For every other class and number of changes, those that favour the class most; -> (variants, L)"""
        length = len(self.gains)
        rows = []
        for column in np.delete(np.arange(len(self.lead)), self.label):
            best = np.array([gain[:, column].argmax() for gain in self.gains])
            gained = [gain[option, column] for gain, option in zip(self.gains, best, strict=True)]
            order = np.argsort(gained, kind="stable")[::-1]
            for made in range(1, 1 + (length if changes is None else min(changes, length))):
                row = np.zeros(length, np.int16)
                row[order[:made]] = best[order[:made]]
                rows.append(row)
        return np.array(rows, np.int16).reshape(-1, length)


def _log_odds(wfa: WFA, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class weights in log-odds, but for a constant; (variants, C)"""
    return _logs(weights) if isinstance(wfa, StochasticWFA) else weights


def _logs(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log(np.maximum(probabilities, _LEAST)))


def _leads(scores: NDArray[np.float64], label: int) -> NDArray[np.float64]:
    return np.asarray(scores - scores[:, [label]])


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
