"""A run's log for machines: one JSON object on a line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from wfalens.errors import InputError


class Journal:
    """Ignores all events: the default, and the base class of `FileJournal`."""

    def write(self, event: str, **facts: Any) -> None:
        """Something happened: `event` names it, `facts` are plain values."""

    def close(self) -> None:
        """The run has ended."""


class FileJournal(Journal):
    """Appends to a file, so that a resumed run goes on in the same one."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._stream: IO[str] = Path(path).open("a", encoding="utf-8")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise InputError(f"cannot write the log {path}: {error.strerror or error}") from None

    def write(self, event: str, **facts: Any) -> None:
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **facts}
        self._stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()


NO_JOURNAL = Journal()
