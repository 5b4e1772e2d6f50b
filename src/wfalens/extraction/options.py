"""Which values the options of an extraction may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.automaton.completion import COMPLETIONS, DISTANCES
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.rows import MAX_STATES
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.bounds import Bounds, check_choice, real, whole
from wfalens.errors import InputError
from wfalens.extraction.states.abstraction import ABSTRACTIONS, Abstraction
from wfalens.models.traces import INITIAL

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor

AUTO, CORPUS = "auto", "corpus"
KINDS = (StochasticWFA.kind, LinearWFA.kind)


_NUMBERS = {
    "states": Bounds(whole, 1, MAX_STATES - 1, (AUTO,)),
    "alpha": Bounds(real, 0.0, 1.0, (AUTO,)),
    "beta": Bounds(real, 0.0, 1.0, (AUTO, CORPUS)),
    "representatives": Bounds(whole, 1, 1 << 20),
    "strength": Bounds(real, 1e-9, 1e9),
    "sample": Bounds(whole, 1, 1 << 40, (None,)),
    "queries": Bounds(whole, 1, 1 << 60, (None,)),
    "budget": Bounds(whole, 1, 1 << 60, (None,)),
    "seed": Bounds(whole, 0, 1 << 64),
}


def check_choices(extractor: Extractor) -> None:
    """Refuse a name that is none of those to choose from, and options that exclude each other."""
    check_choice("kind", extractor.kind, KINDS)
    if not isinstance(extractor.abstraction, Abstraction):
        check_choice("abstraction", extractor.abstraction, (*ABSTRACTIONS, AUTO))
    check_choice("completion", extractor.completion, COMPLETIONS)
    check_choice("distance", extractor.distance, DISTANCES)
    check_choice("initial", extractor.initial, INITIAL)
    if extractor.queries is not None and extractor.kind == LinearWFA.kind:
        raise InputError("queries limit the stochastic kind only; for the linear one limit epochs and tokens")


def checked_numbers(extractor: Extractor) -> dict[str, float | str | None]:
    """Every option that is a number, as a plain Python one within its bounds."""
    return {name: bounds.checked(name, getattr(extractor, name)) for name, bounds in _NUMBERS.items()}
