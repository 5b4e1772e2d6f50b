"""Background jobs that take seconds: each is started once, polled until it is done, and may be cancelled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple

from wfalens.errors import WfalensError
from wfalens.progress import Progress, shown_on

_LOG = logging.getLogger(__name__)
Task = Callable[[], dict[str, Any]]


class Jobs:
    """Named tasks; each runs at most once, one at a time, in the order in which they are first asked for.

    A task that was cancelled starts again when it is asked for again.
    """

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self.tasks = dict(tasks)
        self._begun: dict[str, _Begun] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, "wfalens-job")

    def begin(self, name: str) -> _Begun:
        with self._lock:
            if name not in self._begun:
                share = _Share()
                self._begun[name] = _Begun(self._pool.submit(_reported, self.tasks[name], share), share)
            return self._begun[name]

    def cancel(self, name: str) -> None:
        """Forget a task that is not done; if it runs, it ends at its next report of progress."""
        with self._lock:
            begun = self._begun.get(name)
            if begun is not None and not begun.future.done():
                begun.share.stopped = True
                begun.future.cancel()
                del self._begun[name]

    def answer(self, name: str) -> dict[str, Any]:
        """`{"state": "done", "result": …}`, `{"state": "working", …}` or `{"state": "failed", "error": …}`."""
        future, share = self.begin(name)
        if not future.done():
            return {"state": "working", **share.to_dict()}
        if future.cancelled():
            return {"state": "failed", "error": "this was cancelled"}
        error = future.exception()
        if error is None:
            return {"state": "done", "result": future.result()}
        if isinstance(error, WfalensError):
            return {"state": "failed", "error": str(error)}
        _LOG.error("the view %s failed", name, exc_info=error)
        return {"state": "failed", "error": "this view could not be made; see the server's log"}

    def close(self) -> None:
        """Cancel jobs that have not begun; the running one ends at its next report of progress."""
        for begun in list(self._begun.values()):
            begun.share.stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)


def _reported(task: Task, share: _Share) -> dict[str, Any]:
    with shown_on(share):
        return task()


class _StoppedError(Exception):
    """Nobody will ask for the result: it was cancelled, or the server is stopping."""


class _Share(Progress):
    """How far a task has come."""

    def __init__(self) -> None:
        self._task, self._total, self._done, self.stopped = "", 0, 0, False

    def start(self, task: str, total: int | None = None) -> None:
        self._task, self._total, self._done = task, total or 0, 0
        self.advance(0)

    def advance(self, units: int = 1, note: str = "") -> None:  # noqa: ARG002 - the page shows the share only
        if self.stopped:
            raise _StoppedError
        self._done += units

    def to_dict(self) -> dict[str, Any]:
        share = round(min(1.0, self._done / self._total), 3) if self._total else None
        return {"task": self._task or "waiting", "share": share}


class _Begun(NamedTuple):
    """A task that was asked for."""

    future: Future[dict[str, Any]]
    share: _Share
