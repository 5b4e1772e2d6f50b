"""What a worker does with a job, wherever it runs: it tries several times, and says what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wfalens.errors import WfalensError

ATTEMPTS = 3


@dataclass(frozen=True)
class Done:
    """What a job gave."""

    job: Any
    result: Any
    seconds: float
    retries: tuple[str, ...] = ()  # why it was tried again, each time


@dataclass(frozen=True)
class Failed:
    """A job that was given up, and why; `fixable`: by the user, so that trying again is useless."""

    job: Any
    reason: str
    retries: tuple[str, ...]
    fixable: bool = False
    code: str = "error"


Outcome = Done | Failed


def attempt(function: Callable[[Any], Any], job: Any) -> Outcome:
    """Do a job, several times if need be."""
    began, reasons = time.perf_counter(), tuple[str, ...]()
    while True:
        try:
            return Done(job, function(job), time.perf_counter() - began, reasons)
        except WfalensError as error:
            return Failed(job, str(error), reasons, fixable=True, code=error.code)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            if len(reasons) + 1 == ATTEMPTS:
                return Failed(job, reason, reasons)
            reasons = (*reasons, reason)
