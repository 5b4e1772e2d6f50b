"""Probing as a pass: on an engine, a range of words at a time, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.completion.probing import Representatives, probe_rows, words_per_call
from wfalens.extraction.completion.questions import Questions
from wfalens.extraction.counts.transitions import TransitionCounts
from wfalens.extraction.states.abstraction import States
from wfalens.extraction.states.views import View
from wfalens.models.contract import PrefixClassifier
from wfalens.scale.engines.engine import ModelSource
from wfalens.scale.map_blocks import Facts, Pass, run_pass
from wfalens.scale.run_config import Session
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
            return probe_rows(model, self.representatives, self.states, self.view, words, self.hardness)

        return probe


def probe(
    questions: Questions, states: States, view: View, model: PrefixClassifier, session: Session
) -> TransitionCounts:
    """The answers to all questions; ranges of words that were probed before are read from their parts."""
    words, parts = questions.words, session.parts
    session.check_room(
        _BYTES_PER_ROW * len(words) * len(states),
        f"probing {len(words):,} words (a lower limit of queries asks about fewer)",
    )
    task = ProbeTask(
        session.model_source(model),
        questions.representatives,
        states,
        view,
        words,
        questions.hardness,
        _CALLS * words_per_call(questions.representatives),
    )
    jobs = range(-(-len(words) // task.words_per_job))

    def keep(job: int, answers: TransitionCounts) -> tuple[Facts, str]:
        parts.write(_name(job), {}, {"keys": answers.keys, "counts": answers.counts})
        return {"part": job, "of": len(jobs)}, ""

    work = Pass(
        title="probing the model",
        event="probe",
        task=task,
        name=lambda job: f"probing, part {job + 1} of {len(jobs)}",
        keep=keep,
    )
    left = [job for job in jobs if parts.read(_name(job), ()) is None]
    run_pass(work, left, session.engine, session.journal)
    files = [parts.read(_name(job)) for job in jobs]
    # ranges hold rising words, so their keys follow each other
    keys, counts = (
        np.concatenate([file.tensor(name, "i") for file in files if file is not None]) for name in ("keys", "counts")
    )
    return TransitionCounts(len(states), keys, counts)


def _name(job: int) -> str:
    return f"probe-{job:08d}"
