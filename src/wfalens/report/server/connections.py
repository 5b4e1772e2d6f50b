"""Limits of the live page's connections: how many there are, how long each may take, and how much is logged of them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 128
BACKLOG = 32  # connections accepted at once: these have file handles before they are counted
REQUEST_SECONDS = 30.0  # from the connection or the last answer to the last byte of a request
ANSWER_SECONDS = 90.0  # from there until the answer is sent
_RECORDS, _SECONDS = 20, 60.0
_LOGGERS = ("asyncio", "uvicorn.error", "wfalens.report.server.guard", "wfalens.report.server.jobs")


class LimitedProtocol(H11Protocol):
    """HTTP in which every connection has a deadline, and a new one takes the place of the longest waiting one."""

    _deadline: asyncio.TimerHandle | None = None

    @property
    def _waits(self) -> bool:
        """Whether the client has to send something."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit(REQUEST_SECONDS)
        kept = [
            each for each in self.connections if isinstance(each, LimitedProtocol) and not each.transport.is_closing()
        ]
        if len(kept) > MOST_CONNECTIONS:
            waiting = (each for each in kept if each._waits)  # this one, if no other
            min(waiting, key=lambda each: each._deadline.when() if each._deadline else 0.0).transport.abort()

    def data_received(self, data: bytes) -> None:
        waited = self._waits
        super().data_received(data)
        if waited and not self._waits:
            self._limit(ANSWER_SECONDS)

    def on_response_complete(self) -> None:
        self._limit(REQUEST_SECONDS)
        super().on_response_complete()
        if not self._waits:  # the next request was there already
            self._limit(ANSWER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _limit(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)


class LogLimit(logging.Filter):
    """Lets a few records a minute pass, so that no client can fill the disk."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed: deque[float] = deque(maxlen=_RECORDS)

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - whatever it says
        now = self._clock()
        if len(self._passed) == _RECORDS and now - self._passed[0] < _SECONDS:
            return False
        self._passed.append(now)
        return True


def limit_logging() -> None:
    """One limit for all that clients can make the server log."""
    limit = LogLimit()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(limit)
