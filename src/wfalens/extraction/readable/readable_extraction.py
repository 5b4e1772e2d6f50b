"""Extraction of automata whose words share rows, from end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.course import Course
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError, WfalensError
from wfalens.extraction.balance import groups_of, label_classes
from wfalens.extraction.comparing import Rates, rates
from wfalens.extraction.cost_estimate import most_probing, most_training, say_forecast, within
from wfalens.extraction.deadline import INTERRUPT, TIME, Deadline, Stop
from wfalens.extraction.held_out import divided, judged
from wfalens.extraction.method import Request
from wfalens.extraction.perturbed_batches import PerturbedBatches
from wfalens.extraction.provenance import about_corpus, origin
from wfalens.extraction.query_budget import QueryBudget, query_limit
from wfalens.extraction.readable.fit import Fit, fit, merged, started
from wfalens.extraction.readable.readable_automaton import automaton_of
from wfalens.extraction.readable.readable_options import Readable, Size, Sizes, SizeTrial
from wfalens.extraction.readable.start import Effects, effects, views
from wfalens.models.checks import check_causal
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.scale.run_config import DEFAULT_SAMPLE
from wfalens.scale.survey import survey_corpus
from wfalens.text.files import TextFiles
from wfalens.threads import model_threads_limited

_PASSES_PER_LOOK = 5  # at held-out texts
_FORMING = 0.15  # share of the time for each start
_FITTED = 0.95  # share of the rest; what is left is for making the automaton


def extract_readable(method: Readable, request: Request) -> StochasticWFA:
    """An extraction from end to end: of files, the automaton is fitted to a sample of their texts."""
    method = method.resolved(request)
    model, source, run, seed, balance = request.model, request.source, request.run, request.seed, request.balance
    about, sizes = origin(model, method.parameters(request)), method.sizes
    sample = DEFAULT_SAMPLE if isinstance(source, TextFiles) else None
    with run.opened(source, about, sample) as session, model_threads_limited():
        survey = survey_corpus(session, model.encoder, seed, label_classes(balance, model, source))
        ids = survey.sample.ids
        if len(ids) < 2:
            raise InputError(f"{source.name}: fitting needs at least two texts with words in them")
        check_causal(model, ids)
        survey.tally.say_cut(model.encoder.max_length)
        survey.tally.say_left_out()
        ledger = QueryBudget(query_limit(request.queries, model))
        ledger.texts += len(ids.values)
        most = sum(
            most_probing(
                model, method.prefixes * size.states + 1, len(model.encoder.vocabulary), int(ids.lengths.max())
            )
            for size in sizes.tried
        )
        most += most_training(method.passes, method.tokens, ids)
        say_forecast(model, ids, len(ids.values), within(ledger, most))
        provenance = {"corpus": about_corpus(source, survey, survey.tally), **about}
        with ledger.telling():
            groups = groups_of(balance, model, survey.sample, ledger)
            sharer = _Sharer(model, ids, method, seed, ledger, request.deadline, groups)
            wfa = sharer.smallest(sizes, provenance)
        wfa.provenance["queries"] = ledger.to_json()
        if wfa.anatomy is not None:
            wfa.provenance["course"] = Course.of(wfa, ids, wfa.anatomy.word_class).to_json()
        return wfa


class _Ended(NamedTuple):
    """What a course of fitting ended with, after how many passes, and what ended it early."""

    reached: Fit
    passes: int
    by: str | None

    def told(self, planned: int) -> dict[str, Any]:
        """For the provenance: nothing if it went on to its end."""
        return {} if self.by is None else {"stopped": Stop(self.by, self.passes, planned).to_json()}


class _Sharer:
    """Fits to nine tenths of the texts, and measures on the others."""

    def __init__(
        self,
        model: PrefixClassifier,
        ids: Ragged[np.int32],
        method: Readable,
        seed: int,
        ledger: QueryBudget,
        deadline: Deadline,
        groups: NDArray[np.int64] | None,
    ) -> None:
        self.model, self.ids, self.method, self.seed = model, ids, method, seed
        self.ledger, self.deadline = ledger, deadline
        held, self.known = divided(ids, seed, groups)
        self.held = judged(model, held)
        self.wanted = last_outputs(model, self.held)
        self.lessons = PerturbedBatches(model, self.known, method, seed, ledger)

    def smallest(self, sizes: Sizes, provenance: dict[str, Any]) -> StochasticWFA:
        """The automaton that is chosen among the sizes; its provenance tells what was tried, and what stopped it."""
        automata: list[StochasticWFA] = []
        for number, size in enumerate(sizes.tried):
            if automata and (self.deadline.is_over or Stop.of(automata[-1].provenance) is not None):
                break
            deadline = self.deadline.part(1 / (len(sizes.tried) - number))
            automata.append(self.fitted(size, provenance, deadline))
        trials = [
            SizeTrial(wfa.states - 1, int(wfa.summary()["word_classes"]), *self.measured(wfa)) for wfa in automata
        ]
        chosen = sizes.chosen(trials)
        frontier = {"texts": len(self.held), "loss": sizes.loss, "chosen": chosen}
        automata[chosen].provenance["frontier"] = frontier | {"tried": [asdict(trial) for trial in trials]}
        return automata[chosen]

    def fitted(self, size: Size, provenance: dict[str, Any], deadline: Deadline) -> StochasticWFA:
        """Fit from several starts for a while, then from the best of them to the end."""
        method, names = self.method, views(self.model, self.ledger)
        rng = np.random.default_rng([self.seed, *size])
        forming, epochs, final = int(method.start_epochs), int(method.epochs), int(method.final_epochs)
        passes = len(names) * forming + epochs + final
        title = f"fitting {size.states + 1} states, {size.clusters} word clusters"
        found: list[Effects] = []
        for name in names:
            if found and deadline.share_used > _FORMING:
                break  # one start took long enough
            found.append(effects(self.model, self.known, size.states, name, method.prefixes, rng, self.ledger))
        progress.start(title, passes)
        formed: list[Fit] = []
        for number, each in enumerate(found):
            start = started(each, method.spread * size.clusters, rng)
            lessons, time = map(self.lessons.numbered, count()), deadline.part(_FORMING / (1 - number * _FORMING))
            course = fit(start, each.numbers, forming, 0, lessons, method, rng, time)
            ended = self._ended(course, forming)
            formed.append(merged(ended.reached, each.counts, size.clusters, rng))
            if ended.by == INTERRUPT:
                break
        divergences = [self.measured(automaton_of(each, self.model, self.held, {}))[1] for each in formed]
        best = int(np.argmin(divergences))
        if ended.by != INTERRUPT:
            lessons, time = map(self.lessons.numbered, count(forming)), deadline.part(_FITTED)
            planned = epochs, final
            course = fit(formed[best], found[best].numbers, *planned, lessons, method, rng, time)
            ended = self._ended(course, sum(planned))
        else:
            ended = ended._replace(reached=formed[best], passes=0)
        progress.finish()
        told = provenance | {"view": names[best]} | ended.told(epochs + final)
        return automaton_of(ended.reached, self.model, self.ids, told)

    def _ended(self, course: Iterator[Fit], planned: int) -> _Ended:
        """What a course of fitting ends with, told on the way; Ctrl-C ends it after a pass or more."""
        passes, reached = 0, None
        try:
            for passes, reached in enumerate(course, 1):
                said = ""
                if passes % _PASSES_PER_LOOK == 0:
                    cr, jsd = self.measured(automaton_of(reached, self.model, self.held, {}))
                    said = f"CR {cr:.3f}, JSD {jsd:.4f}"
                progress.advance(1, said)
        except KeyboardInterrupt:
            if reached is None:
                raise
            return _Ended(reached, passes, INTERRUPT)
        if reached is None:
            raise WfalensError("fitting ended before its first pass")
        return _Ended(reached, passes, TIME if passes < planned else None)

    def measured(self, wfa: StochasticWFA) -> Rates:
        """CR and JSD on the held-out texts."""
        return rates(wfa, self.held, self.wanted)
