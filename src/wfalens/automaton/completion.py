"""Completion rules: what the automaton does with a word in a state where it was never seen.

A rule is one class: it gives its arrays to the kernels, checks that they fit the automaton, and is stored in and loaded
from a `.wfa` file by its name. A subclass of `Completion` registers itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels import steps as kernels
from wfalens.automaton.kernels.steps import Rows, Rule
from wfalens.automaton.rows import has_rows, load_rows, no_rows, store_rows
from wfalens.errors import InputError
from wfalens.storage import StoredFile, Tensors, compact
from wfalens.validation import Bounds, check_choice, check_numbers, real, whole

DISTANCES = ("euclidean", "squared")
STRENGTHS = Bounds(real, 1e-9, 1e9)  # of probed rows: a sum with one of these is a number, and so is its inverse
MOST_COUNTED = 1 << 53
_FLOATS_AT_ONCE = 1 << 17  # of differences between centres
REPRESENTATIVES = Bounds(whole, 1, 1 << 20)


COMPLETIONS: dict[str, type[Completion]] = {}


class Completion(ABC):
    """Base class of completion rules, found by `name` in `COMPLETIONS`."""

    name: ClassVar[str]
    rows: Rows  # of rules that have rows of their own

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        COMPLETIONS[cls.name] = cls

    @abstractmethod
    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:
        """The rule as the kernels read it. centres: (n, C)"""

    def check(self, observed: Rows, words: int, states: int) -> None:  # noqa: B027 - most rules have no rows
        """Refuse rows that do not fit the alphabet and the states."""

    def has_rows(self) -> NDArray[np.bool_] | None:
        """Words that have rows by this rule although they were not observed; None: no word. -> (V,)"""
        return None

    def options(self) -> dict[str, Any]:
        """Fields that the header of a file holds."""
        return {}

    def tensors(self) -> Tensors:
        """Arrays that a file holds."""
        return {}

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:  # noqa: ARG003
        """From a file."""
        return cls()


def load_completion(file: StoredFile, words: int, states: int) -> Completion:
    """The rule that a file names, checked."""
    header = file.field("completion", dict)
    name = header.get("name")
    if not isinstance(name, str) or name not in COMPLETIONS:
        raise file.fail(f"its completion {name!r} is not one of {', '.join(COMPLETIONS)}")
    try:
        return COMPLETIONS[name].load(file, header, words, states)
    except (KeyError, TypeError, InputError) as error:
        raise file.fail(f"its completion is not valid ({error})") from None


@dataclass(frozen=True)
class Null(Completion):
    """Zeros: mass that meets a missing row is lost."""

    name: ClassVar[str] = "null"

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.NULL, alpha)


@dataclass(frozen=True)
class Uniform(Completion):
    """`1/n` in every column."""

    name: ClassVar[str] = "uniform"

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.UNIFORM, alpha)


@dataclass(frozen=True)
class Empirical(Completion):
    """The paper's: with reference rate β as the other rows of the word do, weighted by nearness; else stay."""

    beta: float
    distance: str = "euclidean"
    name: ClassVar[str] = "empirical"

    def __post_init__(self) -> None:
        check_numbers(self, {"beta": Bounds(real, 0, 1)})
        check_choice("distance", self.distance, DISTANCES)

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:
        near = similarity(centres, self.distance)
        return _rule(kernels.EMPIRICAL, alpha)._replace(beta=self.beta, similarity=near)

    def options(self) -> dict[str, Any]:
        return {"beta": self.beta, "distance": self.distance}

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:  # noqa: ARG003
        return cls(options["beta"], options["distance"])


class _OwnRows:
    """Part of rules with a row in every state for each word that they know."""

    rows: Rows
    stored_as: ClassVar[str]

    def check(self, observed: Rows, words: int, states: int) -> None:
        per_word = np.diff(self.rows.row_start)
        if len(per_word) != words or not np.all(np.isin(per_word, (0, states))):
            raise InputError("the probed rows must be there in every state for a word, or in none", code="rows")
        if np.any(has_rows(observed) & (per_word == 0)):
            raise InputError("a word was observed but not probed", code="rows")

    def has_rows(self) -> NDArray[np.bool_] | None:
        return has_rows(self.rows)

    def tensors(self) -> Tensors:
        return store_rows(self.stored_as, self.rows)


@dataclass(frozen=True, eq=False)
class Probe(_OwnRows, Completion):
    """Ask the model: rows counted by reading every word from representatives of every state.

    An observed row is shrunk towards the probed one: `(T̂σ[i] + m·Qσ[i]) / (Σ + m)`, m the strength.
    """

    strength: float
    representatives: int
    rows: Rows
    name: ClassVar[str] = "probe"
    stored_as: ClassVar[str] = "probed"

    def __post_init__(self) -> None:
        check_numbers(self, {"strength": STRENGTHS, "representatives": REPRESENTATIVES})

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.PROBE, alpha)._replace(probed=self.rows, strength=self.strength)

    def options(self) -> dict[str, Any]:
        return {"strength": self.strength, "representatives": self.representatives}

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:
        rows = load_rows(file, cls.stored_as, words, states)
        return cls(options["strength"], options["representatives"], rows)


@dataclass(frozen=True, eq=False)
class Fitted(_OwnRows, Completion):
    """No row is missing: all were fitted to the model's outputs, and stand for the observed ones too.

    `drift` is how far fitting moved the centres from the mean outputs of their states: mean L1 distance.
    """

    rows: Rows
    drift: float
    name: ClassVar[str] = "fit"
    stored_as: ClassVar[str] = "fitted"

    def __post_init__(self) -> None:
        check_numbers(self, {"drift": Bounds(real, 0, 2)})

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.FITTED, alpha)._replace(probed=self.rows, strength=1.0)

    def options(self) -> dict[str, Any]:
        return {"drift": self.drift}

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:
        return cls(load_rows(file, cls.stored_as, words, states), options["drift"])


@dataclass(frozen=True, eq=False)
class Shared(Completion):
    """No row is missing: every word belongs to one class of words, and the words of a class share its matrix."""

    rows: Rows  # of the classes, a row in every state
    word_class: NDArray[np.int64]  # (V,)
    visits: NDArray[np.float64]  # (classes, n): how often each class was read in each state of the extraction texts
    typicality: NDArray[np.uint8]  # (V,): how clearly a word belongs to its class, up to 255
    name: ClassVar[str] = "shared"

    @property
    def classes(self) -> int:
        return len(self.rows.row_start) - 1

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.FITTED, alpha)._replace(probed=self.rows, strength=1.0)

    def check(self, observed: Rows, words: int, states: int) -> None:  # noqa: ARG002
        classes, of_word = self.classes, self.word_class
        if not 1 <= classes <= words or np.any(np.diff(self.rows.row_start) != states):
            raise InputError("a word cluster must have a row in every state, and there must be a cluster", code="rows")
        if of_word.shape != (words,) or self.typicality.shape != (words,) or np.any(of_word >= classes):
            raise InputError("the word clusters do not fit the alphabet", code="rows")
        if self.visits.shape != (classes, states) or np.any(self.visits < 0):
            raise InputError("the visits of the word clusters do not fit the states", code="rows")

    def tensors(self) -> Tensors:
        return {
            **store_rows(self.name, self.rows),
            "shared.word_class": compact(self.word_class),
            "shared.visits": self.visits.astype(np.float32),
            "shared.typicality": self.typicality,
        }

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:  # noqa: ARG003
        of_word, visits = file.tensor("shared.word_class", "u"), file.tensor("shared.visits", "f", 2)
        if np.any(visits < 0) or visits.sum() > MOST_COUNTED:
            raise file.fail("its counts are out of range")
        return cls(
            rows=load_rows(file, cls.name, len(visits), states),
            word_class=of_word.astype(np.int64),
            visits=visits.astype(np.float64),
            typicality=file.tensor("shared.typicality", "u").astype(np.uint8),
        )


def _rule(code: int, alpha: float) -> Rule:
    """A rule with all that is particular to one completion left empty."""
    table = np.zeros((0, 0))
    return Rule(code, alpha, 0.0, table, no_rows(0), 0.0, table, np.zeros(0, np.int32))


def similarity(centres: NDArray[np.float64], distance: str) -> NDArray[np.float64]:
    """`g[i,k] = exp(−M[i,k])`, M the Euclidean distance of the centres, or its square (authors' code)."""
    # (n, C) -> (n, n)
    n, classes = centres.shape
    near, step = np.empty((n, n)), max(1, _FLOATS_AT_ONCE // (n * classes))
    for start in range(0, n, step):
        squared = np.square(centres[start : start + step, None] - centres).sum(2)
        near[start : start + step] = np.exp(-(squared if distance == "squared" else np.sqrt(squared)))
    return near
