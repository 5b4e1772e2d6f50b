"""Extraction of automata whose words share rows, from end to end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Shared
from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import make_rows, no_rows
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError, WfalensError
from wfalens.extraction.cost_estimate import most_probing, most_training, say_cost
from wfalens.extraction.deadline import INTERRUPT, TIME, Deadline, Stop
from wfalens.extraction.held_out import Rates, comparison_prefixes, divided, groups_of, rates
from wfalens.extraction.linear.linear_options import Linear
from wfalens.extraction.method import Request, provenance
from wfalens.extraction.perturbed_batches import PerturbedBatches
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.readable.fit import Fit, Start, begin, fit, merged, views
from wfalens.extraction.readable.readable_options import Readable, Size
from wfalens.models.checks import check_causal
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import asks_every_prefix, last_outputs
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING
from wfalens.threads import model_threads_limited

_PASSES_PER_LOOK = 5  # at held-out texts
_FORMING = 0.15  # share of the time for each start
_TEACHING = 0.7  # share of the time for a linear automaton that is asked in place of the model
_FITTED = 0.95  # share of the rest; what is left is for making the automaton


def extract_readable(method: Readable, request: Request) -> StochasticWFA:
    """An extraction from end to end: of files, the automaton is fitted to a sample of their texts.

    A model that pays for every call is asked for whole texts only, by a linear automaton (the request's `teacher`, else
    a new one); the readable automaton is fitted to that one, which answers for all prefixes, and measured on the model.
    """
    method = method.resolved(request)
    name, ids = request.texts.corpus["name"], request.ids
    if len(ids) < 2:
        raise InputError(f"{name}: fitting needs at least two texts with words in them", code="too-few-texts")
    if not asks_every_prefix(request.model):
        with model_threads_limited():
            return _fitted(method, request, request.new_budget())
    teacher = request.teacher
    if teacher is None:
        teacher = Linear().extract(replace(request, deadline=request.deadline.part(_TEACHING)))
    taught = replace(request, model=teacher, queries=None, deadline=request.deadline.part(1))
    wfa = _fitted(method, taught, QueryBudget())
    asked = teacher.provenance["queries"] if request.teacher is None else QueryBudget().to_dict()
    wfa.provenance |= {"model": provenance(request.model, {})["model"], "queries": asked, "teacher": teacher.kind}
    return wfa


def _fitted(method: Readable, request: Request, budget: QueryBudget) -> StochasticWFA:
    model, ids, sizes = request.model, request.ids, method.sizes
    check_causal(model, ids)
    words, longest = len(model.encoder.vocabulary), int(ids.lengths.max())
    budget.texts += len(ids.values)
    if not request.announced:
        most = sum(most_probing(model, method.prefixes * size.states + 1, words, longest) for size in sizes)
        most += most_training(method.passes, method.tokens, ids)
        say_cost(model, ids, len(ids.values), budget.within(most))
    with budget.recording_errors():
        fitter = _ReadableFitter(method, request, budget)
        wfa = fitter.smallest(sizes, method.provenance(request))
    wfa.provenance["queries"] = budget.to_dict()
    return wfa


class _Ended(NamedTuple):
    """What a course of fitting ended with, after how many passes, and what ended it early."""

    reached: Fit
    passes: int
    by: str | None

    def record(self, planned: int) -> dict[str, Any]:
        """For the provenance: nothing if it went on to its end."""
        return {} if self.by is None else {"stopped": Stop(self.by, self.passes, planned).to_dict()}


class _ReadableFitter:
    """Fits to nine tenths of the texts, and measures on the others."""

    def __init__(self, method: Readable, request: Request, budget: QueryBudget) -> None:
        model, seed = request.model, request.seed
        self.model, self.ids, self.method, self.seed = model, request.ids, method, seed
        self.budget, self.deadline = budget, request.deadline
        held, self.known = divided(self.ids, seed, groups_of(request, budget))
        self.held = comparison_prefixes(model, held)
        if request.held_out is not None:
            self.held, self.targets = request.held_out
        else:
            self.targets = last_outputs(model, self.held)
        self.batches = PerturbedBatches(model, self.known, method, seed, budget)

    def smallest(self, sizes: Sequence[Size], provenance: dict[str, Any]) -> StochasticWFA:
        """The automaton that is chosen among the sizes; its provenance tells what was tried, and what stopped it."""
        automata: list[StochasticWFA] = []
        for number, size in enumerate(sizes):
            if automata and (self.deadline.is_over or Stop.of(automata[-1].provenance) is not None):
                break
            deadline = self.deadline.part(1 / (len(sizes) - number))
            automata.append(self.fitted(size, provenance, deadline))
        rates = [self.measured(wfa) for wfa in automata]
        chosen = self.method.chosen([each.cr for each in rates])
        tried = [
            {"states": wfa.states - 1, "clusters": int(wfa.summary()["word_classes"]), **each._asdict()}
            for wfa, each in zip(automata, rates, strict=True)
        ]
        record = {"texts": len(self.held), "loss": self.method.accepted_loss, "chosen": chosen, "tried": tried}
        automata[chosen].provenance["frontier"] = record
        return automata[chosen]

    def fitted(self, size: Size, provenance: dict[str, Any], deadline: Deadline) -> StochasticWFA:
        """Fit from several starts for a while, then from the best of them to the end."""
        method, names = self.method, views(self.model, self.budget)
        rng = np.random.default_rng([self.seed, *size])
        forming, epochs, final = int(method.start_epochs), int(method.epochs), int(method.final_epochs)
        passes = len(names) * forming + epochs + final
        title = f"fitting {size.states + 1} states, {size.clusters} word clusters"
        starts: list[Start] = []
        for name in names:
            if starts and deadline.share_used > _FORMING:
                break  # one start took long enough
            clusters, reading = method.spread * size.clusters, deadline.part(_FORMING)
            own = np.random.default_rng([self.seed, *size, len(starts)])
            starts.append(
                begin(self.model, self.known, name, size.states, clusters, method.prefixes, own, self.budget, reading)
            )
        progress.start(title, passes)
        formed: list[Start] = []
        for number, start in enumerate(starts):
            batches, time = map(self.batches.numbered, count()), deadline.part(_FORMING / (1 - number * _FORMING))
            ended = self._ended(fit(start, forming, 0, batches, method, rng, time), forming)
            formed.append(replace(start, fit=merged(ended.reached, self.batches.counts, size.clusters, rng)))
            if ended.by == INTERRUPT:
                break
        divergences = [self.measured(automaton_of(each.fit, self.model, self.held, {})).jsd for each in formed]
        best = int(np.argmin(divergences))
        if ended.by != INTERRUPT:
            batches, time = map(self.batches.numbered, count(forming)), deadline.part(_FITTED)
            ended = self._ended(fit(formed[best], epochs, final, batches, method, rng, time), epochs + final)
        else:
            ended = ended._replace(reached=formed[best].fit, passes=0)
        progress.finish()
        made = provenance | {"view": names[best]} | ended.record(epochs + final)
        return automaton_of(ended.reached, self.model, self.ids, made)

    def _ended(self, course: Iterator[Fit], planned: int) -> _Ended:
        """What a course of fitting ends with, told on the way; Ctrl-C ends it after a pass or more."""
        passes, reached = 0, None
        try:
            for passes, reached in enumerate(course, 1):
                note = ""
                if passes % _PASSES_PER_LOOK == 0:
                    cr, jsd = self.measured(automaton_of(reached, self.model, self.held, {}))
                    note = f"CR {cr:.3f}, JSD {jsd:.4f}"
                progress.advance(1, note)
        except KeyboardInterrupt:
            if reached is None:
                raise
            return _Ended(reached, passes, INTERRUPT)
        if reached is None:
            raise WfalensError("fitting ended before its first pass")
        return _Ended(reached, passes, TIME if passes < planned else None)

    def measured(self, wfa: StochasticWFA) -> Rates:
        """CR and JSD on the held-out texts."""
        return rates(wfa, self.held, self.targets)


_LEVELS = 4095  # weights of a row are stored as whole numbers up to this
_TOKENS_AT_ONCE = 1 << 18


def automaton_of(
    fitted: Fit, model: PrefixClassifier, ids: Ragged[np.int32], provenance: dict[str, Any]
) -> StochasticWFA:
    """The automaton, with the frequencies that it has in texts; classes without a word are left out."""
    counts = np.bincount(ids.values, minlength=len(fitted.word_class))
    ordered = _ordered(fitted)
    states, classes = len(ordered.centres), len(ordered.matrices)
    nowhere = np.zeros((classes, states))
    bare = _made(ordered, model, nowhere, np.zeros(states, np.int64), counts, {})
    visits, reached = _traffic(bare, ordered.word_class, classes, ids)
    return _made(ordered, model, visits, reached, counts, provenance)


def _made(
    fitted: Fit,
    model: PrefixClassifier,
    visits: NDArray[np.float64],
    state_visits: NDArray[np.int64],
    counts: NDArray[np.int64],
    provenance: dict[str, Any],
) -> StochasticWFA:
    typicality = np.rint(255 * fitted.typicality).astype(np.uint8)
    return StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=fitted.centres / fitted.centres.sum(1, keepdims=True),
        rows=no_rows(len(counts)),
        completion=Shared(_rows(fitted.matrices), fitted.word_class, visits, typicality),
        alpha=0.0,
        state_visits=state_visits,
        word_counts=counts,
        provenance=provenance,
    )


def _ordered(fitted: Fit) -> Fit:
    """States by the class that they say, the surest last; classes of words by what they lead to, without empty ones."""
    centres = fitted.centres
    says, sure = centres.argmax(1), centres.max(1)
    states = np.concatenate([[0], 1 + np.lexsort((sure[1:], says[1:]))])
    present = np.bincount(fitted.word_class[PADDING + 1 :], minlength=len(fitted.matrices)) > 0
    kept = np.flatnonzero(present)
    leads = fitted.matrices[kept].mean(1) @ centres  # (classes, C)
    kept = kept[np.lexsort((-leads.max(1), leads.argmax(1)))]
    place = np.zeros(len(fitted.matrices), np.int64)
    place[kept] = np.arange(len(kept))
    return Fit(
        fitted.matrices[kept][:, states][:, :, states], centres[states], place[fitted.word_class], fitted.typicality
    )


def _rows(matrices: NDArray[np.float64]) -> Rows:
    """Rows with their weights as whole numbers; what vanishes is left out. (G, n, n)"""
    whole = np.rint(matrices / matrices.max(2, keepdims=True) * _LEVELS)
    there = whole > 0
    classes, n, _ = matrices.shape
    states = np.tile(np.arange(n), classes)
    return make_rows(np.full(classes, n), states, there.sum(2).ravel(), np.nonzero(there)[2], whole[there])


def _traffic(
    wfa: StochasticWFA, word_class: NDArray[np.int64], classes: int, ids: Ragged[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How often each class is read in each state, (G, n), and how often each state is reached, (n,)"""
    visits, reached = np.zeros((classes, wfa.states)), np.zeros(wfa.states)
    for part in ids.chunks(_TOKENS_AT_ONCE):
        after = wfa.state_vectors(part, every=True)
        before = np.vstack([wfa.initial, after[:-1]])
        before[part.offsets[:-1][part.lengths > 0]] = wfa.initial
        for state in range(wfa.states):
            visits[:, state] += np.bincount(word_class[part.values], before[:, state], classes)
        reached += after.sum(0)
    reached[0] = len(ids)
    return visits.astype(np.float32).astype(np.float64), np.rint(reached).astype(np.int64)
