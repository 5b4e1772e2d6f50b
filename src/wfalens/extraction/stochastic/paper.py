"""The two methods whose states are label distributions: the paper's, and rows learned by asking the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from wfalens.automaton.completion import DISTANCES, Empirical, Fitted, Probe
from wfalens.automaton.rows import MAX_STATES
from wfalens.errors import InputError
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.completion.completion_rule import COMPLETION_RULES, CORPUS
from wfalens.extraction.method import AUTO, HIGH, LOW, NORMAL, Method, Request
from wfalens.extraction.states import ABSTRACTIONS, Abstraction, LookAhead
from wfalens.models.contract import StatefulClassifier, is_language_model
from wfalens.models.inference import INITIAL, MODEL
from wfalens.scale.run_config import DEFAULT_SAMPLE
from wfalens.validation import Bounds, check_choice, option, real, whole

_STATES = Bounds(whole, 1, MAX_STATES - 1, (AUTO,))
_COUNT, _SHARE, _SHARE_OR_AUTO = Bounds(whole, 1, 1 << 40), Bounds(real, 0, 1), Bounds(real, 0, 1, (AUTO,))
_ABOVE_ZERO = Bounds(real, 0, 1e6, excluded=(0,))
_PER_OUTPUT = 8  # words of a sample of files for every output that k-means sees
_ROUNDS = {LOW: 8, NORMAL: 16, HIGH: 32}


@dataclass(frozen=True, kw_only=True)
class StateMethod(Method):
    """What the two methods share: states are clusters of prefixes.

    Args:
        states: K, the number of clusters of prefixes; the automaton has one state more, the initial one
        abstraction: what makes two prefixes alike: outputs (the paper's), lookahead (also what the model would answer
            after continuations), auto, or an Abstraction
        alpha: static probability α: how much of each step stays where it is
        augmentation: synonym replacement and dropout on the extraction texts
        initial: output of the state before any word: the model's own where it has one, or uniform
        sample: outputs per state that k-means sees at most (None: all)
        max_bytes: size of the file at most, by an estimate, where the number of states is chosen
    """

    states: int | str = option(40, allowed=_STATES)
    abstraction: str | Abstraction = option("outputs")
    completion: str
    alpha: float | str = option(0.4, allowed=_SHARE_OR_AUTO)
    augmentation: Augmentation | None = option(None)
    initial: str = option(MODEL, allowed=INITIAL)
    sample: int | None = option(256, allowed=Bounds(whole, 1, 1 << 40, (None,)))
    max_bytes: int | None = option(None, allowed=Bounds(whole, 1, 1 << 60, (None,)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.abstraction, Abstraction):
            check_choice("abstraction", self.abstraction, (*ABSTRACTIONS, AUTO))
        if self.max_bytes is not None and self.states != AUTO:
            raise InputError(
                "max_bytes bounds the choice of the number of states, which is given here", code="option-conflict"
            )

    @property
    def fits(self) -> bool:
        return self.completion == Fitted.name

    @property
    def open_beta(self) -> bool:
        """Whether β has to be chosen."""
        return self.completion == Empirical.name and getattr(self, "beta", None) == AUTO

    @property
    def is_open(self) -> bool:
        """Whether something is left to be chosen on held-out texts."""
        return AUTO in (self.states, self.abstraction, self.alpha) or self.open_beta

    @property
    def sample_tokens(self) -> int:
        if isinstance(self, Stochastic) or self.is_open or self.sample is None:
            return DEFAULT_SAMPLE
        return _PER_OUTPUT * self.sample * int(self.states)

    def extract(self, request: Request) -> Any:
        from wfalens.extraction.stochastic.stochastic_extraction import extract_stochastic

        return extract_stochastic(self, request)


@dataclass(frozen=True, kw_only=True)
class Paper(StateMethod):
    """The paper's method: k-means of the model's outputs, counted transitions, and a rule for missing rows.

    `states`, `abstraction`, `alpha` and `beta` may be "auto": they are then chosen on a tenth of the texts, held out
    for it, and the automaton is made from all of them. The choice and the curve are in `provenance["tuning"]`.

    Args:
        states: K, the number of clusters of prefixes; the automaton has one state more, the initial one.
        alpha: static probability α: how much of each step stays where it is.
        beta: reference rate β of empirical completion; "corpus": 1 − the share of self-transitions.
        completion: rule for missing rows: null, uniform or empirical (the paper's).
        distance: between centres in empirical completion: euclidean (paper) or squared (authors' code).
        abstraction: what makes two prefixes alike: outputs (the paper's), lookahead (also what the model would answer
            after continuations, which costs queries for a model that cannot be stepped), auto, or an `Abstraction`.
        augmentation: synonym replacement and dropout on the extraction texts.
        initial: output of the state before any word: the model's own where it has one ("model"), or "uniform".
        sample: outputs per state that k-means sees at most (None: all).
        max_bytes: size of the file at most, by an estimate, where the number of states is chosen.

    Examples:
        >>> from wfalens import Paper, extract
        >>> wfa = extract(model, corpus, Paper(states=4, alpha=0.2))
        >>> wfa.class_names
        ('neg', 'pos')
    """

    name = "paper"

    completion: str = option(Empirical.name, allowed=COMPLETION_RULES)
    beta: float | str = option(0.3, allowed=Bounds(real, 0, 1, (AUTO, CORPUS)))
    distance: str = option("euclidean", allowed=DISTANCES)


@dataclass(frozen=True, kw_only=True)
class Stochastic(StateMethod):
    """States are label distributions, and every row is learned by asking the model.

    `states`, `abstraction` and `alpha` may be "auto": they are then chosen on a tenth of the texts, held out for it,
    and the automaton is made from all of them. The choice and the curve are in `provenance["tuning"]`.

    Args:
        states: K, the number of clusters of prefixes; the automaton has one state more, the initial one.
        abstraction: what makes two prefixes alike: outputs (the paper's), lookahead (also what the model would answer
            after continuations, which costs queries for a model that cannot be stepped), auto, or an `Abstraction`.
        completion: probe (rows counted by asking the model), fit (all rows and centres fitted to the model by EM,
            starting from probed ones) or auto: fit, of a language model probe.
        alpha: (probe) static probability α: how much of each step stays where it is.
        representatives: r, occurrences that represent a state where the model is asked.
        strength: (probe) m, the number of observations that a probed row counts for.
        augmentation: synonym replacement and dropout on the extraction texts.
        initial: output of the state before any word: the model's own where it has one ("model"), or "uniform".
        sample: outputs per state that k-means sees at most (None: all).
        max_bytes: size of the file at most, by an estimate, where the number of states is chosen.
        rounds: (fit) of expectation-maximisation; auto: 16, with low effort 8, with high effort 32.
        tokens: (fit) in a round at most, of texts drawn again each time.
        replaced: (fit) share of words replaced at random: the model answers any query.
        memory: (fit) weight of earlier rounds' expectations.
        prior: (fit) transitions that a probed row counts for.
        hardness: (fit) of the assignment of probed answers to near states.

    Examples:
        >>> from wfalens import Stochastic, extract
        >>> wfa = extract(model, corpus, Stochastic(states=4, completion="probe", alpha=0.0))
        >>> wfa.states
        5
    """

    name = "stochastic"

    states: int | str = option(AUTO, allowed=_STATES)
    abstraction: str | Abstraction = option(AUTO)
    completion: str = option(AUTO, allowed=(AUTO, Probe.name, Fitted.name))
    alpha: float | str = option(AUTO, allowed=_SHARE_OR_AUTO)
    representatives: int = option(10, allowed=Bounds(whole, 1, 1 << 20))
    strength: float = option(2.0, allowed=Bounds(real, 1e-9, 1e9))
    rounds: int | str = option(AUTO, allowed=Bounds(whole, 1, 1 << 40, (AUTO,)))
    tokens: int = option(300_000, allowed=_COUNT)
    replaced: float = option(0.2, allowed=_SHARE)
    memory: float = option(0.8, allowed=_SHARE)
    prior: float = option(0.1, allowed=_ABOVE_ZERO)
    hardness: float = option(0.5, allowed=_ABOVE_ZERO)

    def resolved(self, request: Request) -> Self:
        """Of a language model rows are probed, not fitted, and states look ahead, unless it is said otherwise."""
        if self.completion == Fitted.name and self.alpha not in (AUTO, 0):
            raise InputError("fitted rows have no static probability alpha; leave it out", code="option-conflict")
        is_default = request.effort == NORMAL and request.balance is None and self.rounds == AUTO
        if self.completion == AUTO and is_default and is_language_model(request.model):
            looks = LookAhead.name if isinstance(request.model, StatefulClassifier) else AUTO
            return self._filled(completion=Probe.name, alpha=0.0, abstraction=looks, rounds=_ROUNDS[NORMAL])
        filled = self._filled(completion=Fitted.name, rounds=_ROUNDS[request.effort])
        return filled._filled(alpha=0.0) if filled.completion == Fitted.name else filled


def completion_method(completion: str, **options: Any) -> StateMethod:
    """`Paper` or `Stochastic`, whichever has this completion rule; what is not given is as in the paper.

    Args:
        completion: null, uniform, empirical, probe or fit
        options: of the method

    Examples:
        >>> from wfalens.extraction import completion_method
        >>> completion_method("uniform", states=8).name
        'paper'
    """
    if completion in COMPLETION_RULES:
        return Paper(completion=completion, **options)
    paper: dict[str, Any] = {"states": 40, "abstraction": "outputs"}
    paper |= {"alpha": 0.4} if completion == Probe.name else {}
    return Stochastic(completion=completion, **paper | options)
