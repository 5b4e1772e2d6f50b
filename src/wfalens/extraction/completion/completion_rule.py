"""Completion rules of counted rows: what a word does in a state where it was never observed (paper §3.2).

A new rule is one module: a class that inherits `CompletionRule`, names itself and implements `complete`. It registers
itself, and `Paper(completion=NAME)` finds it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from wfalens.automaton.completion import Completion, Empirical, Null, Uniform
from wfalens.errors import InputError
from wfalens.extraction.transitions import ObservedRows

CORPUS = "corpus"
COMPLETION_RULES: dict[str, CompletionRule] = {}  # by name; subclasses of `CompletionRule` enter themselves


class CompletionRule(ABC):
    """How missing rows are completed; `name` is what `Paper(completion=…)` calls it."""

    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        known = COMPLETION_RULES.get(cls.name)
        if known is not None and type(known).__qualname__ != cls.__qualname__:
            raise InputError(f"there is a completion rule {cls.name!r} already", code="duplicate-rule")
        COMPLETION_RULES[cls.name] = cls()

    @abstractmethod
    def complete(self, method: Any, observed: ObservedRows) -> Completion:
        """The automaton's completion; `method` has the options (`Paper`), `observed` what was counted."""


class NullRule(CompletionRule):
    name = Null.name

    def complete(self, method: Any, observed: ObservedRows) -> Completion:  # noqa: ARG002
        return Null()


class UniformRule(CompletionRule):
    name = Uniform.name

    def complete(self, method: Any, observed: ObservedRows) -> Completion:  # noqa: ARG002
        return Uniform()


class EmpiricalRule(CompletionRule):
    name = Empirical.name

    def complete(self, method: Any, observed: ObservedRows) -> Completion:
        beta = 1 - observed.self_transition_share if method.beta == CORPUS else float(method.beta)
        return Empirical(beta, method.distance)
