"""States split where the model contradicts them.

A state says that all its prefixes go on alike. The model contradicts it if a text ends in one class after one of them
and, with the same rest, in another class after the prefix that stands for the state. The first such prefix of a text
gets a state of its own, and takes with it what is nearer to it than to the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.states.abstraction import Abstraction, States, named_abstraction
from wfalens.extraction.states.views import PrefixOutputs, View, trace_prefixes
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged, concatenate, positions


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
        starts = seen.ids.offsets[seen.ids.item_of_value()[chosen]]
        nothing = Ragged(np.empty(0, np.int32), np.zeros(2, np.int64))
        return cls(view, states, concatenate([nothing, _cut_out(seen.ids, starts, chosen + 1 - starts)]))


@dataclass(eq=False)
class Watched:
    """An abstraction that keeps what an extraction has formed by it."""

    inner: Abstraction
    _view: View | None = None
    _formed: Formed | None = None

    @property
    def name(self) -> str:
        return self.inner.name

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, budget: QueryBudget
    ) -> View:
        self._view = self.inner.view(model, ids, rng, budget)
        return self._view

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        found = self.inner.divide(seen, states, sample, rng)
        if self._view is not None:
            self._formed = Formed.of(self._view, found, seen)
        return found

    @property
    def result(self) -> Formed:
        if self._formed is None:
            raise RuntimeError("no extraction was watched")
        return self._formed


@dataclass(frozen=True, eq=False)
class Given:
    """An abstraction whose view and states are there already."""

    name: str
    known: View
    states: States

    def view(self, *_: object) -> View:
        return self.known

    def divide(self, *_: object) -> States:
        return self.states


@dataclass(eq=False)
class Splitting:
    """Extractions whose states can be split. `method`: stochastic, with states formed by clustering."""

    model: PrefixClassifier
    method: StateMethod
    run: Callable[[StateMethod, Ragged[np.int32]], WFA]  # extracts from texts
    base: Ragged[np.int32]
    most: int  # states
    formed: WeakKeyDictionary[WFA, Formed] = field(default_factory=WeakKeyDictionary)

    def extract(self, known: Ragged[np.int32], states: int | None) -> WFA:
        sized = self.method if states is None else replace(self.method, states=states)
        return self._watched(sized, named_abstraction(str(self.method.abstraction)), known)

    def split(self, known: Ragged[np.int32], wfa: WFA, differing: Ragged[np.int32]) -> WFA | None:
        """From texts, with the states of an automaton split where these texts contradict them; None: nowhere."""
        if wfa not in self.formed:  # the first automaton, which chose its settings: the same again, watched
            self.formed[wfa] = self.formed[self.extract(self.base, None)]
        given = split_states(self.model, self.formed[wfa], differing, str(self.method.abstraction), self.most)
        return (
            None if given is None else self._watched(replace(self.method, states=len(given.states) - 1), given, known)
        )

    def _watched(self, method: StateMethod, abstraction: Abstraction, known: Ragged[np.int32]) -> WFA:
        watched = Watched(abstraction)
        wfa = self.run(replace(method, abstraction=watched), known)
        self.formed[wfa] = watched.result
        return wfa


def split_states(
    model: PrefixClassifier, formed: Formed, texts: Ragged[np.int32], name: str, most: int
) -> Given | None:
    """States split by texts, none empty, at most `most` in the end; None where nothing is contradicted.

    There is at most one new state for each old one. name: of the abstraction
    """
    if len(texts) == 0:
        return None
    seeds = contradictions(model, formed, texts)[: max(0, most - len(formed.states.seeds))]
    if len(seeds) == 0:
        return None
    return Given(name, formed.view, States(np.concatenate([formed.states.seeds, seeds])))


def contradictions(model: PrefixClassifier, formed: Formed, texts: Ragged[np.int32]) -> NDArray[np.float32]:
    """Points of prefixes that go on otherwise than their states, for each state the first found; -> (found, D)"""
    seen = trace_prefixes(model, texts, formed.view)
    path = formed.states.assign(seen.points)
    item = texts.item_of_value()
    # after every word: the prefix that stands for the state, then the rest of the text
    rest = texts.offsets[item + 1] - np.arange(len(path)) - 1
    standing = formed.prefixes.take(path.astype(np.int64))
    asked = _joined(standing, _cut_out(texts, np.arange(len(path)) + 1, rest))
    answers = final_outputs(model, asked).argmax(1)
    contradicted = np.flatnonzero(answers != seen.last.argmax(1)[item])
    _, first_of_text = np.unique(item[contradicted], return_index=True)
    tokens = contradicted[first_of_text]
    points = seen.points[tokens]
    is_new = (points != formed.states.seeds[path[tokens] - 1]).any(1)
    _, first_of_state = np.unique(path[tokens[is_new]], return_index=True)
    return np.asarray(points[is_new][first_of_state])


def _cut_out(ids: Ragged[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged[np.int32]:
    """Stretches of tokens as texts."""
    return Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths)


def _joined(first: Ragged[np.int32], second: Ragged[np.int32]) -> Ragged[np.int32]:
    """Each text of the first with that of the second behind it."""
    lengths = first.lengths + second.lengths
    starts = np.cumsum(lengths) - lengths
    values = np.empty(int(lengths.sum()), np.int32)
    values[positions(starts, first.lengths)] = first.values
    values[positions(starts + first.lengths, second.lengths)] = second.values
    return Ragged.from_lengths(values, lengths)
