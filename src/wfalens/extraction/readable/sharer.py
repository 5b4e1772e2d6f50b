"""Extraction of automata whose words share rows, from end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import count
from typing import Any

import numpy as np

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.corpus.sources.blocks import Source
from wfalens.corpus.sources.files import TextFiles
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.extraction.completion.queries import Ledger, query_limit
from wfalens.extraction.forecast import most_probing, most_training, say_forecast, within
from wfalens.extraction.holding import divided
from wfalens.extraction.lessons import Lessons
from wfalens.extraction.provenance import about_corpus
from wfalens.extraction.readable.automaton_of import automaton_of
from wfalens.extraction.readable.fit import Fit, fit, merged, started
from wfalens.extraction.readable.sharing import Rung, Sharing, Size, Sizes
from wfalens.extraction.readable.start import effects, views
from wfalens.models.causality import check_causal
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import last_outputs
from wfalens.passes.run import DEFAULT_SAMPLE, Run
from wfalens.passes.survey import survey_corpus
from wfalens.progress import Progress
from wfalens.ragged import Ragged
from wfalens.threads import model_threads_limited

_PASSES_PER_LOOK = 5  # at held-out texts


def extract_shared(
    sizes: Sizes,
    sharing: Sharing,
    queries: int | None,
    seed: int,
    model: StepwiseClassifier,
    source: Source,
    run: Run,
    about: dict[str, Any],
    progress: Progress,
) -> StochasticWFA:
    """An extraction from end to end: of files, the automaton is fitted to a sample of their texts."""
    sample = DEFAULT_SAMPLE if isinstance(source, TextFiles) else None
    with run.opened(source, about, sample, progress) as session, model_threads_limited():
        survey = survey_corpus(session, model.encoder, seed)
        ids = survey.sample.ids
        if len(ids) < 2:
            raise InputError(f"{source.name}: fitting needs at least two texts with words in them")
        check_causal(model, ids)
        survey.tally.say_cut(progress, model.encoder.max_length)
        survey.tally.say_left_out(progress)
        ledger = Ledger(query_limit(queries, model))
        ledger.texts += len(ids.values)
        most = sum(
            most_probing(
                model, sharing.prefixes * size.states + 1, len(model.encoder.vocabulary), int(ids.lengths.max())
            )
            for size in sizes.tried
        )
        most += most_training(sharing.passes, sharing.tokens, ids)
        say_forecast(model, ids, len(ids.values), within(ledger, most), progress)
        provenance = {"corpus": about_corpus(source, survey, survey.tally), **about}
        wfa = _Sharer(model, ids, sharing, seed, ledger, progress).smallest(sizes, provenance)
        wfa.provenance["queries"] = ledger.to_json()
        return wfa


class _Sharer:
    """Fits to nine tenths of the texts, and measures on the others."""

    def __init__(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        sharing: Sharing,
        seed: int,
        ledger: Ledger,
        progress: Progress,
    ) -> None:
        self.model, self.ids, self.sharing, self.seed = model, ids, sharing, seed
        self.ledger, self.progress = ledger, progress
        self.held, self.known = divided(ids, seed)
        self.wanted = last_outputs(model, self.held)
        self.lessons = Lessons(model, self.known, sharing, seed, ledger)

    def smallest(self, sizes: Sizes, provenance: dict[str, Any]) -> StochasticWFA:
        """The automaton that is chosen among the sizes; its provenance tells what was tried."""
        automata = [self.fitted(size, provenance) for size in sizes.tried]
        rungs = [Rung(wfa.states - 1, int(wfa.summary()["word_classes"]), *self.measured(wfa)) for wfa in automata]
        chosen = sizes.chosen(rungs)
        frontier = {"texts": len(self.held), "loss": sizes.loss, "chosen": chosen}
        automata[chosen].provenance["frontier"] = frontier | {"tried": [asdict(rung) for rung in rungs]}
        return automata[chosen]

    def fitted(self, size: Size, provenance: dict[str, Any]) -> StochasticWFA:
        """Fit from several starts for a while, then from the best of them to the end."""
        sharing, names = self.sharing, views(self.model, self.ledger)
        rng = np.random.default_rng([self.seed, *size])
        passes = len(names) * sharing.forming + sharing.epochs + sharing.settling
        title = f"fitting {size.states + 1} states, {size.classes} classes of words"
        found = [
            effects(self.model, self.known, size.states, name, sharing.prefixes, rng, self.ledger, self.progress)
            for name in names
        ]
        self.progress.start(title, passes)
        formed = []
        for each in found:
            start = started(each, sharing.spread * size.classes, rng)
            reached = self._last(
                fit(start, each.numbers, sharing.forming, 0, map(self.lessons.numbered, count()), sharing, rng)
            )
            formed.append(merged(reached, each.counts, size.classes, rng))
        divergences = [self.measured(automaton_of(each, self.model, self.held, {}))[1] for each in formed]
        best = int(np.argmin(divergences))
        lessons = map(self.lessons.numbered, count(sharing.forming))
        course = fit(formed[best], found[best].numbers, sharing.epochs, sharing.settling, lessons, sharing, rng)
        reached = self._last(course)
        self.progress.finish()
        return automaton_of(reached, self.model, self.ids, provenance | {"view": names[best]})

    def _last(self, course: Iterator[Fit]) -> Fit:
        """What a course of fitting ends with, told on the way."""
        for number, reached in enumerate(course, 1):
            said = ""
            if number % _PASSES_PER_LOOK == 0:
                cr, jsd = self.measured(automaton_of(reached, self.model, self.held, {}))
                said = f"CR {cr:.3f}, JSD {jsd:.4f}"
            self.progress.advance(1, said)
        return reached

    def measured(self, wfa: StochasticWFA) -> tuple[float, float]:
        """CR and JSD on the held-out texts."""
        said = wfa.predict_proba(self.held)
        agrees = said.argmax(1) == self.wanted.argmax(1)
        return float(agrees.mean()), float(jensen_shannon(said, self.wanted).mean())
