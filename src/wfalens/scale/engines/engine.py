"""What every engine keeps: jobs in, one outcome for each out, in any order; which worker did it leaves no trace.

A task is prepared once per worker (there the model is loaded), then does job after job. Its result may depend on the
job alone. An error that a user can mend ends a job at once; any other failure, the death of the worker among them, is
tried again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from wfalens.errors import WfalensError
from wfalens.models.contract import PrefixClassifier

ATTEMPTS = 3

Job = TypeVar("Job")
Result = TypeVar("Result")
Job_contra = TypeVar("Job_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class Task(Protocol[Job_contra, Result_co]):
    """Work that can be sent to a worker."""

    def prepare(self) -> Callable[[Job_contra], Result_co]:
        """Called once per worker; what it returns may be called by several threads at a time."""
        ...


@dataclass(frozen=True)
class Done(Generic[Job, Result]):
    job: Job
    result: Result
    seconds: float


@dataclass(frozen=True)
class Failed(Generic[Job]):
    """A job that was given up, and why; `mendable`: by the user, so that trying again would be in vain."""

    job: Job
    reason: str
    attempts: int
    mendable: bool


@dataclass(frozen=True)
class Retry(Generic[Job]):
    """A job is tried again."""

    job: Job
    reason: str
    attempt: int


Hear = Callable[[Retry[Job]], None]


def deaf(_: Retry[Job]) -> None:
    """Hears of a retry and does nothing."""


class ModelSource(Protocol):
    """How a worker comes by the model."""

    def open(self) -> PrefixClassifier: ...


@dataclass(frozen=True, eq=False)
class ModelObject:
    """The model itself: shared between threads, sent to other processes."""

    model: PrefixClassifier

    def open(self) -> PrefixClassifier:
        return self.model


@dataclass(frozen=True)
class ModelFile:
    """A checkpoint that every worker loads for itself."""

    path: str

    def open(self) -> PrefixClassifier:
        from wfalens.models.wrapping import wrap

        model: PrefixClassifier = wrap(self.path)
        return model


class Engine(Protocol):
    """Runs tasks over jobs with a number of workers."""

    name: str
    workers: int
    shares_memory: bool  # whether workers live in this process

    def source(self, model: PrefixClassifier, path: Path | None) -> ModelSource:
        """How the workers should come by a model that is open here and may also lie in a file."""
        ...

    def run(
        self, task: Task[Job, Result], jobs: Sequence[Job], hear: Hear[Job] = deaf
    ) -> Iterator[Done[Job, Result] | Failed[Job]]:
        """One outcome for every job, as they come; only a few results wait at any time."""
        ...

    def close(self) -> None: ...


def attempt(function: Callable[[Job], Result], job: Job, hear: Hear[Job] = deaf) -> Done[Job, Result] | Failed[Job]:
    """Do a job, several times if need be."""
    began = time.perf_counter()
    reason = ""
    for number in range(1, ATTEMPTS + 1):
        if number > 1:
            hear(Retry(job, reason, number))
        try:
            return Done(job, function(job), time.perf_counter() - began)
        except WfalensError as error:
            return Failed(job, str(error), number, mendable=True)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    return Failed(job, reason, ATTEMPTS, mendable=False)
