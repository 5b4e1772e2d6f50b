"""Progress of long work: algorithms report to a listener and never print."""

from __future__ import annotations


class Progress:
    """Ignores all reports: the default, and the base class of all listeners.

    Examples:
        >>> from wfalens import Progress
        >>> class Told(Progress):
        ...     def say(self, message):
        ...         print(message)
        >>> wfa = Extractor.paper(states=4).extract(model, corpus, Told())
        asks the model for up to 140 prefixes; at ... a second that takes less than a minute
    """

    def start(self, task: str, total: int | None = None) -> None:
        """A task begins.

        Args:
            task: what is done, in a word or two
            total: its number of units, where it is known

        Examples:
            >>> Progress().start("reading", total=10)
        """

    def advance(self, units: int = 1, note: str = "") -> None:
        """Units of the current task are done.

        Args:
            units: how many
            note: a short status such as the loss

        Examples:
            >>> Progress().advance(2, note="loss .31")
        """

    def finish(self) -> None:
        """The current task has ended.

        Examples:
            >>> Progress().finish()
        """

    def say(self, message: str) -> None:
        """A fact about the run that a person should know, such as texts that were cut.

        Args:
            message: one sentence

        Examples:
            >>> Progress().say("3 texts were cut at 25 words.")
        """


SILENT = Progress()
