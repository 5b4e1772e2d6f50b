"""Progress of long work on a terminal."""

from __future__ import annotations

import atexit
import time
from typing import TYPE_CHECKING

from rich.markup import escape

from wfalens.cli.output import NOTES, note
from wfalens.progress import Progress
from wfalens.text import printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE = 1.0  # seconds of work before a progress bar appears


class TerminalProgress(Progress):
    """Bars on stderr, only on a terminal and only for work that takes longer than a second."""

    def __init__(self) -> None:
        self._bar: RichProgress | None = None
        self._task, self._done, self._began = "", 0, 0.0
        self._total: int | None = None
        atexit.register(self.finish)  # a bar that a stop left behind hides the cursor

    def start(self, task: str, total: int | None = None) -> None:
        self.finish()
        self._task, self._total, self._done, self._began = task, total, 0, time.monotonic()

    def advance(self, units: int = 1, note: str = "") -> None:
        self._done += units
        if self._bar is None:
            if not NOTES.is_terminal or time.monotonic() - self._began < _PATIENCE:
                return
            self._bar = _bar()
            self._bar.add_task(self._task, total=self._total)
            self._bar.start()
        label = printable(f"{self._task} ({note})" if note else self._task)
        self._bar.update(self._bar.task_ids[0], completed=self._done, description=escape(label))

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
