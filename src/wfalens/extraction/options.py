"""Which values the options of an extraction may have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from wfalens.automaton.completion import COMPLETIONS, DISTANCES
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.rows import MAX_STATES
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.states.abstraction import ABSTRACTIONS, Abstraction
from wfalens.models.traces import INITIAL

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor

AUTO, CORPUS = "auto", "corpus"
KINDS = (StochasticWFA.kind, LinearWFA.kind)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Bounds:
    """The numbers that an option may be, and the words (or None) that it may be instead."""

    plain: Callable[[Any], float | None]  # a plain Python number; None for what is no number of this kind
    least: float
    most: float
    words: tuple[str | None, ...] = ()

    def checked(self, name: str, given: Any) -> float | str | None:
        if (given is None or isinstance(given, str)) and given in self.words:
            return given
        value = self.plain(given)
        if value is None or not self.least <= value <= self.most:
            also = "".join(f" or be {word!r}" for word in self.words if word is not None)
            raise InputError(f"{name} must lie between {self.least:g} and {self.most:g}{also}, not {given!r}")
        return value


_NUMBERS = {
    "states": Bounds(_whole, 1, MAX_STATES - 1, (AUTO,)),
    "alpha": Bounds(_real, 0.0, 1.0, (AUTO,)),
    "beta": Bounds(_real, 0.0, 1.0, (AUTO, CORPUS)),
    "representatives": Bounds(_whole, 1, 1 << 20),
    "strength": Bounds(_real, 1e-9, 1e9),
    "sample": Bounds(_whole, 1, 1 << 40, (None,)),
    "queries": Bounds(_whole, 1, 1 << 60, (None,)),
    "budget": Bounds(_whole, 1, 1 << 60, (None,)),
    "seed": Bounds(_whole, 0, 1 << 64),
}


def check_choices(extractor: Extractor) -> None:
    """Refuse a name that is none of those to choose from, and options that exclude each other."""
    _one_of("kind", extractor.kind, KINDS)
    if not isinstance(extractor.abstraction, Abstraction):
        _one_of("abstraction", extractor.abstraction, (*ABSTRACTIONS, AUTO))
    _one_of("completion", extractor.completion, COMPLETIONS)
    _one_of("distance", extractor.distance, DISTANCES)
    _one_of("initial", extractor.initial, INITIAL)
    if extractor.queries is not None and extractor.kind == LinearWFA.kind:
        raise InputError("queries limit the stochastic kind only; for the linear one limit epochs and tokens")


def checked_numbers(extractor: Extractor) -> dict[str, float | str | None]:
    """Every option that is a number, as a plain Python one within its bounds."""
    return {name: bounds.checked(name, getattr(extractor, name)) for name, bounds in _NUMBERS.items()}


def _one_of(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"unknown {name} {value!r}; choose one of {', '.join(allowed)}")
