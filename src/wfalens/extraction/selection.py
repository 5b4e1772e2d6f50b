"""The choice of the kind: several are extracted, and the most faithful on held-out texts answers.

A readable automaton is extracted first, then a linear one. Both are fitted to the same nine tenths of the texts, and
compared on the others. Only where the linear one is not clearly good, rows are fitted for every word, and rows for more
classes of words than a page holds. Of a language model, whose symbols are few, a stochastic one with as many states as
pay is always tried. The readable one goes with whichever is chosen, attached to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.balance import LABEL, groups_of, label_classes
from wfalens.extraction.comparing import DIVERGENCE, ClassRate, Rates, aim_for, leader, rates, rates_by_class
from wfalens.extraction.cost_estimate import announced, say_forecast
from wfalens.extraction.deadline import INTERRUPT, Deadline, Stop
from wfalens.extraction.held_out import judged, split
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.method import Method, Request
from wfalens.extraction.provenance import about_corpus, origin
from wfalens.extraction.query_budget import QueryBudget, TooFewQueriesError, query_limit
from wfalens.extraction.readable.readable_options import Readable
from wfalens.extraction.states.abstraction import TooFewOutputsError
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.scale.bottom_k import TextSample
from wfalens.scale.run_config import DEFAULT_SAMPLE, Run
from wfalens.scale.survey import Survey, survey_corpus
from wfalens.text.blocks import MemoryTexts, Source
from wfalens.text.files import TextFiles
from wfalens.threads import model_threads_limited

READABLE, LINEAR, STOCHASTIC, SHARED = KINDS = ("readable", "linear", "stochastic", "shared")
_TIMES_READ = 5  # the texts at most, for all kinds together: the held-out ones, then once for each kind
_GOOD = 0.9  # CR of a linear automaton beside which no other kind is tried
# of the queries and time that are left; the next kind, if there is one, has the rest
_READABLE_SHARE, _LINEAR_SHARE, _STOCHASTIC_SHARE = 1 / 3, 1 / 2, 1 / 2
_MOST_OUTPUTS = 100_000_000  # numbers that a language model says of all prefixes of the texts
_LEAST_TIME = 1e-3  # seconds: one pass is made in any case


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """How each kind is extracted; their queries are shared out."""

    readable: Method = field(default_factory=Readable)
    linear: Method = field(default_factory=Linear)
    stochastic: Method = field(default_factory=Stochastic)  # rows that are learned for every word
    shared: Method = field(default_factory=lambda: Readable(states=40, clusters=256))  # more than fits on a page


@dataclass(frozen=True, eq=False)
class Found:
    """An automaton of some kind, and how faithful it is on the held-out texts."""

    kind: str
    wfa: WFA
    cr: float
    jsd: float
    by_class: Mapping[str, ClassRate]

    @property
    def mean_cr(self) -> float:
        """Over the classes, small ones counting as much as large ones."""
        return fmean(rate.cr for rate in self.by_class.values())

    def told(self) -> dict[str, Any]:
        by_class = {name: rate._asdict() for name, rate in self.by_class.items()}
        return {"kind": self.kind, "cr": self.cr, "jsd": self.jsd, "by_class": by_class}


def extract_best(request: Request, candidates: Candidates | None = None) -> WFA:
    """The most faithful automaton with its readable automaton: of files, all kinds learn from one sample of texts."""
    model, source, run, seed, queries = request.model, request.source, request.run, request.seed, request.queries
    candidates, balance, checkpoint = candidates or Candidates(), request.balance, request.checkpoint
    survey = _surveyed(model, queries, seed, source, run, balance)
    if len(survey.sample.ids) < 2:
        raise InputError(f"{source.name}: the kind is chosen on held-out texts, which needs two texts with words")
    if checkpoint is None and run.parts is not None:
        checkpoint = run.parts / "training"
    texts = _TIMES_READ * len(survey.sample.ids.values)
    say_forecast(model, survey.sample.ids, texts, query_limit(queries, model) or 0)
    with announced():
        search = _Search(request, survey.sample, Run(memory=run.bound(source)))
        search.attempt(READABLE, candidates.readable, _READABLE_SHARE)
        speaks = search.aim == DIVERGENCE
        search.attempt(LINEAR, candidates.linear, _LINEAR_SHARE if speaks else 1.0, checkpoint)
        if speaks:
            search.attempt(STOCHASTIC, candidates.stochastic)
            search.not_tried[SHARED] = "the symbols of a language model have rows of their own"
        elif search.linear_is_good:
            search.not_tried |= dict.fromkeys((STOCHASTIC, SHARED), "the linear automaton is good")
        else:
            search.attempt(STOCHASTIC, candidates.stochastic, _STOCHASTIC_SHARE)
            search.attempt(SHARED, candidates.shared)
    return search.chosen(about_corpus(source, survey, survey.tally))


def _surveyed(
    model: PrefixClassifier,
    queries: int | None,
    seed: int,
    source: Source,
    run: Run,
    balance: str | None,
) -> Survey:
    classes = label_classes(balance, model, source)
    about = origin(model, {"kind": "auto", "queries": queries, "seed": seed, "balance": balance})
    with run.opened(source, about, DEFAULT_SAMPLE if isinstance(source, TextFiles) else None) as session:
        survey = survey_corpus(session, model.encoder, seed, classes)
    survey.tally.say_cut(model.encoder.max_length)
    survey.tally.say_left_out()
    return survey


class _Search:
    """What was extracted so far, what was not and why, and what the model was asked for it."""

    def __init__(
        self,
        request: Request,
        sample: TextSample,
        run: Run,
    ) -> None:
        self.request, model, balance = request, request.model, request.balance
        self.model, self.ids, self.run, self.deadline = model, sample.ids, run, request.deadline
        self.balance, (held, self.known) = balance, split(len(sample), request.seed)
        self.held, self.aim = judged(model, self.ids.take(held)), aim_for(model)
        self.ledger = QueryBudget(query_limit(request.queries, model))
        self.found: dict[str, Found] = {}
        self.not_tried: dict[str, str] = {}
        self.refusals: list[InputError] = []
        self.stop: Stop | None = None  # by Ctrl-C
        self.ledger.texts += len(self.held.values)
        with model_threads_limited():
            self.wanted = last_outputs(model, self.held)
            self.groups = groups_of(balance, model, sample, self.ledger)

    def attempt(self, kind: str, method: Method, share: float = 1.0, checkpoint: Path | None = None) -> None:
        """Extract an automaton with a share of the queries and time that are left.

        There is none if the model cannot be asked enough, or after Ctrl-C. Rows that are fitted for every word know all
        texts that they are given: the held-out ones are kept from them.
        """
        if self.found and (self.stop is not None or self.deadline.is_over):
            self.not_tried[kind] = "there was no time left" if self.stop is None else "the extraction was stopped"
            return
        texts = self._texts(self._learned_by(kind))
        try:
            wfa = method.extract(self._part(texts, share, checkpoint))
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
                self.ledger.add(refusal.asked)
            return
        self.ledger.add(wfa.provenance["queries"])
        stop = Stop.of(wfa.provenance)
        self.stop = stop if stop is not None and stop.by == INTERRUPT else None
        by_class = rates_by_class(wfa, self.held, self.wanted)
        self.found[kind] = Found(kind, wfa, *rates(wfa, self.held, self.wanted), by_class)

    def _learned_by(self, kind: str) -> NDArray[np.int64]:
        """The numbers of the texts that a kind is made from; of a language model, what fits into memory as outputs."""
        if kind != STOCHASTIC:
            return np.arange(len(self.ids))
        if self.aim != DIVERGENCE:
            return self.known
        order = np.random.default_rng(0).permutation(self.known)
        fits = np.cumsum(self.ids.lengths[order]) <= _MOST_OUTPUTS // len(self.model.class_names)
        return np.sort(order[: max(2, int(fits.sum()))])

    def _texts(self, items: NDArray[np.int64]) -> MemoryTexts:
        """Texts with what they are balanced by as their labels, so that the model is asked for it once."""
        names = self.model.class_names
        labels = None if self.groups is None else [names[group] for group in self.groups[items].tolist()]
        return replace(MemoryTexts.of(self.ids.take(items)), labels=labels)

    def _part(self, texts: MemoryTexts, share: float, checkpoint: Path | None) -> Request:
        """The request for one method: a share of the queries and of the time that is left."""
        left = self.ledger.left(share)
        if left == 0:
            raise TooFewQueriesError(f"all {self.ledger.limit:,} queries were spent on other kinds; allow more")
        time = self.deadline.part(share).left
        return replace(
            self.request,
            source=texts,
            queries=left,
            deadline=Deadline(None if time is None else max(time, _LEAST_TIME), self.deadline.clock),
            balance=None if self.balance is None else LABEL,
            checkpoint=checkpoint,
            run=self.run,
        )

    @property
    def linear_is_good(self) -> bool:
        linear, readable = self.found.get(LINEAR), self.found.get(READABLE)
        if linear is None or linear.cr < _GOOD:
            return False
        return readable is None or linear.cr > readable.cr or linear.cr == 1

    def chosen(self, corpus: dict[str, Any]) -> WFA:
        """The most faithful automaton, which carries the readable one and tells what was tried."""
        if not self.found:
            raise self.refusals[0]
        found = list(self.found.values())
        best = found[leader(found if self.balance is None else self._evenly(found), len(self.held), self.aim)]
        for each in found:
            each.wfa.provenance["corpus"] = corpus
        page = self.found.get(READABLE, best).wfa
        wfa = best.wfa.with_readable(page) if page is not best.wfa and isinstance(page, StochasticWFA) else best.wfa
        wfa.provenance |= {"queries": self.ledger.to_json(), "choice": self._record(best)}
        if self.stop is not None:
            wfa.provenance["stopped"] = self.stop.to_json()
        return wfa

    def _evenly(self, found: Sequence[Found]) -> list[Rates]:
        """What is compared where classes count alike."""
        return [Rates(each.mean_cr, each.jsd) for each in found]

    def _record(self, best: Found) -> dict[str, Any]:
        tried = [each.told() for each in self.found.values()]
        told = {"texts": len(self.held), "chosen": best.kind, "tried": tried, "not_tried": self.not_tried or None}
        return told if self.balance is None else told | {"balance": self.balance}
