"""Ctrl-C and SIGTERM: both arrive as KeyboardInterrupt, and a stop says where to go on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType


class Stopped(Exception):  # noqa: N818 - not an error
    """The command was stopped; typer would turn a KeyboardInterrupt into a silent exit."""


def listen() -> None:
    """Let SIGTERM stop a command as Ctrl-C does."""
    signal.signal(signal.SIGTERM, _interrupt)


def listen_no_more() -> None:
    """All is said: from now on a stop ends the process at once and without a word."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def resumable(kept: Path | None) -> Iterator[None]:
    """If the work is stopped, say that the same command goes on from `kept`, provided that something is there."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is None or not _holds_something(kept):
            raise
        raise KeyboardInterrupt(f"what is done is kept in {kept}, and the same command goes on from there") from None


def _holds_something(kept: Path) -> bool:
    """Whether there is a file: the path itself, or in the folder, however deep."""
    return any(each.is_file() for each in (kept, *kept.rglob("*")))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put the handler of SIGTERM back where somebody, such as Ray, has set another."""
    ours = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is not ours:
            signal.signal(signal.SIGTERM, ours)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
