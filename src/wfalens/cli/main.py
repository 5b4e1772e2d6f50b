"""The entry point: runs a command and turns what went wrong into one sentence and an exit code.

Only the standard library is imported before `run` begins, so that a stop finds it prepared.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, TextIO

from wfalens.cli.stopping import Stopped, listen, listen_no_more
from wfalens.errors import WfalensError, WfalensWarning, naming_extras
from wfalens.messages import sentence

DONE, FAILED, USAGE, DEFECT, STOPPED = 0, 1, 2, 70, 130
BROKEN_PIPE = 141  # as a shell reports a program that SIGPIPE has ended


def run() -> None:
    """The installed command: `main` in a process of its own."""
    listen()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")  # a terminal that cannot show all characters shows the others
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = _told("stopped", STOPPED)
    listen_no_more()
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run a command; -> its exit code."""
    try:
        code = _ran(arguments)
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
        return code
    except Exception as error:
        if "--debug" in arguments[:1]:
            import traceback

            traceback.print_exc()
        return _explained(error)


def _ran(arguments: Sequence[str]) -> int:
    from wfalens.cli.app import app
    from wfalens.cli.output import CommandProgress
    from wfalens.progress import shown_on

    try:
        with naming_extras(), warnings.catch_warnings(), shown_on(CommandProgress()):
            warnings.showwarning = _noted
            app(list(arguments), prog_name="wfalens")
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # typer and rich would leave with 1
            raise left.__context__ from None
        if left.code == STOPPED:  # before the command has begun
            raise Stopped from None
        return int(left.code or DONE)
    return DONE


def _noted(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: Any = None,
) -> None:
    """Print our own warnings as notes, and those of libraries as Python does."""
    from wfalens.cli.output import note

    if issubclass(category, WfalensWarning):
        note(str(message))
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def _explained(error: Exception) -> int:
    """Tell what went wrong; -> the exit code."""
    if isinstance(error, Stopped):
        return _told("; ".join(["stopped", *map(str, error.args)]), STOPPED)
    if isinstance(error, WfalensError):
        return _told(f"error: {error}", USAGE)
    if isinstance(error, MemoryError):
        return _told("error: not enough memory for this", USAGE)
    if isinstance(error, OSError):
        _drop_unwritten()
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        return _told(f"error: {error.filename or 'input or output'}: {error.strerror or error}", USAGE)
    defect = sentence(f"error: internal error: {type(error).__name__}: {error}")
    return _told(f"{defect} (wfalens --debug COMMAND shows where)", DEFECT)


def _drop_unwritten() -> None:
    """Drop output that nobody takes: the interpreter would try to write it again when it ends, and complain."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):  # a stream without a file
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _told(message: str, code: int) -> int:
    with suppress(OSError, AttributeError):  # nobody reads stderr, or there is none
        print(sentence(message), file=sys.stderr)
    return code
