"""A Markov decision process whose actions are the words of a list, read after a text, and Storm's answers about it.

After the text, the automaton is in a distribution d over its states. Then it reads a number of words of the list.
There are two kinds of player. An *adaptive* one sees the state before choosing each word; what it reaches is what a
model checker computes, and an upper bound. A *fixed* sequence of words is what a text is; its value is exact, and the
network can read it.

Storm, the model checker, gets the process through stormpy as a DRN file, and properties in PCTL.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError, MissingDependencyError
from wfalens.export.mdp import to_drn
from wfalens.export.subset import Subset, subset
from wfalens.ragged import Ragged
from wfalens.robustness.certify.induction import Path, PathSearch, Position, Values, backward_induction
from wfalens.validation import check_choice

MOST_BYTES = 2_000_000_000
_BYTES_PER_TRANSITION = 300  # the text that Storm reads, its own model and ours
_SAMPLED_WORDS = 64
_CONVERGED = 1e-12  # change of the values at which an unbounded question is answered
_MOST_ROUNDS = 100_000
_ROUNDING = 1e-9
_UNKNOWN_LABEL = "unknown label"  # as Storm says it


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

    def rounds(self, count: int, final: NDArray[np.float64]) -> tuple[list[Position], Values]:
        """`count` words, and the values of an adaptive player who maximises `final`: (n,)"""
        steps = [Position(self.matrices, [1] * len(self.matrices))] * count
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


def estimated_bytes(wfa: StochasticWFA, words: list[str]) -> int:
    """What a game will take, from the transitions of a few of its words."""
    few = words[:: max(1, len(words) // _SAMPLED_WORDS)]
    ids = np.array([wfa.encoder.vocabulary.id_of(word) for word in few], np.int32)
    share = np.count_nonzero(wfa.matrices(ids)) / max(1, len(ids))
    return int(len(words) * (share * _BYTES_PER_TRANSITION + wfa.states**2 * np.dtype(np.float64).itemsize))


class StormModel:
    """A game as Storm's own model. Its first step leads to the state after the text, so k words are k + 1 steps."""

    def __init__(self, game: Game) -> None:
        try:
            import stormpy
        except ImportError:
            raise MissingDependencyError("stormpy", "verify") from None
        self._storm: Any = stormpy
        self._start = len(game.subset.states)  # the state before the first step comes last
        options = self._storm.io.DirectEncodingParserOptions()
        options.build_choice_labeling = False
        with tempfile.TemporaryDirectory(prefix="wfalens-") as folder:
            path = FilePath(folder) / "game.drn"
            path.write_text(to_drn(game.subset, game.start), encoding="ascii")
            self._model = self._storm.build_model_from_drn(str(path), options=options)

    def ask(self, pctl: str) -> float | bool:
        """Check a property at the start; one that is malformed or that Storm cannot check is refused in a sentence."""
        with _without_log(self._storm.developer):
            try:
                properties = self._storm.parse_properties(pctl)
                if len(properties) != 1:
                    raise InputError(f"give one property, not {len(properties)}", code="property")
                result = self._storm.model_checking(self._model, properties[0])
            except RuntimeError as error:
                raise InputError(
                    f"Storm does not take the property {pctl!r}: {self._reason(error)}", code="property"
                ) from None
        if result.is_qualitative():
            return bool(result[self._start])
        if not result.is_quantitative() or not hasattr(result, "get_value_vector"):
            raise InputError(f"the answer to the property {pctl!r} is neither a number nor yes or no", code="property")
        return float(result.get_value_vector()[self._start])

    def _reason(self, error: RuntimeError) -> str:
        """The first line of what Storm says; of a label that the model lacks also those that it has."""
        reason = " ".join(str(error).split("\n")[0].split("Note that")[0].removesuffix(", here:").split())
        while reason.partition(":")[0].endswith("Exception"):
            reason = reason.partition(":")[2]
        reason = reason.strip(" .:,") or "no reason given"
        if _UNKNOWN_LABEL not in reason:
            return reason
        known = ", ".join(sorted(self._model.labeling.get_labels()))
        return f"{reason}; the model has {known} (a class that no state decides for has no label)"


@contextmanager
def _without_log(developer: Any) -> Iterator[None]:
    """Storm prints its errors before it raises them; we raise them as one sentence instead."""
    level = developer.get_log_level()
    developer.set_log_level(developer.LogLevel.OFF)
    try:
        yield
    finally:
        developer.set_log_level(level)
