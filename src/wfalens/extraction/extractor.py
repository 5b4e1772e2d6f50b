"""The one door of extraction: from a model and a corpus to an automaton (paper §3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from wfalens import progress
from wfalens.automaton.completion import Empirical, Fitted, Probe, Shared
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.completion.fitting import Fitting
from wfalens.extraction.cost_estimate import is_announced
from wfalens.extraction.deadline import Clock, Deadline, seconds_of, told_stop
from wfalens.extraction.effort import NORMAL, distillation_of, fitting_of, sharing_of
from wfalens.extraction.linear.linear_options import Distillation
from wfalens.extraction.provenance import linear_parameters, origin, shared_parameters, stochastic_parameters
from wfalens.extraction.readable.readable_options import LADDER, Sharing, Size, Sizes
from wfalens.extraction.selection import READABLE, Candidates, extract_best
from wfalens.extraction.states.abstraction import Abstraction
from wfalens.extraction.states.views import LookAhead
from wfalens.extraction.stochastic.options import (
    AUTO,
    NAMES,
    NUMBERS,
    ChoiceOptions,
    CompletionOptions,
    Options,
    StateOptions,
    check_used,
)
from wfalens.models.checks import unknown_words
from wfalens.models.contract import Named, PrefixClassifier, StatefulClassifier, is_language_model
from wfalens.models.inference import MODEL
from wfalens.ragged import Ragged
from wfalens.scale.run_config import Run
from wfalens.text.corpus import Corpus
from wfalens.text.sources.blocks import Source
from wfalens.text.sources.memory_texts import MemoryTexts, source_of
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import check_choice

ALL = "all"
KINDS = (AUTO, StochasticWFA.kind, LinearWFA.kind, READABLE)
_COMMON = ("kind", "states", "seed", "queries", "time", "effort", "balance")
_OWN = {LinearWFA.kind: ("distillation", "vectors"), READABLE: ("classes", "loss", "sharing")}
_READABLE_SIZE, _SHARED_SIZE = Size(12, 32), Size(40, 256)
_LOSS = 0.01
_DEFAULTS: dict[str, Any] = {
    "states": AUTO,
    "abstraction": AUTO,
    "completion": Fitted.name,
    "alpha": AUTO,
    "beta": AUTO,
    "distance": "euclidean",
    "representatives": 10,
    "strength": 2.0,
    "initial": MODEL,
    "sample": 256,
}


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """How to extract an automaton; every option is checked at once, and one that would be ignored is refused.

    Without options it does what `wfalens extract` does; `Extractor.paper()` is the paper's. None stands for the
    default of an option.

    `states`, `abstraction`, `alpha` and `beta` may be "auto": they are then chosen on a tenth of the texts, held out
    for it, and the automaton is made from all of them. The choice and the curve stand in `provenance["tuning"]`.

    Args:
        kind: stochastic (states are label distributions: the paper's), linear (real weights, trained against the
            model: mostly the most faithful), readable (few states and few classes of words: it fits on a page) or
            auto (default): the most faithful on held-out texts, with the readable one attached,
            `wfa.readable`; what was tried stands in `provenance["choice"]`. Options that belong to one kind choose
            it; `states` alone chooses stochastic.
        states: K, the number of clusters; the automaton has one state more, the initial one (default: "auto").
        seed: of everything random: equal seeds give equal bytes.
        queries: prefixes that the whole extraction may ask the model for, beyond running over the texts
            (default: no limit for a model that can be stepped, else 4,000,000). What was asked stands in
            `provenance["queries"]`; of kind auto, a third at most is for the readable one, and the linear one
            has the rest; of the stochastic kind, a quarter at most for an automatic choice, then, where rows
            are fitted, half of the rest for that; words that cannot be paid for, the rarest, act as <unk>; of
            the linear kind, half of them at most to read every word; the rest for training: as many epochs'
            texts as can be paid for, taken in turn.
        time: the wall clock that the extraction may take, in seconds or as "30s", "2m", "1h" (default: no
            limit): training goes only as far as that, and what is best by then is delivered. How far it goes
            depends on the machine, so equal seeds no longer give equal bytes. What was used stands in
            `provenance["time"]`, and in `provenance["stopped"]` if time ended the work.
        effort: low, normal (default) or high: how long to train, and how large an automaton of the linear kind.
        balance: predicted or label: the texts that the automaton is fitted to are drawn so that every class has
            as many, by what the model predicts for them or by their label. Small classes are copied more
            faithfully, and a choice of the kind minds CR by class (default: texts as they come).
        abstraction: (stochastic) what makes two prefixes alike: outputs (the paper's), or lookahead (also what the
            model would say after continuations, which costs a model that cannot be stepped some queries for every
            prefix), or an `Abstraction` of your own (default: "auto").
        completion: (stochastic) rule for missing rows: null, uniform, empirical (the paper's), probe (asks the
            model), fit (all rows and centres fitted to the model, starting from probed ones; the default) or shared
            (words are put into classes that share their rows, fitted together: what the readable kind does, with 40
            states and 256 classes unless told otherwise).
        alpha: (stochastic) static probability α: how much of each step stays where it is (default: "auto"); fitted
            rows know that themselves and have none.
        beta: (stochastic) reference rate β of empirical completion; "corpus": 1 − the share of self-transitions
            (default: "auto").
        distance: (stochastic) between centres in empirical completion: euclidean (paper, default) or squared
            (authors' code).
        representatives: (stochastic) r, occurrences that stand for a state where the model is asked (default: 10).
        strength: (stochastic) m, how many observations a probed row is worth (default: 2).
        fitting: (stochastic) how rows are fitted.
        augmentation: (stochastic) synonym replacement and dropout on the extraction texts.
        initial: (stochastic) output of the state before any word: the model's own where it has one (default), or
            uniform.
        sample: (stochastic) outputs that k-means sees at most, per state, or "all" (default: 256).
        budget: (stochastic) bytes that the file may have, by an estimate, where the number of states is chosen.
        classes: (readable) the largest number of word classes, or "auto": the smallest of several sizes that is
            nearly as faithful as the best; what was tried stands in `provenance["frontier"]` (default: 32, with
            12 states).
        loss: (readable) the loss of CR that "auto" accepts for a smaller size (default: .01).
        sharing: (readable) how they are fitted.
        distillation: (linear) shape and training of the automaton.
        vectors: (linear) word vectors from which it may learn beside what the model tells.

    Examples:
        >>> wfa = Extractor(kind="stochastic", states=4, completion="empirical").extract(model, corpus)
        >>> wfa.predict_proba(["not a bad film"]).round(1)  # neg, pos
        array([[0.2, 0.8]])
        >>> Extractor(kind="linear", alpha=0.2)
        Traceback (most recent call last):
            ...
        wfalens.errors.InputError: ...alpha...
    """

    kind: str = AUTO
    states: int | str | None = None
    seed: int = 0
    abstraction: str | Abstraction | None = None
    completion: str | None = None
    alpha: float | str | None = None
    beta: float | str | None = None
    distance: str | None = None
    representatives: int | None = None
    strength: float | None = None
    queries: int | None = None
    fitting: Fitting | None = None
    augmentation: Augmentation | None = None
    initial: str | None = None
    sample: int | str | None = None
    budget: int | None = None
    classes: int | str | None = None
    loss: float | None = None
    sharing: Sharing | None = None
    distillation: Distillation | None = None
    vectors: WordVectors | None = None
    time: float | str | None = None
    effort: str | None = None
    balance: str | None = None

    def __post_init__(self) -> None:
        given = self._given
        check_choice("kind", self.kind, KINDS)
        object.__setattr__(self, "kind", _meant(given, self.kind))
        for name, allowed in NAMES.items():
            if name in given and not (name == "abstraction" and isinstance(given[name], Abstraction)):
                check_choice(name, given[name], allowed)
        for name, bounds in NUMBERS.items():
            if name in given and not (name == "sample" and given[name] == ALL):
                object.__setattr__(self, name, bounds.checked(name, given[name]))
        if self.time is not None:
            object.__setattr__(self, "time", seconds_of(self.time))
        _check_kind(given, self.kind)
        _check_effort(given)
        if self.kind == StochasticWFA.kind:
            check_used(given, self.completion or _DEFAULTS["completion"])
            if self.budget is not None and self.states not in (None, AUTO):
                raise InputError("a budget bounds the choice of the number of states, which is given here")

    @classmethod
    def paper(cls, **options: Any) -> Extractor:
        """The paper's method with its settings for news titles (K = 40, α = .4, β = .3), but for given options.

        Args:
            options: fields of `Extractor` that replace these settings

        Examples:
            >>> Extractor.paper(states=20).alpha
            0.4
        """
        settings: dict[str, Any] = {"kind": StochasticWFA.kind, "states": 40, "abstraction": "outputs"}
        settings |= {"completion": Empirical.name, "alpha": 0.4} | options
        if settings["completion"] == Empirical.name:
            settings.setdefault("beta", 0.3)
        if settings["completion"] == Fitted.name and "alpha" not in options:
            del settings["alpha"]
        return cls(**settings)

    @property
    def _given(self) -> dict[str, Any]:
        """The options that were named; what None means is the default."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}

    @property
    def options(self) -> Options:
        """The options of a stochastic extraction, defaults filled in, divided by the steps that use them."""
        chosen: Mapping[str, Any] = _DEFAULTS | self._given
        fits = chosen["completion"] == Fitted.name
        return Options(
            states=StateOptions(
                chosen["states"],
                chosen["abstraction"],
                None if chosen["sample"] == ALL else chosen["sample"],
                chosen["initial"],
            ),
            completion=CompletionOptions(
                name=chosen["completion"],
                alpha=0.0 if fits else chosen["alpha"],
                beta=chosen["beta"] if chosen["completion"] == Empirical.name else 0.0,
                distance=chosen["distance"],
                representatives=chosen["representatives"],
                strength=chosen["strength"],
                fitting=chosen.get("fitting") or fitting_of(self.effort or NORMAL),
                augmentation=self.augmentation,
                queries=self.queries,
                balance=self.balance,
            ),
            choice=ChoiceOptions(self.budget),
            seed=self.seed,
        )

    def distillation_for(self, model: Named) -> Distillation:
        """The distillation for a model's task and alphabet, with as many states as were asked for."""
        symbols, speaks = len(model.encoder.vocabulary), is_language_model(model)
        shape = self.distillation or distillation_of(self.effort or NORMAL, symbols, speaks=speaks)
        return shape if self.states in (None, AUTO) else shape.sized(int(self.states or 0))

    @property
    def _sizes(self) -> Sizes:
        """What is tried where words share rows: one size, or a ladder where the number of classes is open."""
        usual = _READABLE_SIZE if self.kind == READABLE else _SHARED_SIZE
        states = None if self.states in (None, AUTO) else int(self.states or 0)
        if self.classes != AUTO:
            return Sizes((Size(states or usual.states, int(self.classes or usual.classes)),))
        ladder = dict.fromkeys(Size(states or rung.states, rung.classes) for rung in LADDER)
        return Sizes(tuple(ladder), _LOSS if self.loss is None else self.loss)

    @property
    def _balanced(self) -> dict[str, Any]:
        """For the parameters that an automaton's provenance tells."""
        return {} if self.balance is None else {"balance": self.balance}

    def _candidates(self, model: PrefixClassifier) -> Candidates:
        """What is tried where the kind is open."""
        asks = is_language_model(model) and self.balance is None  # its rows are not fitted: no effort is made
        stochastic = Extractor(kind=StochasticWFA.kind, seed=self.seed, effort=None if asks else self.effort)
        return Candidates(
            readable=Extractor(kind=READABLE, seed=self.seed, effort=self.effort),
            linear=Extractor(kind=LinearWFA.kind, seed=self.seed, effort=self.effort),
            stochastic=stochastic,
            shared=replace(stochastic, completion=Shared.name),
        )

    def _suited(self, model: PrefixClassifier) -> Extractor:
        """With rows that are asked, not fitted, and states that look ahead, if a language model leaves that open."""
        told = (self.completion, self.fitting, self.effort, self.balance) != (None, None, None, None)
        if told or not is_language_model(model):
            return self
        looks = LookAhead.name if isinstance(model, StatefulClassifier) else AUTO
        alpha = 0.0 if self.alpha is None else self.alpha
        return replace(self, completion=Probe.name, alpha=alpha, abstraction=self.abstraction or looks)

    def extract(
        self,
        model: PrefixClassifier,
        corpus: Source | Corpus | Sequence[str] | Ragged[np.int32],
        checkpoint: Path | None = None,
        *,
        run: Run | None = None,
        clock: Clock = monotonic,
    ) -> WFA:
        """Extract an automaton from what `model` says about the prefixes of `corpus`.

        Ctrl-C (KeyboardInterrupt) in training delivers the best so far, where there is something to deliver;
        `provenance["stopped"]` tells so, and `progress.say`, as it does when time ended the work.

        Args:
            model: a network that scores every prefix
            corpus: texts in memory, their word ids, or a source such as `TextFiles` (a corpus of any size)
                `say` gets, before the work begins, how often a model that cannot be stepped will be asked, and whether
                many words of texts in memory are unknown
            checkpoint: file that keeps the training of a linear automaton after every epoch; a stopped one goes on
            run: how the corpus is read: memory, workers, what is kept. Equal samples give equal bytes whatever it is
            clock: that a limited time is measured by

        Examples:
            >>> Extractor.paper(states=4).extract(model, corpus).class_names
            ('neg', 'pos')
        """
        deadline = Deadline(None if self.time is None else float(self.time), clock)
        source = source_of(corpus)
        _say_unknown(model, source)
        wfa = self._extracted(model, source, run or Run(), checkpoint, deadline)
        if deadline.seconds is not None:
            wfa.provenance["time"] = {"limit": deadline.seconds, "used": round(deadline.used, 3)}
        ended = told_stop(wfa.provenance)
        if ended is not None and not is_announced():
            progress.say(ended)
        return wfa

    def _extracted(
        self,
        model: PrefixClassifier,
        source: Source,
        run: Run,
        checkpoint: Path | None,
        deadline: Deadline,
    ) -> WFA:
        queries, seed = self.queries, self.seed
        if self.kind == AUTO:
            return extract_best(
                self._candidates(model), queries, seed, model, source, run, checkpoint, deadline, self.balance
            )
        if self.kind == LinearWFA.kind:
            from wfalens.extraction.linear.linear_extraction import extract_linear

            shape, vectors = self.distillation_for(model), self.vectors
            told = linear_parameters(shape, self.states, queries, seed) | self._balanced
            about = origin(model, told, vectors=vectors)
            return extract_linear(
                shape, vectors, queries, seed, model, source, run, about, checkpoint, deadline, self.balance
            )
        if self.kind == READABLE or self.completion == Shared.name:
            from wfalens.extraction.readable.readable_extraction import extract_shared

            sizes, sharing = self._sizes, self.sharing or sharing_of(self.effort or NORMAL)
            about = origin(model, shared_parameters(self.kind, sizes, sharing, queries, seed) | self._balanced)
            return extract_shared(sizes, sharing, queries, seed, model, source, run, about, deadline, self.balance)
        from wfalens.extraction.stochastic.stochastic_extraction import extract_stochastic

        options = replace(self._suited(model).options, deadline=deadline)
        told = stochastic_parameters(options) | self._balanced
        about = origin(model, told, options.completion.augmentation)
        return extract_stochastic(options, model, source, run, about)


def _say_unknown(
    model: PrefixClassifier,
    source: Source,
) -> None:
    """Say if many words of texts in memory are unknown to the model."""
    if isinstance(source, MemoryTexts) and not isinstance(source.texts, Ragged):
        remark = unknown_words(model.encoder, source.texts)
        if remark is not None:
            progress.say(remark)


def _meant(given: Mapping[str, Any], kind: str) -> str:
    """The kind that is given or, where it is open, the one that options belong to; those of two kinds are refused."""
    if kind != AUTO:
        return kind
    owner = {name: owned for owned, names in _OWN.items() for name in names}
    owners = {owner.get(name, StochasticWFA.kind): name for name in given if name not in _COMMON}
    if "completion" in given:  # classes of words are for shared rows, too
        owners.pop(READABLE, None)
    if len(owners) > 1:
        told = ", ".join(f"{name} belongs to the {owned} kind" for owned, name in owners.items())
        raise InputError(f"options of several kinds contradict each other: {told}; leave out those of all but one")
    return next(iter(owners), StochasticWFA.kind if "states" in given else AUTO)


def _check_kind(given: Mapping[str, Any], kind: str) -> None:
    """Refuse options that belong to another kind."""
    owner = {name: owned for owned, names in _OWN.items() for name in names}
    for name in given:
        if name in _COMMON or name in _OWN.get(kind, ()):
            continue
        if kind in _OWN or owner.get(name) == LinearWFA.kind:
            raise InputError(f"{name} belongs to the {owner.get(name, StochasticWFA.kind)} kind, not to the {kind} one")


def _check_effort(given: Mapping[str, Any]) -> None:
    """Refuse an effort beside settings that say the same in detail."""
    detailed = [name for name in ("distillation", "sharing", "fitting") if name in given]
    if "effort" in given and detailed:
        raise InputError(f"effort chooses how to train, which {detailed[0]} says in detail; leave out one of the two")
