"""Backward induction: the most that an adversary can reach who sees the state and chooses every word.

With f a number for every state, such as the advantage of one class over another,

    v_L = f,   v_t[i] = max over σ that may stand at t + 1 of Σⱼ Êσ[i,j]·v_{t+1}[j]

`I·v_0` bounds `A(w)·f` over all texts of the choices, because a text does not see the state. It is the value of a
Markov decision process whose actions are words, over as many steps as there are positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.verification.substitutes import Choices

Values = list[NDArray[np.float64]]  # for every position (levels, n, objectives); level r: r words may still be changed


class Steps(Protocol):
    """What may be read at each of a number of positions, and what it does; option 0 is the text's own word."""

    @property
    def length(self) -> int: ...

    def matrices(self, at: int) -> NDArray[np.float64]:
        """Êσ of the options at a position; (options, n, n)"""
        ...

    def advance(self, at: int, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """`d·Êσ` of the options at a position; (n,) -> (options, n)"""
        ...


@dataclass(frozen=True)
class TextSteps:
    """The positions of a text with the words that may stand there."""

    wfa: StochasticWFA
    choices: Choices

    @property
    def length(self) -> int:
        return len(self.choices)

    def matrices(self, at: int) -> NDArray[np.float64]:
        return self.wfa.matrices(self.choices[at])

    def advance(self, at: int, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.wfa.advance(vector[None], self.choices[at])


def backward_induction(steps: Steps, final: NDArray[np.float64], changes: int | None = None) -> Values:
    """`v_0 … v_L` for several objectives; final: (n, objectives) -> L + 1 × (levels, n, objectives)

    Without a limit on changes there is one level, and any word may be changed.
    """
    levels = 1 if changes is None else min(changes, steps.length) + 1
    values = [np.repeat(final[None], levels, axis=0)]
    for at in reversed(range(steps.length)):
        after = steps.matrices(at)[:, None] @ values[-1]  # (options, levels, n, objectives)
        now = after.max(0) if changes is None else after[0].copy()
        if changes is not None and len(after) > 1:
            now[1:] = np.maximum(now[1:], after[1:, :-1].max(0))
        values.append(now)
    return values[::-1]


def stochastic_only(wfa: WFA, what: str) -> StochasticWFA:
    """The automaton if it is a Markov decision process, else the reason why it cannot be asked."""
    if not isinstance(wfa, StochasticWFA):
        raise InputError(
            f"a {wfa.kind} automaton cannot be {what}: its rows are not distributions, so the best word in each "
            "state bounds nothing; extract one with --kind stochastic"
        )
    return wfa
