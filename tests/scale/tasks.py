"""Tasks for engines to run; nothing heavy is imported here, so that workers start quickly."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wfalens.errors import InputError


@dataclass(frozen=True)
class Squares:
    """Squares numbers; some of them cause trouble, which files in a folder remember."""

    folder: str
    refused: int | None = None  # an error that a user could fix
    failing: int | None = None  # fails once
    deadly: int | None = None  # ends its worker once
    poison: int | None = None  # ends its worker always
    unprepared: bool = False
    stillborn: bool = False  # ends its worker before any job

    def prepare(self) -> Callable[[int], int]:
        if self.unprepared:
            raise InputError("the model is not there", code="no-model")
        if self.stillborn:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._square

    def _square(self, job: int) -> int:
        (Path(self.folder) / f"tried-{job}").open("a").write("x")
        if job == self.refused:
            raise InputError(f"{job} will not do")
        if job == self.failing and self._first_time():
            raise RuntimeError("a hiccup")
        if job == self.poison or (job == self.deadly and self._first_time()):
            os.kill(os.getpid(), signal.SIGKILL)
        (Path(self.folder) / f"done-{job}").touch()
        return job * job

    def _first_time(self) -> bool:
        flag = Path(self.folder) / "happened"
        if flag.exists():
            return False
        flag.touch()
        return True

    def tries(self, job: int) -> int:
        path = Path(self.folder) / f"tried-{job}"
        return len(path.read_text()) if path.exists() else 0

    def begun(self) -> int:
        return len(list(Path(self.folder).glob("tried-*")))

    def rests(self) -> bool:
        """Whether every job that was begun is done."""
        return self.begun() == len(list(Path(self.folder).glob("done-*")))


@dataclass(frozen=True)
class Identified:
    """A task whose workers record their process ids."""

    task: Any
    folder: str

    def prepare(self) -> Callable[[Any], Any]:
        function = self.task.prepare()
        (Path(self.folder) / str(os.getpid())).touch()
        return function
