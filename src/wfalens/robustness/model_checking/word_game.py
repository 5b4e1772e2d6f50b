"""A Markov decision process whose actions are the words of a list, read after a text.

After the text, the automaton is in a distribution d over its states. Then it reads a number of words of the list.
There are two kinds of player. An *adaptive* one sees the state before choosing each word; what it reaches is what a
model checker computes, and an upper bound. A *fixed* sequence of words is what a text is; its value is exact, and the
network can read it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.export.subset import Subset, subset
from wfalens.ragged import Ragged
from wfalens.robustness.certify.induction import Path, PathSearch, Values, backward_induction
from wfalens.validation import check_choice

MOST_BYTES = 2_000_000_000
_BYTES_PER_TRANSITION = 300  # the text that Storm reads, its own model and ours
_SAMPLED_WORDS = 64
_CONVERGED = 1e-12  # change of the values at which an unbounded question is answered
_MOST_ROUNDS = 100_000
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Game:
    """The words with their matrices, and where the text has led."""

    subset: Subset
    matrices: NDArray[np.float64]  # (words, n, n)
    start: NDArray[np.float64]  # (n,)

    @classmethod
    def of(cls, wfa: StochasticWFA, words: list[str], text_ids: NDArray[np.int32], memory: int = MOST_BYTES) -> Game:
        """Refused before it is built if it would take more than `memory` bytes."""
        needed = estimated_bytes(wfa, words)
        if needed > memory:
            raise InputError(
                f"{len(words):,} words and {wfa.states} states would take about {needed / 1e9:.1f} GB, more than the "
                f"{memory / 1e9:.1f} GB allowed; choose fewer words",
                code="memory",
            )
        chosen = subset(wfa, words)
        reached = wfa.state_vectors(Ragged(text_ids, np.array([0, len(text_ids)])), every=False)[0]
        start = np.zeros(len(chosen.states))
        start[: wfa.states] = reached
        missing = 1 - reached.sum()
        if chosen.lost is not None:
            start[chosen.lost] = max(0.0, missing)
        elif missing > _ROUNDING:
            raise InputError(
                f"null completion loses {missing:.0%} of the text's mass in rows that were never observed; "
                "extract with another completion",
                code="lost-mass",
            )
        return cls(chosen, chosen.matrices(), start / start.sum())

    @property
    def words(self) -> tuple[str, ...]:
        return self.subset.words

    def column(self, class_name: str) -> int:
        check_choice("class", class_name, self.subset.class_names)
        return self.subset.class_names.index(class_name)

    def absorbing(self, states: NDArray[np.bool_]) -> Game:
        """The same, but for states that are never left once they are reached; states: (n,)"""
        matrices = np.where(states[:, None], np.eye(len(states)), self.matrices)
        return Game(self.subset, matrices, self.start)

    def rounds(self, count: int, final: NDArray[np.float64]) -> tuple[_Rounds, Values]:
        """`count` words, and the values of an adaptive player who maximises `final`: (n,)"""
        steps = _Rounds(self.matrices, count)
        return steps, backward_induction(steps, final[:, None])

    def limit_values(self, final: NDArray[np.float64]) -> NDArray[np.float64]:
        """Value iteration: values of any number of words, for a game whose goal is absorbing; -> (n,)"""
        values = final
        for _ in range(_MOST_ROUNDS):
            after: NDArray[np.float64] = np.maximum(values, (self.matrices @ values).max(0))
            if np.abs(after - values).max() < _CONVERGED:
                return after
            values = after
        return values

    def best_words(self, count: int, final: NDArray[np.float64], effort: int) -> tuple[float, Path, bool]:
        """A fixed sequence of `count` words with much of `final`, its value, and whether none has more."""
        steps, values = self.rounds(count, final)
        search = PathSearch(steps, values, self.start)
        value, path = search.greedy(0)
        bound, better, _ = search.best_first(0, effort, value + _ROUNDING)
        if better is not None:
            return bound, better, True
        return value, path, bound <= value + _ROUNDING


@dataclass(frozen=True)
class _Rounds:
    """The same words to choose from a number of times."""

    words: NDArray[np.float64]  # (words, n, n)
    length: int

    def spans(self, at: int) -> NDArray[np.int64]:  # noqa: ARG002 - every round is alike
        return np.ones(len(self.words), np.int64)

    def matrices(self, at: int) -> NDArray[np.float64]:  # noqa: ARG002 - every round is alike
        return self.words

    def advance(self, at: int, vector: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        return np.asarray(vector @ self.words)


def estimated_bytes(wfa: StochasticWFA, words: list[str]) -> int:
    """What a game will take, from the transitions of a few of its words."""
    few = words[:: max(1, len(words) // _SAMPLED_WORDS)]
    ids = np.array([wfa.encoder.vocabulary.id_of(word) for word in few], np.int32)
    share = np.count_nonzero(wfa.matrices(ids)) / max(1, len(ids))
    return int(len(words) * (share * _BYTES_PER_TRANSITION + wfa.states**2 * np.dtype(np.float64).itemsize))
