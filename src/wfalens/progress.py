"""Progress of long work: algorithms report to a listener and never print."""

from __future__ import annotations


class Progress:
    """Ignores all reports: the default, and the base class of all listeners."""

    def start(self, task: str, total: int | None = None) -> None:
        """A task begins; `total` is its number of units where it is known."""

    def advance(self, units: int = 1, note: str = "") -> None:
        """Units of the current task are done; `note` is a short status such as the loss."""

    def finish(self) -> None:
        """The current task has ended."""

    def say(self, message: str) -> None:
        """A fact about the run that a person should know, such as texts that were cut."""


SILENT = Progress()
