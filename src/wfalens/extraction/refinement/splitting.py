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
from wfalens.extraction.states import views
from wfalens.extraction.states.abstraction import ABSTRACTIONS, States
from wfalens.extraction.states.views import PrefixOutputs, View
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged, concatenate


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
        return cls(view, states, concatenate([views.EMPTY_TEXT, views.prefixes_to(seen.ids, chosen)]))


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
    """Extractions whose states can be split. `method`: stochastic, with states formed by clustering."""

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
    seen = views.trace_prefixes(model, texts, formed.view)
    path = formed.states.assign(seen.points)
    item = texts.item_of_value()
    # after every word: the prefix that stands for the state, then the rest of the text
    rest = texts.offsets[item + 1] - np.arange(len(path)) - 1
    standing = formed.prefixes.take(path.astype(np.int64))
    asked = views.appended(standing, views.cut_out(texts, np.arange(len(path)) + 1, rest))
    answers = final_outputs(model, asked).argmax(1)
    contradicted = np.flatnonzero(answers != seen.last.argmax(1)[item])
    _, first_of_text = np.unique(item[contradicted], return_index=True)
    tokens = contradicted[first_of_text]
    points = seen.points[tokens]
    is_new = (points != formed.states.seeds[path[tokens] - 1]).any(1)
    _, first_of_state = np.unique(path[tokens[is_new]], return_index=True)
    return np.asarray(points[is_new][first_of_state])
