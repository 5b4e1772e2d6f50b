"""Ready-made questions in plain English, and what they are for Storm and for backward induction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.export.mdp import SAYS, START
from wfalens.export.symbols import CLASS, escape
from wfalens.robustness.model_checking.word_game import Game
from wfalens.validation import check_choice


@dataclass(frozen=True)
class Question(ABC):
    """A question about a class and at most `count` words (None: any number)."""

    class_name: str
    count: int | None

    name: ClassVar[str]
    about: ClassVar[str]

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise InputError(f"a question is about at least one word, not {self.count}")

    @abstractmethod
    def sentence(self, words: int, text: str) -> str:
        """The question as a person would ask it."""

    @abstractmethod
    def properties(self) -> list[str]:
        """PCTL for Storm; the answer is that of the property which suits the player best."""

    @abstractmethod
    def goal(self, game: Game) -> tuple[Game, NDArray[np.float64]]:
        """The game to play, and what its player wants most of in the end, by state: (n,)"""

    @abstractmethod
    def reported(self, value: float) -> float:
        """A value of the player as an answer to the question."""

    @abstractmethod
    def best(self, answers: list[float]) -> float:
        """Storm's answer to the question from those to its properties."""

    def _within(self, words: int) -> str:
        number = "any number of words" if self.count is None else f"at most {self.count} word{'s'[: self.count != 1]}"
        return f"{number} from a list of {words:,}"


class _Weight(Question):
    """About the output, that is the weight of the class after the words."""

    sign: ClassVar[int]  # +1: the player wants most of the class, −1: least

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count is None:
            raise InputError(f"say how many words may be read to {self.name} a class (--count)")

    def sentence(self, words: int, text: str) -> str:
        end = "most" if self.sign > 0 else "least"
        return f"What is the {end} that {self._within(words)} can make of {self.class_name!r}{text}?"

    def properties(self) -> list[str]:
        reward, direction = escape(self.class_name, CLASS), "max" if self.sign > 0 else "min"
        return [f'R{{"{reward}"}}{direction}=? [I={words + 1}]' for words in range((self.count or 0) + 1)]

    def goal(self, game: Game) -> tuple[Game, NDArray[np.float64]]:
        return game, self.sign * game.subset.final[:, game.column(self.class_name)]

    def reported(self, value: float) -> float:
        return self.sign * value

    def best(self, answers: list[float]) -> float:
        return max(answers, key=self.reported)


@dataclass(frozen=True)
class Raise(_Weight):
    """The most that words can make of a class."""

    name: ClassVar[str] = "raise"
    about: ClassVar[str] = "the most that the words can make of the class's probability"
    sign: ClassVar[int] = 1


@dataclass(frozen=True)
class Lower(_Weight):
    """The least that words can make of a class."""

    name: ClassVar[str] = "lower"
    about: ClassVar[str] = "the least that the words can make of the class's probability"
    sign: ClassVar[int] = -1


class _Visit(Question):
    """About the states on the way: whether one of some kind is visited."""

    def properties(self) -> list[str]:
        bound = "" if self.count is None else f"<={self.count + 1}"
        return [f"Pmax=? [F{bound} {self._wanted()}]"]

    def goal(self, game: Game) -> tuple[Game, NDArray[np.float64]]:
        states = self._states(game)
        return game.absorbing(states), states.astype(np.float64)

    def best(self, answers: list[float]) -> float:
        return self.reported(answers[0])

    @abstractmethod
    def _wanted(self) -> str:
        """The states that the player wants to visit, in PCTL."""

    @abstractmethod
    def _states(self, game: Game) -> NDArray[np.bool_]: ...

    def _label(self) -> str:
        return f'"{SAYS}_{escape(self.class_name, CLASS)}"'

    def _spoken_for(self, game: Game) -> NDArray[np.bool_]:
        """The states that speak most for the class; (n,)"""
        states = np.asarray(game.subset.decided == game.column(self.class_name))
        if not states.any():
            raise InputError(f"no state of the automaton speaks most for {self.class_name!r}; ask to raise it instead")
        return states


@dataclass(frozen=True)
class Push(_Visit):
    """The probability that words lead to a state of a class."""

    name: ClassVar[str] = "push"
    about: ClassVar[str] = "the highest probability that the words lead to a state of the class"

    def sentence(self, words: int, text: str) -> str:
        return f"With what probability can {self._within(words)} push to {self.class_name!r}{text}?"

    def reported(self, value: float) -> float:
        return value

    def _wanted(self) -> str:
        return self._label()

    def _states(self, game: Game) -> NDArray[np.bool_]:
        return self._spoken_for(game)


@dataclass(frozen=True)
class Keep(_Visit):
    """The probability that a text stays with a class, whatever words follow."""

    name: ClassVar[str] = "keep"
    about: ClassVar[str] = "the lowest probability that all states on the way are of the class"

    def sentence(self, words: int, text: str) -> str:
        return (
            f"With what probability at least is every state on the way of {self.class_name!r}{text}, "
            f"if {self._within(words)} follow?"
        )

    def reported(self, value: float) -> float:
        return 1 - value

    def _wanted(self) -> str:
        return f'(!{self._label()} & !"{START}")'

    def _states(self, game: Game) -> NDArray[np.bool_]:
        return ~self._spoken_for(game)


QUESTIONS: dict[str, type[Question]] = {kind.name: kind for kind in (Push, Raise, Lower, Keep)}


def question(name: str, class_name: str, count: int | None) -> Question:
    """A ready-made question by its name."""
    check_choice("question", name, QUESTIONS)
    return QUESTIONS[name](class_name, count)
