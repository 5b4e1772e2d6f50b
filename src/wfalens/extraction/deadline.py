"""How long an extraction may take: a stretch of the wall clock, dealt out to its steps; and what stopped it early."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wfalens.automaton.serving import recorded
from wfalens.errors import InputError
from wfalens.validation import Bounds, real

Clock = Callable[[], float]  # seconds from any beginning
_UNITS = {"s": 1, "m": 60, "h": 3600}
_SECONDS = Bounds(real, 0, 1e9, excluded=(0,))


class Deadline:
    """The end of a stretch of time that begins now; without `seconds` there is none."""

    def __init__(self, seconds: float | None = None, clock: Clock = time.monotonic) -> None:
        self.seconds, self.clock, self.began = seconds, clock, clock()

    @property
    def used(self) -> float:
        """Seconds since it began."""
        return self.clock() - self.began

    @property
    def left(self) -> float | None:
        return None if self.seconds is None else max(0.0, self.seconds - self.used)

    @property
    def share_used(self) -> float:
        """Of the time: 0 at the beginning, and always where there is no end; 1 at the end."""
        if self.seconds is None:
            return 0.0
        return min(1.0, self.used / self.seconds) if self.seconds > 0 else 1.0

    @property
    def is_over(self) -> bool:
        return self.share_used >= 1

    def allows(self, seconds: float) -> bool:
        """Whether work of about so many seconds would end in time."""
        return self.left is None or seconds <= self.left

    def part(self, share: float, reserved: float = 0.0) -> Deadline:
        """A share of the time that is left, but for some reserved seconds, from now on."""
        return Deadline(None if self.left is None else share * max(0.0, self.left - reserved), self.clock)

    def seconds_of(self, work: Callable[[], object]) -> float:
        """How long work takes that is done again at the end; where there is no end it is not tried."""
        if self.seconds is None:
            return 0.0
        before = self.used
        work()
        return self.used - before

    def after(self, used: float) -> Deadline:
        """The same for work that was stopped after so many seconds and goes on."""
        later = Deadline(self.seconds, self.clock)
        later.began = self.began - used
        return later


NEVER = Deadline()
INTERRUPT, TIME = "interrupt", "time"  # what stops an extraction early


@dataclass(frozen=True)
class Stop:
    """Work that ended before its last pass, and delivered the best so far."""

    by: str
    passes: int  # begun or done
    planned: int

    @classmethod
    def of(cls, provenance: Mapping[str, Any]) -> Stop | None:
        """What an automaton's provenance tells; None: it was not stopped, or nothing sensible is told."""
        try:
            return cls(**provenance["stopped"])
        except (KeyError, TypeError):
            return None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def stop_sentence(provenance: Mapping[str, Any]) -> str | None:
    """A sentence, if an automaton is the best so far of work that ended early; else None."""
    stop, found = Stop.of(provenance), recorded(provenance)
    if stop is None:
        return None
    reached = "" if found is None else f" (CR {found.cr:.3f} on extraction texts set aside)"
    when = f"after {stop.passes} of {stop.planned} passes" if stop.planned else "before other kinds were tried"
    ended = f"{when}; this is the best automaton so far{reached}"
    return f"time was over {ended}; more time may do better" if stop.by == TIME else f"stopped {ended}"


def seconds_of(given: Any) -> float:
    """A time as a number of seconds: 30, "30s", "2m" or "1.5h"."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*", given) if isinstance(given, str) else None
    if isinstance(given, str) and found is None:
        raise InputError(f"time must be a number of seconds such as 30, 30s, 2m or 1h, not {given!r}")
    value = given if found is None else float(found[1]) * _UNITS[found[2] or "s"]
    seconds: float = _SECONDS.checked("time", value)
    return seconds
