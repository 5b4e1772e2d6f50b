"""What a worker does with a job, wherever it runs: it tries several times, and says what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from wfalens.errors import WfalensError

ATTEMPTS = 3
Job = TypeVar("Job")
Result = TypeVar("Result")
OnRetry = Callable[[Job, str, int], None]  # a job, why it is tried again, and the number of the attempt


@dataclass(frozen=True)
class Done(Generic[Job, Result]):
    job: Job
    result: Result
    seconds: float


@dataclass(frozen=True)
class Failed(Generic[Job]):
    """A job that was given up, and why; `fixable`: by the user, so that trying again is useless."""

    job: Job
    reason: str
    attempts: int
    fixable: bool
    code: str = "error"


def attempt(function: Callable[[Job], Result], job: Job, on_retry: OnRetry[Job]) -> Done[Job, Result] | Failed[Job]:
    """Do a job, several times if need be."""
    began, reason = time.perf_counter(), ""
    for number in range(1, ATTEMPTS + 1):
        if number > 1:
            on_retry(job, reason, number)
        try:
            return Done(job, function(job), time.perf_counter() - began)
        except WfalensError as error:
            return Failed(job, str(error), number, fixable=True, code=error.code)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
    return Failed(job, reason, ATTEMPTS, fixable=False)
