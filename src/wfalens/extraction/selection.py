"""The choice of the kind: several are extracted, and the most faithful on held-out texts answers.

On few held-out texts small differences are chance: the linear one answers unless another one is clearly more faithful.

A readable automaton is extracted first, then a linear one. Both are fitted to the same nine tenths of the texts, and
compared on the others. Only where the linear one is not clearly good, rows are fitted for every word, and rows for more
classes of words than a page holds. Of a language model, whose symbols are few, a stochastic one with as many states as
pay is always tried. The readable one goes with whichever is chosen, attached to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction import held_out
from wfalens.extraction.cost_estimate import ask_held_out, say_cost
from wfalens.extraction.deadline import INTERRUPT, Deadline, Stop
from wfalens.extraction.held_out import CONSISTENCY, DIVERGENCE, LABEL, Rates
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.method import AnsweredTexts, Method, Request
from wfalens.extraction.perturbation import random_part
from wfalens.extraction.query_budget import QueryBudget, TooFewQueriesError, call_limit, query_limit
from wfalens.extraction.readable.readable_options import Readable
from wfalens.extraction.states import MOST_OUTPUTS, TooFewOutputsError
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.models.inference import asks_every_prefix, last_outputs
from wfalens.threads import model_threads_limited

READABLE, LINEAR, STOCHASTIC, SHARED = KINDS = ("readable", "linear", "stochastic", "shared")
_TIMES_READ = 5  # the texts at most, for all kinds together: the held-out ones, then once for each kind
_GOOD = 0.9  # CR of a linear automaton beside which no other kind is tried
# of the queries and time that are left; the next kind, if there is one, has the rest
_READABLE_SHARE, _LINEAR_SHARE, _STOCHASTIC_SHARE = 1 / 3, 1 / 2, 1 / 2
MANY_CLASSES = 100  # rows of their own for every word in as many states take too long and too much memory
_FAITHFUL_TIME = 0.7  # share of the time for the linear automaton of a model that pays for every call
_LEAST_TIME = 1e-3  # seconds: one pass is made in any case


@dataclass(frozen=True, kw_only=True)
class CandidateMethods:
    """How each kind is extracted; their queries are shared out."""

    readable: Method = field(default_factory=Readable)
    linear: Method = field(default_factory=Linear)
    stochastic: Method = field(default_factory=Stochastic)  # rows that are learned for every word
    shared: Method = field(default_factory=lambda: Readable(states=40, clusters=256))  # more than fits on a page


@dataclass(frozen=True, eq=False)
class Candidate:
    """An automaton of some kind, and how faithful it is on the held-out texts."""

    kind: str
    wfa: WFA
    cr: float
    jsd: float
    by_class: dict[str, dict[str, Any]]

    @property
    def mean_cr(self) -> float:
        """Over the classes, small ones counting as much as large ones."""
        return fmean(rate["cr"] for rate in self.by_class.values())


def extract_best(request: Request, candidates: CandidateMethods | None = None) -> WFA:
    """The most faithful automaton, with a readable one attached to it."""
    candidates = candidates or CandidateMethods()
    if len(request.ids) < 2:
        name = request.texts.corpus["name"]
        raise InputError(
            f"{name}: the method is chosen on held-out texts, which needs two texts with words", code="too-few-texts"
        )
    model, ids = request.model, request.ids
    if asks_every_prefix(model):
        search = _Search(replace(request, files=None))
        search.attempt(LINEAR, candidates.linear, time_share=_FAITHFUL_TIME)
        search.attempt(READABLE, candidates.readable)
        search.not_tried |= dict.fromkeys((STOCHASTIC, SHARED), "the model pays for every prefix")
        return search.chosen()
    say_cost(model, ids, _TIMES_READ * len(ids.values), query_limit(request.queries, model) or 0)
    search = _Search(replace(request, files=None, announced=True))
    search.attempt(READABLE, candidates.readable, _READABLE_SHARE)
    next_symbol = search.aim == DIVERGENCE
    search.attempt(LINEAR, candidates.linear, _LINEAR_SHARE if next_symbol else 1.0)
    if next_symbol:
        search.attempt(STOCHASTIC, candidates.stochastic)
        search.not_tried[SHARED] = "the symbols of a language model have rows of their own"
    elif len(model.class_names) > MANY_CLASSES:
        search.not_tried |= dict.fromkeys((STOCHASTIC, SHARED), "there are too many classes")
    elif search.linear_is_good:
        search.not_tried |= dict.fromkeys((STOCHASTIC, SHARED), "the linear automaton is good")
    else:
        search.attempt(STOCHASTIC, candidates.stochastic, _STOCHASTIC_SHARE)
        search.attempt(SHARED, candidates.shared)
    return search.chosen()


def best_kind(found: Mapping[str, Rates], texts: int, aim: str) -> str:
    """The most faithful kind on so many texts; of a classifier the linear one, unless another is clearly better."""
    best = list(found)[held_out.select_best(list(found.values()), texts, aim)]
    if aim == CONSISTENCY and LINEAR in found and not held_out.gains(found[best], [found[LINEAR]], texts):
        return LINEAR
    return best


class _Search:
    """What was extracted so far, what was not and why, and what the model was asked for it."""

    def __init__(self, request: Request) -> None:
        self.request, self.model, self.deadline = request, request.model, request.deadline
        self.balance, (held, self.known) = request.balance, held_out.split(len(request.ids), request.seed)
        self.aim, self.pays = held_out.aim_for(self.model), asks_every_prefix(self.model)
        self.held = held_out.comparison_prefixes(self.model, request.texts.as_shown.take(held))
        self.budget = QueryBudget(call_limit(request.queries, self.model, len(request.ids)), self.model)
        self.found: dict[str, Candidate] = {}
        self.not_tried: dict[str, str] = {}
        self.refusals: list[InputError] = []
        self.stop: Stop | None = None  # by Ctrl-C
        with model_threads_limited():
            if self.pays:
                part = self.deadline.part(_FAITHFUL_TIME)
                self.held, self.targets = ask_held_out(self.model, self.held, self.budget, part, request.seed)
            else:
                self.budget.texts += len(self.held.values)
                self.targets = last_outputs(self.model, self.held)
            self.groups = held_out.groups_of(request, self.budget)

    def attempt(self, kind: str, method: Method, share: float = 1.0, time_share: float | None = None) -> None:
        """Extract an automaton with a share of the queries and time that are left.

        There is none if the model cannot be asked enough, or after Ctrl-C. Rows that are fitted for every word know all
        texts that they are given: the held-out ones are kept from them.
        """
        if self.found and (self.stop is not None or self.deadline.is_over):
            self.not_tried[kind] = "there was no time left" if self.stop is None else "the extraction was stopped"
            return
        try:
            wfa = method.extract(self._part(kind, share, share if time_share is None else time_share))
        except KeyboardInterrupt:
            if not self.found:
                raise
            self.stop, self.not_tried[kind] = Stop(INTERRUPT, 0, 0), "the extraction was stopped"
            return
        except (TooFewQueriesError, TooFewOutputsError) as refusal:
            progress.finish()
            self.refusals.append(refusal)
            self.not_tried[kind] = str(refusal)
            progress.say(f"there is no {kind} automaton to choose: {refusal}")
            if isinstance(refusal, TooFewQueriesError) and refusal.asked is not None:
                self.budget.add(refusal.asked)
            return
        self.budget.add(wfa.provenance["queries"])
        stop = Stop.of(wfa.provenance)
        self.stop = stop if stop is not None and stop.by == INTERRUPT else None
        by_class = held_out.rates_by_class(wfa, self.held, self.targets)
        self.found[kind] = Candidate(kind, wfa, *held_out.rates(wfa, self.held, self.targets), by_class)

    def _learned_by(self, kind: str) -> NDArray[np.int64]:
        """The numbers of the texts that a kind is made from; the outputs of all their prefixes must fit into memory."""
        if kind != STOCHASTIC:
            return np.arange(len(self.request.ids))
        most, ids = MOST_OUTPUTS // len(self.model.class_names), self.request.ids.take(self.known)
        return self.known[random_part(ids, most, np.random.default_rng(0))]

    def _part(self, kind: str, share: float, time_share: float) -> Request:
        """The request for one method: a share of the queries and of the time that is left.

        Texts have the classes that they are balanced by as their labels: the model is asked for them once.
        """
        left = self.budget.left(share)
        if left == 0:
            raise TooFewQueriesError(f"all {self.budget.limit:,} queries were spent on other kinds; allow more")
        time = self.deadline.part(time_share).left
        faithful = self.found.get(LINEAR)
        return replace(
            self.request,
            texts=replace(self.request.texts, truth=self.groups).take(self._learned_by(kind)),
            queries=left,
            deadline=Deadline(None if time is None else max(time, _LEAST_TIME), self.deadline.clock),
            balance=None if self.balance is None else LABEL,
            teacher=faithful.wfa if self.pays and faithful is not None else None,
            held_out=AnsweredTexts(self.held, self.targets) if self.pays else None,
        )

    @property
    def linear_is_good(self) -> bool:
        linear, readable = self.found.get(LINEAR), self.found.get(READABLE)
        if linear is None or linear.cr < _GOOD:
            return False
        return readable is None or linear.cr > readable.cr or linear.cr == 1

    def chosen(self) -> WFA:
        """The most faithful automaton, which carries the readable one and tells what was tried."""
        if not self.found:
            raise self.refusals[0]
        found = list(self.found.values())
        # where texts are balanced, classes count alike
        rates = {each.kind: Rates(each.cr if self.balance is None else each.mean_cr, each.jsd) for each in found}
        best = self.found[best_kind(rates, len(self.held), self.aim)]
        page = self.found.get(READABLE, best).wfa
        wfa = best.wfa.with_readable(page) if page is not best.wfa and isinstance(page, StochasticWFA) else best.wfa
        tried = [{name: value for name, value in vars(each).items() if name != "wfa"} for each in found]
        choice = {"texts": len(self.held), "chosen": best.kind, "tried": tried, "not_tried": self.not_tried or None}
        if self.balance is not None:
            choice["balance"] = self.balance
        wfa.provenance |= {"queries": self.budget.to_dict(), "choice": choice}
        if LINEAR in self.found:
            wfa.provenance["baselines"] = self.found[LINEAR].wfa.provenance.get("baselines", {})
        if self.stop is not None:
            wfa.provenance["stopped"] = self.stop.to_dict()
        return wfa
