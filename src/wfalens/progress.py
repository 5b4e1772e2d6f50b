"""Progress of long work: algorithms report to the current display and never print.

Library functions report with `progress.track` (or `start`, `advance` and `finish`) and `say`; nobody passes an object
around. By default nothing is shown, and what a person should know goes to the logger "wfalens". Functions with a
`progress` argument show a bar where it is True.
"""

from __future__ import annotations

import atexit
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from wfalens.messages import printable

if TYPE_CHECKING:
    from rich.console import Console

LOGGER = logging.getLogger("wfalens")
Item = TypeVar("Item")
_PATIENCE = 1.0  # seconds of work before a bar appears
_SELDOM = 30.0  # seconds between lines where there is no terminal


class Progress:
    """A display that shows nothing and logs messages; the base class of all displays."""

    def start(self, task: str, total: int | None = None) -> None:
        """A task begins; `total` is its number of units, where it is known."""

    def advance(self, units: int = 1, note: str = "") -> None:
        """Units of the current task are done; `note` is a short status such as the loss."""

    def note(self, status: str) -> None:
        """How far a part of the current task is."""

    def finish(self) -> None:
        """The current task has ended."""

    def say(self, message: str) -> None:
        """A fact that a person should know, such as texts that were truncated."""
        LOGGER.info(message)


class TerminalProgress(Progress):
    """On stderr: a bar for work that takes longer than a second; into a file or a pipe, a line now and then."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(file=sys.stderr)
        self._last_line = time.monotonic() - _SELDOM + _PATIENCE  # work announces itself at once
        self._bar: Any = None
        self._task, self._done, self._began = "", 0, 0.0
        self._total: int | None = None
        atexit.register(self.finish)  # a bar that a stop left behind hides the cursor

    def start(self, task: str, total: int | None = None) -> None:
        self.finish()
        self._task, self._total, self._done, self._began = task, total, 0, time.monotonic()

    def advance(self, units: int = 1, note: str = "") -> None:
        self._done += units
        label = printable(f"{self._task} ({note})" if note else self._task)
        if not self._console.is_terminal:
            self._print_line(label)
        elif self._bar is not None or time.monotonic() - self._began >= _PATIENCE:
            self._draw(label)

    def note(self, status: str) -> None:
        self.advance(0, status)

    def _draw(self, label: str) -> None:
        from rich.markup import escape

        if self._bar is None:
            self._bar = _bar(self._console)
            self._bar.add_task(self._task, total=self._total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=self._done, description=escape(label))

    def _print_line(self, label: str) -> None:
        now = time.monotonic()
        if now - self._last_line < _SELDOM or self._done == self._total:
            return
        self._last_line = now
        done = f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
        self.say(f"{label}: {done}")

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, message: str) -> None:
        self._console.print(printable(message), markup=False, highlight=False, soft_wrap=True)


class _Shown:
    """A display and the tasks that are open on it: the outermost is shown, with the next one in it as a note."""

    def __init__(self, display: Progress) -> None:
        self.display, self.depth = display, 0
        self.inner, self.inner_total, self.inner_done = "", 0, 0


_SILENT = Progress()
_current: ContextVar[_Shown] = ContextVar("wfalens.progress", default=_Shown(_SILENT))  # noqa: B039


@contextmanager
def shown_on(display: Progress) -> Iterator[None]:
    """Report to a display while the block runs."""
    token = _current.set(_Shown(display))
    try:
        yield
    finally:
        _current.reset(token)
        display.finish()


@contextmanager
def shown(progress: bool) -> Iterator[None]:
    """Show a bar on stderr while the block runs, unless something is shown already."""
    if progress and _current.get().display is _SILENT:
        with shown_on(TerminalProgress()):
            yield
    else:
        yield


def start(task: str, total: int | None = None) -> None:
    """A task begins; `total` is its number of units, where it is known."""
    shown = _current.get()
    shown.depth += 1
    if shown.depth == 1:
        shown.display.start(task, total)
    elif shown.depth == 2:
        shown.inner, shown.inner_total, shown.inner_done = task, total or 0, 0


def advance(units: int = 1, note: str = "") -> None:
    """Units of the current task are done; `note` is a short status such as the loss."""
    shown = _current.get()
    if shown.depth <= 1:
        shown.display.advance(units, note)
    elif shown.depth == 2 and shown.inner_total:
        shown.inner_done += units
        shown.display.note(f"{shown.inner}: {shown.inner_done:,} of {shown.inner_total:,}")


def finish() -> None:
    """The current task has ended."""
    shown = _current.get()
    shown.depth = max(0, shown.depth - 1)
    if shown.depth == 0:
        shown.display.finish()


def track(items: Sequence[Item], task: str) -> Iterator[Item]:
    """Items one by one, each of them a unit of a task."""
    start(task, len(items))
    for item in items:
        yield item
        advance()
    finish()


def say(message: str) -> None:
    """A fact that a person should know; without a display it is logged."""
    _current.get().display.say(message)


def _bar(console: Console) -> Any:
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return RichProgress(*columns, TimeRemainingColumn(), console=console, transient=True)
