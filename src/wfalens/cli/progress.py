"""Progress of long work, for the person who waits for it."""

from __future__ import annotations

import atexit
import time
from typing import TYPE_CHECKING

from rich.markup import escape

from wfalens.cli.output import NOTES, note
from wfalens.printable import printable
from wfalens.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE = 1.0  # seconds of work before a progress bar appears
_SELDOM = 30.0  # seconds between lines where there is no terminal


class TerminalProgress(Progress):
    """On stderr: a bar for work that takes longer than a second; into a file or a pipe, a line from time to time."""

    def __init__(self) -> None:
        self._told = time.monotonic()
        self._bar: RichProgress | None = None
        self._task, self._done, self._began = "", 0, 0.0
        self._total: int | None = None
        atexit.register(self.finish)  # a bar that a stop left behind hides the cursor

    def start(self, task: str, total: int | None = None) -> None:
        self.finish()
        self._task, self._total, self._done, self._began = task, total, 0, time.monotonic()

    def advance(self, units: int = 1, note: str = "") -> None:
        self._done += units
        if not NOTES.is_terminal:
            self._tell(note)
            return
        if self._bar is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            self._bar = _bar()
            self._bar.add_task(self._task, total=self._total)
            self._bar.start()
        label = self._label(note)
        self._bar.update(self._bar.task_ids[0], completed=self._done, description=escape(label))

    def _label(self, note: str) -> str:
        return printable(f"{self._task} ({note})" if note else self._task)

    def _tell(self, note: str) -> None:
        now = time.monotonic()
        if now - self._told < _SELDOM or self._done == self._total:
            return
        self._told = now
        done = f"{self._done:,}" if self._total is None else f"{self._done:,} of {self._total:,}"
        NOTES.print(f"{self._label(note)}: {done}", markup=False, soft_wrap=True)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def say(self, message: str) -> None:
        note(message)


def _bar() -> RichProgress:
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return RichProgress(*columns, TimeRemainingColumn(), console=NOTES, transient=True)
