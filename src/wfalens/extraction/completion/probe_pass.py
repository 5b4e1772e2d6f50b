"""Probing for a stream: it runs on the engine, a range of words at a time, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.extraction.completion.probing import Representatives, probe_rows, words_per_call
from wfalens.extraction.completion.questions import Questions
from wfalens.extraction.evidence.transitions import TransitionCounts
from wfalens.extraction.plan import Plan
from wfalens.extraction.states.abstraction import States
from wfalens.extraction.states.views import View
from wfalens.models.contract import StepwiseClassifier
from wfalens.passes.engines.contract import Failed, ModelSource
from wfalens.passes.parts import PartsFolder
from wfalens.passes.stream import Stream
from wfalens.progress import SILENT, Progress
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


def probe_stream(
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    questions: Questions,
    folder: PartsFolder,
    progress: Progress,
) -> TransitionCounts:
    """The answers to all questions; ranges of words that were probed before are read from their parts."""
    words = questions.words
    stream.check_room(
        _BYTES_PER_ROW * len(words) * len(plan.states), f"probing {len(words):,} words (--queries asks about fewer)"
    )
    task = ProbeTask(
        stream.engine.source(model, stream.model_file),
        questions.representatives,
        plan.states,
        plan.view,
        words,
        questions.hardness,
        _CALLS * words_per_call(questions.representatives),
    )
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
