"""The options of each step of an extraction, checked where they come in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from wfalens.automaton.completion import COMPLETIONS, DISTANCES, Empirical, Fitted, Probe, Shared
from wfalens.automaton.rows import MAX_STATES
from wfalens.errors import InputError
from wfalens.extraction.balance import BALANCES
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.completion.fitting import Fitting
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.effort import EFFORTS
from wfalens.extraction.query_budget import query_limit
from wfalens.extraction.states.abstraction import ABSTRACTIONS, Abstraction, named_abstraction
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import INITIAL
from wfalens.validation import Bounds, real, whole

AUTO, CORPUS = "auto", "corpus"


@dataclass(frozen=True)
class StateOptions:
    """How prefixes become states."""

    number: int | str  # K, or "auto"
    abstraction: str | Abstraction  # or "auto"
    sample: int | None  # outputs that k-means sees at most, per state
    initial: str  # whose output stands before any word

    @property
    def is_open(self) -> bool:
        return AUTO in (self.number, self.abstraction)

    @property
    def abstraction_name(self) -> str:
        return AUTO if self.abstraction == AUTO else named_abstraction(self.abstraction).name


@dataclass(frozen=True)
class CompletionOptions:
    """How a word acts where it was never observed, and how often the model may be asked."""

    name: str
    alpha: float | str  # α, or "auto"
    beta: float | str  # β, "corpus" or "auto"
    distance: str
    representatives: int  # r
    strength: float  # m
    fitting: Fitting
    augmentation: Augmentation | None
    queries: int | None
    balance: str | None = None  # by which class texts are drawn evenly where rows are fitted

    @property
    def is_open(self) -> bool:
        return AUTO in (self.alpha, self.beta)

    @property
    def asks_model(self) -> bool:
        """Whether rows are learned from the model."""
        return self.name in (Probe.name, Fitted.name)

    @property
    def fits(self) -> bool:
        return self.name == Fitted.name

    def query_limit(self, model: PrefixClassifier) -> int | None:
        """How often the model may be asked beyond the texts."""
        return query_limit(self.queries, model)


@dataclass(frozen=True)
class ChoiceOptions:
    """What bounds the choice of settings."""

    budget: int | None  # bytes that the file may have


@dataclass(frozen=True)
class Options:
    """All options of a stochastic extraction; every step takes its own."""

    states: StateOptions
    completion: CompletionOptions
    choice: ChoiceOptions
    seed: int
    deadline: Deadline = NEVER

    @property
    def is_open(self) -> bool:
        """Whether something is left to be chosen automatically."""
        return self.states.is_open or self.completion.is_open

    def settled(self, abstraction: str, alpha: float, beta: float | None) -> Options:
        """The same with what was chosen in place of what was open; the number of states stands already."""
        given = self.completion.beta
        chosen = beta if given == AUTO and beta is not None else given
        return replace(
            self,
            states=replace(
                self.states, abstraction=abstraction if self.states.abstraction == AUTO else self.states.abstraction
            ),
            completion=replace(self.completion, alpha=alpha, beta=CORPUS if chosen == AUTO else chosen),
        )


NUMBERS = {
    "states": Bounds(whole, 1, MAX_STATES - 1, (AUTO,)),
    "alpha": Bounds(real, 0.0, 1.0, (AUTO,)),
    "beta": Bounds(
        real,
        0.0,
        1.0,
        (
            AUTO,
            CORPUS,
        ),
    ),
    "representatives": Bounds(whole, 1, 1 << 20),
    "strength": Bounds(real, 1e-9, 1e9),
    "sample": Bounds(whole, 1, 1 << 40),
    "queries": Bounds(whole, 1, 1 << 60),
    "budget": Bounds(whole, 1, 1 << 60),
    "classes": Bounds(whole, 1, MAX_STATES, (AUTO,)),
    "loss": Bounds(real, 0.0, 1.0),
    "seed": Bounds(whole, 0, 1 << 64),
}
NAMES: dict[str, tuple[str, ...]] = {
    "effort": EFFORTS,
    "balance": BALANCES,
    "abstraction": (*ABSTRACTIONS, AUTO),
    "completion": COMPLETIONS,
    "distance": DISTANCES,
    "initial": INITIAL,
}
# options that only some completions use
_ONLY = {
    # fitted rows know themselves when to stay
    "alpha": tuple(name for name in COMPLETIONS if name not in (Fitted.name, Shared.name)),
    "beta": (Empirical.name,),
    "distance": (Empirical.name,),
    "representatives": (Probe.name, Fitted.name),
    "strength": (Probe.name,),
    "fitting": (Fitted.name,),
    "effort": (Fitted.name, Shared.name),
    "balance": (Fitted.name, Shared.name),
    **dict.fromkeys(("classes", "loss", "sharing"), (Shared.name,)),
    **dict.fromkeys(
        ("abstraction", "augmentation", "initial", "sample", "budget"),
        tuple(name for name in COMPLETIONS if name != Shared.name),
    ),
}


def check_used(given: dict[str, Any], completion: str) -> None:
    """Refuse options that the completion would ignore; "auto", or an α of 0, says nothing that it could ignore."""
    for name, completions in _ONLY.items():
        if name in given and given[name] not in (AUTO, 0) and completion not in completions:
            raise InputError(
                f"{name} has no meaning with completion {completion!r}; it belongs to {' and '.join(completions)}"
            )
