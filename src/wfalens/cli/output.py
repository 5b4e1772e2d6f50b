"""What a command prints and writes: results as tables or JSON on stdout, files, and notes on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wfalens.cli.library import storage
from wfalens.errors import InputError
from wfalens.html import page_html
from wfalens.messages import printable, sentence
from wfalens.progress import TerminalProgress
from wfalens.results import cell, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import JustifyMethod

    from wfalens.results import Result

OUT = Console(highlight=False)
NOTES = Console(stderr=True, highlight=False)
_LETTER = re.compile(r"[^\W\d_]")


class CommandProgress(TerminalProgress):
    """The display of commands: messages are notes on stderr."""

    def __init__(self) -> None:
        super().__init__(NOTES)

    def say(self, message: str) -> None:
        note(message)


def note(message: str) -> None:
    """A remark for people, on stderr, so that stdout stays clean."""
    NOTES.print(f"note: {sentence(message)}", markup=False, soft_wrap=True)


def say(text: str) -> None:
    """A line for people on stdout, printed as it is but for what a terminal must not see."""
    OUT.print("\n".join(map(printable, text.split("\n"))), markup=False, soft_wrap=not OUT.is_terminal)


def print_result(result: Result, as_json: bool, top: int | None = None, about: Mapping[str, Any] | None = None) -> None:
    """A result as JSON with the entries of `about`, or as its tables, of `top` rows at most, and its summary."""
    if as_json:
        print_json({**(about or {}), **result.to_dict()})
        return
    for title, rows in result.tables().items():
        print_rows(title, rows, top)
    if result.summary() not in ("", result.title):
        say(result.summary())


def print_answer(content: Mapping[str, Any], text: str, as_json: bool) -> None:
    """What a command has found or done, as JSON or in words."""
    if as_json:
        print_json(content)
    else:
        say(text)


def exit_below(what: str, value: float, least: float | None, as_json: bool) -> None:
    """Exit with 1, the failure that was asked about, if a value is lower than it should be."""
    if least is not None and value < least:
        if not as_json:
            say(f"{what} is {value:.3f}, below {least:.3f}")
        raise typer.Exit(1)


def print_json(result: Any) -> None:
    spelled_out = (getattr(sys.stdout, "encoding", None) or "utf-8").lower() == "utf-8"
    text = json.dumps(plain(result), ensure_ascii=not spelled_out, indent=2)
    typer.echo(text.encode("utf-8", "backslashreplace").decode())  # halves of surrogate pairs, as JSON spells them


def print_rows(title: str | None, rows: Iterable[Mapping[str, Any]], top: int | None = None) -> None:
    """A table whose rows are mappings with the same keys; words are set left, numbers right."""
    shown = list(rows)
    if not shown:
        return
    cut = len(shown) - top if top is not None else 0
    cells = [[cell(value) for value in row.values()] for row in shown[:top]]
    table = Table(title=title and _plain(title), title_justify="left", title_style="bold", header_style="bold")
    columns = list(zip(shown[0], *cells, strict=True))
    longest = [max(len(word) for each in column for word in each.split() or [""]) for column in columns]
    narrow = sum(longest) + 3 * len(longest) + 1 > OUT.width
    if narrow:  # no lines between the columns, and each as wide as its longest word, to break fewer words
        table.box, table.show_edge, table.pad_edge, table.padding = SIMPLE, False, False, (0, 0, 0, 0)
    for (name, *column), width in zip(columns, longest, strict=True):
        is_text = name == columns[0][0] or any(map(_LETTER.search, column))
        justify: JustifyMethod = "left" if is_text else "right"
        table.add_column(_plain(name), justify=justify, overflow="fold", width=width if narrow else None)
    for row in cells:
        table.add_row(*map(_plain, row))
    OUT.print(table)
    if cut > 0:
        say(f"… and {cut:,} more; --json has all")


def check_out(paths: Sequence[Path], endings: Sequence[str], force: bool = False) -> None:
    """Refuse, before the work, result files that exist (without `force`), cannot be written or have another ending."""
    for path in paths:
        if path.suffix.lower() not in endings:
            raise InputError(f"{path}: a result is written as {', '.join(endings)}", code="output-format")
    check_outputs(*paths, force=force)


def write_out(paths: Sequence[Path], result: Result, title: str, draw: Callable[[], Figure] | None = None) -> None:
    """Write a result into files, each in the form that its ending names."""
    for path in paths:
        ending = path.suffix.lower()
        if ending == ".html":
            blob = page_html(title, [result.to_html()]).encode("utf-8", "replace")
        elif ending == ".csv":
            blob = result.to_dataframe().to_csv(index=False).encode("utf-8", "replace")
        elif ending == ".json":
            blob = json.dumps(result.to_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
        elif draw is not None:
            buffer = BytesIO()
            draw().savefig(buffer, format=ending[1:], dpi=150)
            blob = buffer.getvalue()
        storage.write_atomically(path, blob)
        note(f"wrote {path}")


def check_outputs(*paths: Path | None, force: bool = False) -> None:
    """Refuse files that exist, unless `force` is given, and files that cannot be written; None is no file."""
    given = [path for path in paths if path is not None]
    for at, path in enumerate(given):
        if path in given[:at]:
            raise InputError(f"{path} is given for two outputs", code="output-twice")
        if path.is_dir():
            raise InputError(f"{path} is a folder; give the name of a file", code="output-path")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is no regular file; give another name", code="output-path")
        if path.exists() and not force:
            raise InputError(f"{path} exists; give another name, or --force to overwrite it", code="output-exists")
        if not path.parent.is_dir():
            raise InputError(f"the folder {path.parent} does not exist", code="output-path")
        storage.check_writable(path)


def check_folder(path: Path) -> None:
    """Make a folder for outputs, and refuse one that cannot be written into."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror or error}", code="output-path") from None
    storage.check_writable(path / "file")


def _plain(text: str) -> str:
    return escape(printable(text))
