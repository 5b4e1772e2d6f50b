"""What a command prints: tables and lines for people, JSON for machines, notes on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from wfalens.cli.output import NOTES, OUT
from wfalens.messages import printable, sentence
from wfalens.progress import TerminalProgress

UNITS = {  # what needs a word of explanation
    "log-odds": "log-odds: ln of the class's probability, minus the mean over all classes; of two classes, half of "
    "ln(p / (1 − p))"
}
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


def remark(text: str | None) -> None:
    """Say who told what was said, where that was a companion of the automaton."""
    if text is not None:
        say(f"({text})")


def print_json(result: Any) -> None:
    spelled_out = (getattr(sys.stdout, "encoding", None) or "utf-8").lower() == "utf-8"
    text = json.dumps(result, ensure_ascii=not spelled_out, indent=2)
    typer.echo(text.encode("utf-8", "backslashreplace").decode())  # halves of surrogate pairs, as JSON spells them


def print_table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Words are set left, numbers right."""
    table = Table(
        title=None if title is None else _plain(title), title_justify="left", title_style="bold", header_style="bold"
    )
    for at, column in enumerate(columns):
        wordy = at == 0 or any(_LETTER.search(row[at]) for row in rows)
        table.add_column(_plain(column), justify="left" if wordy else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_plain(cell) for cell in row))
    OUT.print(table)


def _plain(cell: str) -> str:
    return escape(printable(cell))
