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
from wfalens.extraction.extractor import CORPUS
from wfalens.extraction.fitting import fit_rows
from wfalens.extraction.parts import PartsFolder
from wfalens.extraction.plan import Plan
from wfalens.extraction.probing import ANSWERS_PER_BATCH, Representatives, choose_representatives, probe_rows
from wfalens.extraction.stream import Stream
from wfalens.extraction.transitions import TransitionCounts
from wfalens.extraction.views import View, see
from wfalens.models.contract import StepwiseClassifier
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged
from wfalens.threads import limit_model_threads

_BATCHES = 8  # of probing in a job
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


def completed(
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    words: NDArray[np.int32],
    per_state: int,
    centres: NDArray[np.float64],
    self_transition_share: float,
    folder: PartsFolder,
    progress: Progress,
) -> tuple[Completion, NDArray[np.float64]]:
    """The rule, and the centres, which fitting moves; `ids` are the sample, from which representatives come."""
    extractor = plan.extractor
    if extractor.completion == Null.name:
        return Null(), centres
    if extractor.completion == Uniform.name:
        return Uniform(), centres
    if extractor.completion == Empirical.name:
        beta = 1 - self_transition_share if extractor.beta == CORPUS else float(extractor.beta)
        return Empirical(beta, extractor.distance), centres
    fits = extractor.completion == Fitted.name
    stream.check_room(
        _BYTES_PER_ROW * len(words) * len(plan.states), f"probing {len(words):,} words (--queries asks about fewer)"
    )
    rng = np.random.default_rng(np.random.SeedSequence(extractor.seed).spawn(3)[2])
    path = plan.states.assign(see(model, ids, plan.view, progress).points)
    task = _task(stream, plan, model, choose_representatives(ids, path, per_state, rng), words)
    counts = _probed(stream, task, folder, progress)
    rows = rows_from_keys(counts.keys, counts.counts, len(model.encoder.vocabulary), len(plan.states))
    if not fits:
        return Probe(extractor.strength, per_state, rows), centres
    fitted, moved = fit_rows(model, ids, rows, centres, extractor.fitting, rng, progress)
    return Fitted(fitted, float(np.abs(moved - centres).sum(1).mean())), moved


def _task(
    stream: Stream, plan: Plan, model: StepwiseClassifier, chosen: Representatives, words: NDArray[np.int32]
) -> ProbeTask:
    fits = plan.extractor.completion == Fitted.name
    return ProbeTask(
        stream.engine.source(model, stream.model_file),
        chosen,
        plan.states,
        plan.view,
        words,
        plan.extractor.fitting.hardness if fits else None,
        _BATCHES * max(1, ANSWERS_PER_BATCH // len(chosen.state)),
    )


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
