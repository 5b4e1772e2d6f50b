"""Counterexample refinement: texts of our own on which automaton and model differ are added until fresh ones agree.

In every round the model is asked about fresh texts (edited ones, random ones) and about near decisions, where the
automaton is least sure. Texts on which the two differ join the texts of the extraction, beside as many others, and a
new automaton is extracted from all of them. Where the number of states is open, one is tried whose states are split
where the model contradicts them, and one with twice as many states. A new automaton replaces the old one only if it
agrees with the model on at least as many of all texts asked so far. In the end a last sample, which nothing was chosen
by, proves a lower bound of the agreement with a given confidence (Clopper and Pearson).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Empirical, Fitted, Shared
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.extract import extract
from wfalens.extraction.held_out import LABEL
from wfalens.extraction.method import AUTO, NORMAL, Method
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.refinement.query_sampler import QuerySampler, boundary_texts
from wfalens.extraction.selection import CandidateMethods
from wfalens.extraction.states import (
    ABSTRACTIONS,
    EMPTY_TEXT,
    PrefixOutputs,
    States,
    TooFewOutputsError,
    View,
    appended,
    cut_out,
    prefixes_to,
    trace_prefixes,
)
from wfalens.extraction.stochastic.paper import StateMethod, Stochastic
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.models.inference import final_outputs, last_outputs
from wfalens.progress import shown
from wfalens.ragged import Ragged, concatenate
from wfalens.text.corpus import Corpus
from wfalens.validation import Bounds, Options, option, real, whole

CONFIDENCE = 0.95
_SPLITTING = 300  # texts at most by which states are split in a round
_PROOF = 10**6  # random stream of the last sample
_COMPARED = "; compared is the likeliest next symbol after each"  # of a language model


@dataclass(frozen=True)
class Guarantee:
    """Of `texts` fresh texts automaton and model agree on `agreed`; the bound holds for all texts drawn like these."""

    agreed: int
    texts: int
    about: str  # which texts
    confidence: float = CONFIDENCE

    @property
    def rate(self) -> float:
        return self.agreed / self.texts

    @property
    def bound(self) -> float:
        """The least agreement that is compatible with the sample at this confidence."""
        return lower_bound(self.agreed, self.texts, self.confidence)

    def sentence(self, who: str = "the network") -> str:
        percent = int(self.bound * 1000) / 10  # never rounded up
        return (
            f"agrees with {who} on ≥ {percent:.1f} % of texts like these, with {self.confidence:.0%} confidence "
            f"({self.texts:,} fresh samples: {self.about})"
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate, "bound": self.bound}


def lower_bound(hits: int, total: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided Clopper-Pearson bound of a share: exact, whatever the share is."""
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(1 - confidence, hits, total - hits + 1))


# Extracts an automaton from texts with a number of states; None: as it was chosen.
Extract = Callable[[Ragged[np.int32], int | None], WFA]
# Extracts an automaton from texts, with the states of another one split by those on which it differs; None: it cannot.
Split = Callable[[Ragged[np.int32], WFA, Ragged[np.int32]], WFA | None]


@dataclass(frozen=True, kw_only=True)
class Refinement(Options):
    """How an automaton is refined by counterexamples.

    Args:
        rounds: at most.
        texts: that the model is asked about in a round.
        target: agreement on a fresh sample at which refinement ends.
        samples: m, fresh texts of the last sample, which proves the bound.
        confidence: of the bound.
        most_states: upper bound of K: states are split and doubled while that pays.

    Examples:
        >>> from wfalens import Refinement
        >>> Refinement(rounds=2, texts=100).confidence
        0.95
    """

    rounds: int = option(5, allowed=Bounds(whole, 1, 1000))
    texts: int = option(2000, allowed=Bounds(whole, 10, 10**7))
    target: float = option(0.999, allowed=Bounds(real, 0, 1))
    samples: int = option(2000, allowed=Bounds(whole, 10, 10**7))
    confidence: float = option(CONFIDENCE, allowed=Bounds(real, 0, 1, excluded=(0, 1)))
    most_states: int = option(1000, allowed=Bounds(whole, 2, 60_000))


@dataclass(frozen=True)
class Round:
    """What a round found: texts asked so far, agreement on its fresh sample before, and whether it changed anything."""

    asked: int
    agreement: float
    differing: int
    states: int
    is_better: bool


@dataclass(frozen=True, eq=False)
class Asked:
    """Texts and the model's classes."""

    ids: Ragged[np.int32]
    labels: NDArray[np.int64]

    def agrees(self, wfa: WFA) -> NDArray[np.bool_]:
        return np.asarray(wfa.predict_indices(self.ids) == self.labels)

    def joined(self, other: Asked) -> Asked:
        return Asked(concatenate([self.ids, other.ids]), np.concatenate([self.labels, other.labels]))


@dataclass
class Refiner:
    """A refinement under way. `grows`: the number of states is open."""

    model: PrefixClassifier
    base: Ragged[np.int32]  # the texts of the corpus, none empty
    extract: Extract
    how: Refinement
    seed: int
    grows: bool
    split: Split | None = None
    history: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        counts = np.bincount(self.base.values, minlength=len(self.model.encoder.vocabulary))
        self.source = QuerySampler.of(counts, self.base)

    def refined(self, wfa: WFA) -> WFA:
        """The automaton after all rounds; what was done stands in its provenance, the proof in `["guarantee"]`."""
        progress.start("refining by counterexamples", self.how.rounds)
        for better in self.rounds(wfa):
            wfa = better
            last = self.history[-1]
            progress.advance(1, f"agreement {last.agreement:.4f}, {last.differing} differ, {last.states} states")
        progress.finish()
        wfa.provenance["refinement"] = {**asdict(self.how), "rounds": [asdict(each) for each in self.history]}
        wfa.provenance["guarantee"] = self.proof(wfa).to_dict()
        return wfa

    def rounds(self, wfa: WFA) -> Iterator[WFA]:
        """The automaton after each round; the last one is that at which a fresh sample agrees."""
        known, seen, asked = self.base, self.ask(self.base), 0
        for number in range(self.how.rounds):
            rng = np.random.default_rng([self.seed, number])
            fresh = self.ask(self.source.drawn(self.how.texts // 2, rng))
            near = self.ask(boundary_texts(wfa, self.base, self.source, self.how.texts - self.how.texts // 2, rng))
            asked += self.how.texts
            rate = float(fresh.agrees(wfa).mean())
            new = fresh.joined(near)
            differs = ~new.agrees(wfa)
            seen = seen.joined(new)
            is_done = rate >= self.how.target and not differs.any()
            better = None
            if not is_done:
                known = concatenate([known, new.ids.take(_beside(differs, rng))])
                better = self._better(wfa, known, seen, new.ids.take(np.flatnonzero(differs)))
            self.history.append(Round(asked, rate, int(differs.sum()), wfa.states, better is not None))
            wfa = better or wfa
            yield wfa
            if is_done:
                return

    def proof(self, wfa: WFA, repetition: int = 0) -> Guarantee:
        """A bound from texts that nothing was chosen by."""
        sample = self.ask(self.source.drawn(self.how.samples, np.random.default_rng([self.seed, _PROOF, repetition])))
        about = self.source.about + (_COMPARED if is_language_model(self.model) else "")
        return Guarantee(int(sample.agrees(wfa).sum()), self.how.samples, about, self.how.confidence)

    def ask(self, ids: Ragged[np.int32]) -> Asked:
        return Asked(ids, last_outputs(self.model, ids).argmax(1))

    def _better(self, wfa: WFA, known: Ragged[np.int32], seen: Asked, differing: Ragged[np.int32]) -> WFA | None:
        """The best new automaton, if it agrees on no fewer of the texts seen; the first of equals."""
        sizes: list[int | None] = [None]
        if self.grows:
            sizes = [each for each in (wfa.states - 1, 2 * (wfa.states - 1)) if each <= self.how.most_states] or [None]
        found = [self._extracted(known, size) for size in sizes]
        if self.grows and self.split is not None:
            found.insert(1, self.split(known, wfa, differing.between(0, _SPLITTING)))
        made = [(float(seen.agrees(each).mean()), each) for each in found if each is not None]
        rate, best = max(made, key=lambda each: each[0], default=(-1.0, None))
        return best if rate >= seen.agrees(wfa).mean() else None

    def _extracted(self, known: Ragged[np.int32], states: int | None) -> WFA | None:
        """A new automaton; None if the model does not tell so many states apart."""
        try:
            return self.extract(known, states)
        except TooFewOutputsError:
            return None


def _beside(differs: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """The texts that differ, and as many others, so that what was right is not forgotten."""
    others = np.flatnonzero(~differs)
    chosen = rng.permutation(others)[: int(differs.sum())]
    return np.sort(np.concatenate([np.flatnonzero(differs), chosen]))


def refinement_summary(provenance: dict[str, Any]) -> str | None:
    """The statement at the end of a refinement, for people; None if there was none."""
    stored = provenance.get("guarantee")
    if not isinstance(stored, dict):
        return None
    known = {name: stored[name] for name in ("agreed", "texts", "about", "confidence") if name in stored}
    return Guarantee(**known).sentence() if len(known) == 4 else None


def refine(
    method: Method | None,
    model: PrefixClassifier,
    texts: Any,
    refinement: Refinement | None = None,
    *,
    seed: int = 0,
    queries: int | None = None,
    effort: str = NORMAL,
    balance: str | None = None,
    progress: bool = False,
) -> WFA:
    """Extract an automaton, then refine it by counterexamples until a fresh sample agrees.

    It ends with a bound on the agreement, which is in its provenance.

    Args:
        method: how the first automaton is made (None: the most faithful); its kind and the settings that it has chosen
            stay, and the number of states grows where it is open.
        model: to ask.
        texts: extraction texts.
        refinement: how much is asked (None: `Refinement()`).
        seed: of everything random.
        queries: prefixes that each extraction may ask the model for, beyond running over the texts.
        effort: low, normal or high.
        balance: predicted, as in `extract`; counterexamples have no labels.
        progress: show a bar.

    Examples:
        >>> from wfalens import Paper, Refinement, refine
        >>> how = Refinement(rounds=1, texts=20, samples=50)
        >>> better = refine(Paper(states=4), model, corpus, how)
        >>> better.provenance["guarantee"]["texts"]  # fresh texts that the statement is based on
        50
    """
    if balance == LABEL:
        raise InputError(
            "counterexamples have no labels; balance by the predicted class instead", code="option-conflict"
        )
    bounds: dict[str, Any] = {"seed": seed, "queries": queries, "effort": effort, "balance": balance}
    given = texts.texts if isinstance(texts, Corpus) else texts
    ids = model.encoder.checked(given) if isinstance(given, Ragged) else model.encoder.encode(given)
    _, ids = ids.nonempty()
    if len(ids) == 0:
        raise InputError("there is no text with a word in it to extract from", code="no-words")
    how = refinement or Refinement()
    with shown(progress):
        first = extract(model, ids, method, **bounds)
        chosen, bounds = _chosen(method, first, bounds)

        def run(method: Method, known: Ragged[np.int32]) -> WFA:
            return extract(model, known, method, **bounds)

        def again(known: Ragged[np.int32], states: int | None) -> WFA:
            sized: Any = {} if states is None else {"states": states}
            return run(replace(chosen, **sized), known)

        is_open = isinstance(chosen, StateMethod) and (method is None or getattr(method, "states", None) == AUTO)
        refiner = Refiner(model, ids, again, how, seed, is_open)
        if is_open and isinstance(chosen, StateMethod) and chosen.abstraction in tuple(ABSTRACTIONS):
            splitting = Splitting(model, chosen, run, ids, how.most_states)
            refiner = replace(refiner, extract=splitting.extract, split=splitting.split)
        wfa = refiner.refined(first)
    carried = first.attached_readable
    return wfa if carried is None or wfa.attached_readable is not None else wfa.with_readable(carried)


def _chosen(method: Method | None, wfa: WFA, bounds: dict[str, Any]) -> tuple[Method, dict[str, Any]]:
    """The method and bounds of further extractions, with what the first automaton has chosen."""
    if isinstance(wfa, StochasticWFA) and not isinstance(wfa.completion, Shared):
        tuning = wfa.provenance.get("tuning")
        start = method if isinstance(method, StateMethod) else Stochastic()
        fixed: dict[str, Any] = {"states": wfa.states - 1, "max_bytes": None}
        if tuning is not None:
            fixed["abstraction"] = tuning["chosen"]["abstraction"]
        if isinstance(start, Stochastic):
            fits = isinstance(wfa.completion, Fitted)
            fixed |= {"completion": wfa.completion.name, "alpha": AUTO if fits else wfa.alpha}
            bounds = bounds if fits else bounds | {"effort": NORMAL, "balance": None}
        else:
            fixed |= {"alpha": wfa.alpha}
            fixed |= {"beta": wfa.completion.beta} if isinstance(wfa.completion, Empirical) else {}
        return replace(start, **fixed), bounds
    if method is not None:
        return method, bounds
    chosen = wfa.provenance.get("choice", {}).get("chosen", wfa.kind)
    return getattr(CandidateMethods(), chosen), bounds


@dataclass(frozen=True, eq=False)
class Formed:
    """The states of an extraction, their view, and a prefix that stands for each: the one nearest to its seed."""

    view: View
    states: States
    prefixes: Ragged[np.int32]  # (states,): the empty one for state 0

    @classmethod
    def of(cls, view: View, states: States, seen: PrefixOutputs) -> Formed:
        states, path = states.visited(seen.points)
        distance = ((seen.points - states.seeds[path - 1]) ** 2).sum(1)
        order = np.lexsort([distance, path])
        chosen = order[np.searchsorted(path[order], np.arange(1, len(states)))]
        return cls(view, states, concatenate([EMPTY_TEXT, prefixes_to(seen.ids, chosen)]))


@dataclass(eq=False)
class Watched:
    """The abstraction of a name, or a view and states that are there already; it keeps what an extraction formed."""

    name: str
    known: tuple[View, States] | None = None
    formed: Formed = field(init=False)
    _view: View = field(init=False)

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, budget: QueryBudget
    ) -> View:
        self._view = self.known[0] if self.known else ABSTRACTIONS[self.name].view(model, ids, rng, budget)
        return self._view

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        found = self.known[1] if self.known else ABSTRACTIONS[self.name].divide(seen, states, sample, rng)
        self.formed = Formed.of(self._view, found, seen)
        return found


@dataclass(eq=False)
class Splitting:
    """Extractions whose states can be split where the model contradicts them.

    A state says that all its prefixes go on alike. The model contradicts it if a text ends in one class after one of
    them and, with the same rest, in another class after the prefix that stands for the state. The first such prefix of
    a text gets a state of its own, and takes with it what is nearer to it than to the old one. `method`: stochastic,
    with states formed by clustering.
    """

    model: PrefixClassifier
    method: StateMethod
    run: Callable[[StateMethod, Ragged[np.int32]], WFA]  # extracts from texts
    base: Ragged[np.int32]
    most: int  # states
    formed: WeakKeyDictionary[WFA, Formed] = field(default_factory=WeakKeyDictionary)

    def extract(self, known: Ragged[np.int32], states: int | None) -> WFA:
        return self._watched(known, states or self.method.states)

    def split(self, known: Ragged[np.int32], wfa: WFA, differing: Ragged[np.int32]) -> WFA | None:
        """From texts, with the states of an automaton split where these texts contradict them; None: nowhere.

        There is at most one new state for each old one, and no text may be empty.
        """
        if wfa not in self.formed:  # the first automaton, which chose its settings: the same again, watched
            self.formed[wfa] = self.formed[self.extract(self.base, None)]
        formed = self.formed[wfa]
        old = formed.states.seeds
        if len(differing) == 0:
            return None
        new = contradictions(self.model, formed, differing)[: max(0, self.most - len(old))]
        if len(new) == 0:
            return None
        return self._watched(known, len(old) + len(new), (formed.view, States(np.concatenate([old, new]))))

    def _watched(self, known: Ragged[np.int32], states: int | str, given: tuple[View, States] | None = None) -> WFA:
        watched = Watched(str(self.method.abstraction), given)
        wfa = self.run(replace(self.method, states=states, abstraction=watched), known)
        self.formed[wfa] = watched.formed
        return wfa


def contradictions(model: PrefixClassifier, formed: Formed, texts: Ragged[np.int32]) -> NDArray[np.float32]:
    """Points of prefixes that go on otherwise than their states, for each state the first found; -> (found, D)"""
    seen = trace_prefixes(model, texts, formed.view)
    path = formed.states.assign(seen.points)
    item = texts.item_of_value()
    # after every word: the prefix that stands for the state, then the rest of the text
    rest = texts.offsets[item + 1] - np.arange(len(path)) - 1
    standing = formed.prefixes.take(path.astype(np.int64))
    asked = appended(standing, cut_out(texts, np.arange(len(path)) + 1, rest))
    answers = final_outputs(model, asked).argmax(1)
    contradicted = np.flatnonzero(answers != seen.last.argmax(1)[item])
    _, first_of_text = np.unique(item[contradicted], return_index=True)
    tokens = contradicted[first_of_text]
    points = seen.points[tokens]
    is_new = (points != formed.states.seeds[path[tokens] - 1]).any(1)
    _, first_of_state = np.unique(path[tokens[is_new]], return_index=True)
    return np.asarray(points[is_new][first_of_state])
