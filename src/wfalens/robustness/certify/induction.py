"""Backward induction: the most that an adversary can reach who sees the state and chooses every word.

With f a number for every state, such as the advantage of one class over another,

    v_L = f,   v_t[i] = max over σ that may stand at t + 1 of Σⱼ Êσ[i,j]·v_{t+1}[j]

`I·v_0` bounds `A(w)·f` over all texts of the choices, because a text does not see the state. It is the value of a
Markov decision process whose actions are words, over as many steps as there are positions. An option that is a phrase
has the product of its words' matrices, and one that covers two positions leads to `v_{t+2}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import Serving, stochastic_of
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.robustness.certify.edits import Choices

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


def stochastic_only(wfa: WFA, what: str) -> Serving:
    """The automaton if it is an MDP, else the attached one, else the reason why it cannot be asked."""
    serving = stochastic_of(wfa)
    if serving is None:
        raise InputError(
            f"a {wfa.kind} automaton cannot be {what}: its rows are not distributions, so the best word in each "
            "state bounds nothing; extract one with --kind stochastic"
        )
    return serving
