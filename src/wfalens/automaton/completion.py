"""Completion rules: what the automaton does with a word in a state where it was never seen.

A rule is one class: it gives its arrays to the kernels, checks that they fit the automaton, and is stored in and loaded
from a `.wfa` file by its name. A subclass of `Completion` registers itself.
"""

from __future__ import annotations

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
REPRESENTATIVES = Bounds(whole, 1, 1 << 20)


COMPLETIONS: dict[str, type[Completion]] = {}


class Completion:
    """Base class of completion rules, found by `name` in `COMPLETIONS`."""

    name: ClassVar[str]
    code: ClassVar[int]  # of the kernels
    stored: ClassVar[tuple[str, ...]] = ()  # fields that the header of a file holds
    rows_name: ClassVar[str] = ""  # of tensors in a file, for rules that have rows of their own
    rows: Rows

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.code not in kernels.CODES:  # they would read rows that are not there
            raise TypeError(f"the kernels know no completion of code {cls.code}")
        COMPLETIONS[cls.name] = cls

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:
        """The rule as the kernels read it. centres: (n, C)"""
        table = np.zeros((0, 0))
        rule = Rule(self.code, alpha, 0.0, table, no_rows(0), 0.0, table, np.zeros(0, np.int32))
        return rule._replace(**self.particulars(centres))

    def particulars(self, centres: NDArray[np.float64]) -> dict[str, Any]:  # noqa: ARG002
        """What is particular to this completion in the rule; by default its own rows, if it has any."""
        return {"probed": self.rows, "strength": 1.0} if self.rows_name else {}

    def check(self, observed: Rows, words: int, states: int) -> None:
        """Refuse rows that do not fit the alphabet and the states: a word has one in every state, or none."""
        if not self.rows_name:
            return
        per_word = np.diff(self.rows.row_start)
        if len(per_word) != words or not np.all(np.isin(per_word, (0, states))):
            raise InputError("the probed rows must be there in every state for a word, or in none", code="rows")
        if np.any(has_rows(observed) & (per_word == 0)):
            raise InputError("a word was observed but not probed", code="rows")

    def has_rows(self) -> NDArray[np.bool_] | None:
        """Words that have rows by this rule although they were not observed; None: no word. -> (V,)"""
        return has_rows(self.rows) if self.rows_name else None

    def options(self) -> dict[str, Any]:
        """Fields that the header of a file holds."""
        return {name: getattr(self, name) for name in self.stored}

    def tensors(self) -> Tensors:
        """Arrays that a file holds."""
        return store_rows(self.rows_name, self.rows) if self.rows_name else {}

    @classmethod
    def load(cls, file: StoredFile, options: Mapping[str, Any], words: int, states: int) -> Completion:
        """From a file."""
        rows = {"rows": load_rows(file, cls.rows_name, words, states)} if cls.rows_name else {}
        return cls(**{name: options[name] for name in cls.stored}, **rows)


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
    code: ClassVar[int] = kernels.NULL


@dataclass(frozen=True)
class Uniform(Completion):
    """`1/n` in every column."""

    name: ClassVar[str] = "uniform"
    code: ClassVar[int] = kernels.UNIFORM


@dataclass(frozen=True)
class Empirical(Completion):
    """The paper's: with reference rate β as the other rows of the word do, weighted by nearness; else stay."""

    beta: float
    distance: str = "euclidean"
    name: ClassVar[str] = "empirical"
    code: ClassVar[int] = kernels.EMPIRICAL
    stored: ClassVar[tuple[str, ...]] = ("beta", "distance")

    def __post_init__(self) -> None:
        check_numbers(self, {"beta": Bounds(real, 0, 1)})
        check_choice("distance", self.distance, DISTANCES)

    def particulars(self, centres: NDArray[np.float64]) -> dict[str, Any]:
        return {"beta": self.beta, "similarity": similarity(centres, self.distance)}


@dataclass(frozen=True, eq=False)
class Probe(Completion):
    """Ask the model: rows counted by reading every word from representatives of every state.

    An observed row is shrunk towards the probed one: `(T̂σ[i] + m·Qσ[i]) / (Σ + m)`, m the strength.
    """

    strength: float
    representatives: int
    rows: Rows
    name: ClassVar[str] = "probe"
    code: ClassVar[int] = kernels.PROBE
    stored: ClassVar[tuple[str, ...]] = ("strength", "representatives")
    rows_name: ClassVar[str] = "probed"

    def __post_init__(self) -> None:
        check_numbers(self, {"strength": STRENGTHS, "representatives": REPRESENTATIVES})

    def particulars(self, centres: NDArray[np.float64]) -> dict[str, Any]:  # noqa: ARG002
        return {"probed": self.rows, "strength": self.strength}


@dataclass(frozen=True, eq=False)
class Fitted(Completion):
    """No row is missing: all were fitted to the model's outputs, and stand for the observed ones too.

    `drift` is how far fitting moved the centres from the mean outputs of their states: mean L1 distance.
    """

    rows: Rows
    drift: float
    name: ClassVar[str] = "fit"
    code: ClassVar[int] = kernels.FITTED
    stored: ClassVar[tuple[str, ...]] = ("drift",)
    rows_name: ClassVar[str] = "fitted"

    def __post_init__(self) -> None:
        check_numbers(self, {"drift": Bounds(real, 0, 2)})


@dataclass(frozen=True, eq=False)
class Shared(Completion):
    """No row is missing: every word belongs to one cluster of words, and the words of a cluster share its matrix."""

    rows: Rows  # of the clusters, a row in every state
    word_class: NDArray[np.int64]  # (V,)
    visits: NDArray[np.float64]  # (clusters, n): how often each was read in each state of the extraction texts
    typicality: NDArray[np.uint8]  # (V,): how clearly a word belongs to its cluster, up to 255
    name: ClassVar[str] = "shared"
    code: ClassVar[int] = kernels.FITTED
    rows_name: ClassVar[str] = "shared"

    @property
    def classes(self) -> int:
        return len(self.rows.row_start) - 1

    def has_rows(self) -> NDArray[np.bool_] | None:
        return None

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
            **super().tensors(),
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
            rows=load_rows(file, cls.rows_name, len(visits), states),
            word_class=of_word.astype(np.int64),
            visits=visits.astype(np.float64),
            typicality=file.tensor("shared.typicality", "u").astype(np.uint8),
        )


def similarity(centres: NDArray[np.float64], distance: str) -> NDArray[np.float64]:
    """`g[i,k] = exp(−M[i,k])`, M the Euclidean distance of the centres, or its square (authors' code)."""
    # (n, C) -> (n, n)
    squared = np.array([np.square(centre - centres).sum(1) for centre in centres])
    return np.asarray(np.exp(-(squared if distance == "squared" else np.sqrt(squared))))
