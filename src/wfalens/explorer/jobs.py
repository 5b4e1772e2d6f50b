"""Background jobs that take seconds: each is started once and polled until it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from wfalens.errors import WfalensError
from wfalens.progress import Progress

_LOG = logging.getLogger(__name__)
Task = Callable[[Progress], dict[str, Any]]


class Jobs:
    """Named tasks; each runs at most once, one at a time, in the order in which they are first asked for."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = dict(tasks)
        self._progress = {name: _Share() for name in tasks}
        self._begun: dict[str, Future[dict[str, Any]]] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, "wfalens-job")

    @property
    def names(self) -> Collection[str]:
        return self._tasks.keys()

    def begin(self, name: str) -> None:
        with self._lock:
            if name not in self._begun:
                self._begun[name] = self._pool.submit(self._tasks[name], self._progress[name])

    def answer(self, name: str) -> dict[str, Any]:
        """`{"state": "done", "result": …}`, `{"state": "working", …}` or `{"state": "failed", "error": …}`."""
        self.begin(name)
        future = self._begun[name]
        if not future.done():
            return {"state": "working", **self._progress[name].as_json()}
        error = future.exception()
        if error is None:
            return {"state": "done", "result": future.result()}
        if isinstance(error, WfalensError):
            return {"state": "failed", "error": str(error)}
        _LOG.error("the view %s failed", name, exc_info=error)
        return {"state": "failed", "error": "this view could not be made; the server's log tells why"}

    def close(self) -> None:
        """Cancel jobs that have not begun; the running one ends at its next report of progress."""
        for share in self._progress.values():
            share.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)


class _StoppedError(Exception):
    """The server is stopping, and nobody will ask for the result."""


class _Share(Progress):
    """How far a task has come."""

    def __init__(self) -> None:
        self._task, self._total, self._done, self._stopped = "", 0, 0, False

    def stop(self) -> None:
        self._stopped = True

    def start(self, task: str, total: int | None = None) -> None:
        self._task, self._total, self._done = task, total or 0, 0

    def advance(self, units: int = 1, note: str = "") -> None:  # noqa: ARG002 - the page shows the share only
        if self._stopped:
            raise _StoppedError
        self._done += units

    def as_json(self) -> dict[str, Any]:
        share = min(1.0, self._done / self._total) if self._total else None
        return {"task": self._task or "waiting", "share": None if share is None else round(share, 3)}
