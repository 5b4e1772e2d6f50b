"""The rule for missing rows of a stream's automaton; probing runs on the engine, a range of words at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Empirical, Fitted, Null, Probe, Uniform
from wfalens.automaton.rows import rows_from_keys
from wfalens.engines.contract import Failed, ModelSource
from wfalens.errors import ModelError
from wfalens.extraction.abstraction import States
from wfalens.extraction.extractor import CORPUS, Extractor
from wfalens.extraction.fitting import fit_rows
from wfalens.extraction.parts import PartsFolder
from wfalens.extraction.plan import Plan
from wfalens.extraction.probing import (
    Representatives,
    choose_representatives,
    probe_rows,
    probing_queries,
    words_per_call,
)
from wfalens.extraction.queries import PROBING
from wfalens.extraction.stream import Stream
from wfalens.extraction.transitions import TransitionCounts
from wfalens.extraction.views import View, see
from wfalens.models.contract import StepwiseClassifier
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged
from wfalens.threads import limit_model_threads

_CALLS = 8  # of the model in a job
_BYTES_PER_ROW = 250  # of a probed row while it is made, by experience


@dataclass(frozen=True, eq=False)
class ProbeTask:
    """Asks the model what some words do, the job being the number of the range."""

    model: ModelSource
    representatives: Representatives
    states: States
    view: View
    words: NDArray[np.int32]
    hardness: float | None
    words_per_job: int

    def prepare(self) -> Callable[[int], TransitionCounts]:
        model = self.model.open()
        limit_model_threads()

        def probe(number: int) -> TransitionCounts:
            words = self.words[number * self.words_per_job : (number + 1) * self.words_per_job]
            return probe_rows(model, self.representatives, self.states, self.view, words, self.hardness, SILENT)

        return probe


@dataclass(frozen=True, eq=False)
class Questions:
    """Which words the model is asked about, from which prefixes."""

    words: NDArray[np.int32]
    representatives: Representatives
    rng: np.random.Generator  # goes on in fitting

    @classmethod
    def chosen(
        cls,
        plan: Plan,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        word_counts: NDArray[np.int64],
        progress: Progress,
    ) -> Questions:
        """What the queries pay for; representatives come from the sample `ids`."""
        rng = np.random.default_rng(np.random.SeedSequence(plan.extractor.seed).spawn(3)[2])
        path = plan.states.assign(see(model, ids, plan.view).points)
        chosen = choose_representatives(ids, path, plan.extractor.representatives, rng)
        everything = np.arange(1, len(word_counts), dtype=np.int32)
        words, chosen = plan.extractor._affordable(
            model, everything, word_counts, chosen, plan.ledger, None, False, progress
        )
        return cls(words, chosen, rng)


def rule(extractor: Extractor, self_transition_share: float) -> Completion:
    """The completions that ask the model nothing."""
    if extractor.completion == Null.name:
        return Null()
    if extractor.completion == Uniform.name:
        return Uniform()
    beta = 1 - self_transition_share if extractor.beta == CORPUS else float(extractor.beta)
    return Empirical(beta, extractor.distance)


def learned(
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    questions: Questions,
    centres: NDArray[np.float64],
    folder: PartsFolder,
    progress: Progress,
) -> tuple[Probe | Fitted, NDArray[np.float64]]:
    """The completions that ask the model, and the centres, which fitting moves; `ids` are the sample."""
    extractor, words, chosen = plan.extractor, questions.words, questions.representatives
    fits = extractor.completion == Fitted.name
    stream.check_room(
        _BYTES_PER_ROW * len(words) * len(plan.states), f"probing {len(words):,} words (--queries asks about fewer)"
    )
    plan.ledger.enter(PROBING, probing_queries(model, chosen, len(words)))
    task = ProbeTask(
        stream.engine.source(model, stream.model_file),
        chosen,
        plan.states,
        plan.view,
        words,
        extractor.fitting.hardness if fits else None,
        _CALLS * words_per_call(chosen),
    )
    counts = _probed(stream, task, folder, progress)
    rows = rows_from_keys(counts.keys, counts.counts, len(model.encoder.vocabulary), len(plan.states))
    if not fits:
        return Probe(extractor.strength, chosen.per_state, rows), centres
    within = extractor.fitting.within(plan.ledger.left(), ids)
    fitted, moved = fit_rows(model, ids, rows, centres, within, questions.rng, progress, plan.ledger)
    return Fitted(fitted, float(np.abs(moved - centres).sum(1).mean())), moved


def _probed(stream: Stream, task: ProbeTask, folder: PartsFolder, progress: Progress) -> TransitionCounts:
    """All probed rows; ranges of words that were probed before are read from their parts."""
    jobs = -(-len(task.words) // task.words_per_job)
    found = {number: file for number in range(jobs) if (file := folder.read(f"probe-{number:08d}"))}
    progress.start("probing the model", jobs)
    progress.advance(len(found))
    for outcome in stream.engine.run(task, [number for number in range(jobs) if number not in found], stream.heard()):
        if isinstance(outcome, Failed):
            raise ModelError(f"probing failed: {outcome.reason}")
        tensors = {"keys": outcome.result.keys, "counts": outcome.result.counts}
        folder.write(f"probe-{outcome.job:08d}", {}, tensors)
        stream.journal.write("probe", part=outcome.job, of=jobs, seconds=round(outcome.seconds, 3))
        progress.advance()
    progress.finish()
    files = [folder.read(f"probe-{number:08d}") for number in range(jobs)]
    # ranges hold rising words, so their keys follow each other
    keys, counts = (
        np.concatenate([file.tensor(name, "i") for file in files if file is not None]) for name in ("keys", "counts")
    )
    return TransitionCounts(len(task.states), keys, counts)
