"""The one loop of all passes: jobs go out to an engine, what comes back is kept, what fails is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from wfalens import progress
from wfalens.errors import InputError, ModelError
from wfalens.scale.engines.engine import Done, Engine, Failed, Job, Result, Retry, Task
from wfalens.scale.journal import NO_JOURNAL, Journal

Facts = Mapping[str, Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Pass(Generic[Job, Result]):
    """A task over many jobs.

    title      what progress shows
    event      what a finished job is called in the journal
    name       of a job, for people
    keep       takes a result; -> facts for the journal, and a note for the progress bar
    leave_out  takes a job that failed and why; None: a failure ends the run
    """

    title: str
    event: str
    task: Task[Job, Result]
    name: Callable[[Job], str]
    keep: Callable[[Job, Result], tuple[Facts, str]]
    leave_out: Callable[[Job, str], None] | None = None


def run_pass(
    work: Pass[Job, Result],
    jobs: Sequence[Job],
    engine: Engine,
    journal: Journal = NO_JOURNAL,
    after_each: Callable[[], None] | None = None,
) -> None:
    """Do all jobs, in any order; `after_each` is called when a job's result is kept."""

    def hear(retry: Retry[Job]) -> None:
        journal.write("retry", job=work.name(retry.job), attempt=retry.attempt, reason=retry.reason)

    progress.start(work.title, len(jobs))
    for outcome in engine.run(work.task, jobs, hear):
        note = ""
        if isinstance(outcome, Done):
            facts, note = work.keep(outcome.job, outcome.result)
            journal.write(work.event, name=work.name(outcome.job), **facts, seconds=round(outcome.seconds, 3))
        else:
            _give_up(work, outcome, journal)
        if after_each is not None:
            after_each()
        progress.advance(1, note)
    progress.finish()


def _give_up(work: Pass[Job, Result], failure: Failed[Job], journal: Journal) -> None:
    """Leave out a job that failed; where nothing may be left out, the run ends."""
    name = work.name(failure.job)
    journal.write("fail", name=name, reason=failure.reason)
    if work.leave_out is None:
        if failure.mendable:
            raise InputError(failure.reason)
        raise ModelError(f"{name}: failed {failure.attempts} times: {failure.reason}")
    reason = failure.reason if failure.reason.startswith(name) else f"{name}: {failure.reason}"
    progress.say(f"left out: {reason}")
    work.leave_out(failure.job, reason)
