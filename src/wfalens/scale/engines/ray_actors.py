"""A team of Ray actors over jobs: whoever dies is replaced, and the job that it had is tried again."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from wfalens import __version__
from wfalens.errors import InputError, ModelError, WfalensError
from wfalens.scale.engines.engine import ATTEMPTS, Done, Failed, Hear, Job, Result, Retry, Task, attempt
from wfalens.threads import THREADS_VARIABLE

_PATIENCE = 30.0  # seconds without any worker before we say so
_GIST = 120  # characters of what Ray tells of an end
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Origin:
    """Where a run comes from: what workers elsewhere must share with it."""

    version: str
    machine: str
    folder: str

    @classmethod
    def here(cls) -> Origin:
        return cls(__version__, socket.gethostname(), str(Path.cwd()))


class Worker:
    """What runs in an actor's process."""

    def prepare(self, origin: Origin, shipped: list[Any]) -> WfalensError | None:
        """Make ready for jobs; -> what a user has to mend first. The task is fetched when the versions agree."""
        import ray

        machine = socket.gethostname()
        if origin.version != __version__:
            return InputError(
                f"the Ray worker on {machine} has wfalens {__version__}, this run {origin.version}; install one "
                "version on all machines"
            )
        self._elsewhere = machine if machine != origin.machine else None
        os.environ[THREADS_VARIABLE] = "1"  # an actor has one CPU
        with contextlib.suppress(OSError):  # names of files may be relative; a machine without the folder tells later
            os.chdir(origin.folder)
        try:
            self._function = ray.get(shipped[0]).prepare()
        except WfalensError as error:
            return error
        return None

    def run(self, job: Any) -> tuple[Done[Any, Any] | Failed[Any], list[Retry[Any]]] | WfalensError:
        """What became of a job and its retries, or why this machine can do none."""
        heard: list[Retry[Any]] = []
        outcome = attempt(self._function, job, heard.append)
        if self._elsewhere is None or isinstance(outcome, Done) or outcome.mendable:
            return outcome, heard
        if outcome.reason.startswith(FileNotFoundError.__name__):
            return InputError(f"{self._elsewhere} must see all files under the same names ({outcome.reason})")
        return replace(outcome, reason=f"{outcome.reason} (on {self._elsewhere})"), heard


def run_on_actors(
    ray: Any, task: Task[Job, Result], jobs: Sequence[Job], workers: int, hear: Hear[Job]
) -> Iterator[Done[Job, Result] | Failed[Job]]:
    actor_class = ray.remote(num_cpus=1)(Worker)
    shipped = _put(ray, task)
    origin = Origin.here()
    waiting = deque((job, 1) for job in jobs)
    asked: dict[Any, tuple[Any, Any, int]] = {}  # by the promised answer: actor, job (None: to prepare), attempt
    idle: list[Any] = []
    open_jobs, lost = len(jobs), 0
    patience: float | None = _PATIENCE

    def hire() -> None:
        actor = actor_class.remote()
        asked[actor.prepare.remote(origin, [shipped])] = actor, None, 0

    def deal() -> None:
        """Give jobs to all who have none: one that comes back may find the others idle, and no CPU for a new actor."""
        while idle and waiting:
            actor, (job, number) = idle.pop(), waiting.popleft()
            asked[actor.run.remote(job)] = actor, job, number

    try:
        for _ in range(min(workers, open_jobs)):
            hire()
        while open_jobs:
            answers, _ = ray.wait(list(asked), num_returns=1, timeout=patience)
            if not answers:
                _LOG.warning("note: no Ray worker is ready yet; the cluster's CPUs may be taken; waiting")
                patience = None
                continue
            actor, job, number = asked.pop(answers[0])
            try:
                said = ray.get(answers[0])
            except ray.exceptions.RayError as error:
                ray.kill(actor)  # it may have lost its answer only
                reason = f"the Ray worker ended ({_told(error)})"
                if job is None:
                    lost += 1
                    if lost >= ATTEMPTS:
                        raise ModelError(f"{reason} while it loaded the model{_remedy(reason)}") from None
                elif number < ATTEMPTS:
                    hear(Retry(job, reason, number + 1))
                    waiting.append((job, number + 1))
                else:
                    open_jobs -= 1
                    yield Failed(job, reason, number, mendable=False)
                if open_jobs:
                    hire()
                deal()
                continue
            idle.append(actor)
            if isinstance(said, WfalensError):
                raise said
            if job is None:
                lost, patience = 0, None
                deal()
                continue
            outcome, heard = said
            for retry in heard:
                hear(retry)
            open_jobs -= 1
            deal()  # before the result is used, so that the worker does not wait for it
            yield outcome
    finally:
        for actor in [*idle, *(actor for actor, _, _ in asked.values())]:
            ray.kill(actor)


def _put(ray: Any, task: Task[Any, Any]) -> Any:
    try:
        return ray.put(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise InputError(f"this model cannot be sent to Ray's workers ({reason}); use the engine local") from None


def _told(error: Exception) -> str:
    """The gist of Ray's many lines: what kind of end, and from the last line, which tells the cause, its beginning."""
    *_, last = ["", *(line for line in str(error).splitlines() if line.strip())]
    return f"{type(error).__name__}: {shorten(last, _GIST, placeholder=' …')}"


def _remedy(reason: str) -> str:
    return "; every machine needs what is installed here" if "ModuleNotFoundError" in reason else ""
