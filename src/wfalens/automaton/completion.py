"""Rules for missing rows: what the automaton does with a word in a state where it was never seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels import steps as kernels
from wfalens.automaton.kernels.steps import Rows, Rule
from wfalens.automaton.rows import no_rows
from wfalens.validation import Bounds, check_choice, check_numbers, real, whole

DISTANCES = ("euclidean", "squared")
STRENGTHS = Bounds(real, 1e-9, 1e9)  # of probed rows: a sum with one of these is a number, and so is its inverse
_FLOATS_AT_ONCE = 1 << 17  # of differences between centres
REPRESENTATIVES = Bounds(whole, 1, 1 << 20)


@dataclass(frozen=True)
class Null:
    """Zeros: mass that meets a missing row is lost."""

    name: ClassVar[str] = "null"

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.NULL, alpha)


@dataclass(frozen=True)
class Uniform:
    """`1/n` in every column."""

    name: ClassVar[str] = "uniform"

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.UNIFORM, alpha)


@dataclass(frozen=True)
class Empirical:
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


@dataclass(frozen=True, eq=False)
class Probe:
    """Ask the model: rows counted by reading every word from representatives of every state.

    An observed row is shrunk towards the probed one: `(T̂σ[i] + m·Qσ[i]) / (Σ + m)`, m the strength.
    """

    strength: float
    representatives: int
    rows: Rows
    name: ClassVar[str] = "probe"

    def __post_init__(self) -> None:
        check_numbers(self, {"strength": STRENGTHS, "representatives": REPRESENTATIVES})

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.PROBE, alpha)._replace(probed=self.rows, strength=self.strength)


@dataclass(frozen=True, eq=False)
class Fitted:
    """No row is missing: all were fitted to the model's outputs, and stand for the observed ones too.

    `drift` is how far fitting moved the centres from the mean outputs of their states: mean L1 distance.
    """

    rows: Rows
    drift: float
    name: ClassVar[str] = "fit"

    def __post_init__(self) -> None:
        check_numbers(self, {"drift": Bounds(real, 0, 2)})

    def rule(self, alpha: float, centres: NDArray[np.float64]) -> Rule:  # noqa: ARG002
        return _rule(kernels.FITTED, alpha)._replace(probed=self.rows, strength=1.0)


@dataclass(frozen=True, eq=False)
class Shared:
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


Completion = Null | Uniform | Empirical | Probe | Fitted | Shared
COMPLETIONS = (Null.name, Uniform.name, Empirical.name, Probe.name, Fitted.name, Shared.name)


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
