"""The entry point: runs a command and turns what went wrong into one sentence and an exit code.

Only the standard library is imported before `run` begins, so that a stop finds it prepared.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from wfalens.errors import InputError, WfalensError, WfalensWarning, naming_extras
from wfalens.messages import sentence

if TYPE_CHECKING:
    from types import FrameType

DONE, FAILED, USAGE, DEFECT, STOPPED = 0, 1, 2, 70, 130
BROKEN_PIPE = 141  # as a shell reports a program that SIGPIPE has ended
# settings of `--config` that fix an error of this code
_HINTS = {
    "column": "-C text_column=NAME -C label_column=NAME",
    "labels": "-C label_column=NAME",
    "no-labels": "-C label_column=NAME",
    "encoding": "-C encoding=NAME",
    "tokenizer": "-C tokenizer=PACKAGE.MODULE:FUNCTION",
}


def run() -> None:
    """The installed command: `main` in a process of its own."""
    signal.signal(signal.SIGTERM, _interrupt)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")  # a terminal that cannot show all characters shows the others
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = _report("stopped", STOPPED)
    restore_signals()
    sys.exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run a command; -> its exit code."""
    if os.environ.get("COLUMNS", "").strip("0") == "":
        os.environ.pop("COLUMNS", None)  # a terminal of no width would show nothing
    try:
        code = _run_command(arguments)
        if sys.stdout is not None:  # it is None where the caller has closed it
            sys.stdout.flush()
        return code
    except Exception as error:
        if "--debug" in arguments[:1]:
            import traceback

            traceback.print_exc()
        return _report_error(error)


def restore_signals() -> None:
    """All is written: from now on a stop ends the process at once and without a word."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _run_command(arguments: Sequence[str]) -> int:
    from wfalens.cli.app import StoppedError, app
    from wfalens.cli.output import CommandProgress
    from wfalens.progress import shown_on

    try:
        with naming_extras(), warnings.catch_warnings(), shown_on(CommandProgress()):
            warnings.showwarning = _print_warning
            app(list(arguments), prog_name="wfalens")
    except SystemExit as left:
        if isinstance(left.__context__, BrokenPipeError):  # typer and rich would leave with 1
            raise left.__context__ from None
        if left.code == STOPPED:  # before the command has begun
            return _report("stopped", STOPPED)
        return int(left.code or DONE)
    except StoppedError as stop:
        return _report("; ".join(["stopped", *map(str, stop.args)]), STOPPED)
    return DONE


def _print_warning(
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


def _report_error(error: Exception) -> int:
    """Print what went wrong; -> the exit code."""
    if isinstance(error, WfalensError):
        hint = _HINTS.get(error.code) if isinstance(error, InputError) else None
        return _report(f"error: {error}" + (f" ({hint})" if hint else ""), USAGE)
    if isinstance(error, MemoryError):
        return _report("error: not enough memory for this", USAGE)
    if isinstance(error, OSError):
        _drop_unwritten()
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        return _report(f"error: {error.filename or 'input or output'}: {error.strerror or error}", USAGE)
    defect = sentence(f"error: internal error: {type(error).__name__}: {error}")
    return _report(f"{defect} (wfalens --debug COMMAND shows where)", DEFECT)


def _drop_unwritten() -> None:
    """Drop output that nobody takes: the interpreter would try to write it again when it ends, and complain."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):  # a stream without a file
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report(message: str, code: int) -> int:
    with suppress(OSError, AttributeError):  # nobody reads stderr, or there is none
        print(sentence(message), file=sys.stderr)
    return code
