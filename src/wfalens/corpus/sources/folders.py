"""Rows of a folder with one subfolder per class: every text file in a subfolder is a row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from wfalens.corpus.sources.blocks import Naming, Place
from wfalens.corpus.sources.rows import BYTES, LABEL_COLUMN, ROWS, Row, Stretch, taken_apart
from wfalens.errors import InputError
from wfalens.text import printable


class FolderRows:
    """Text files by class and name."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.path, self.text_column, self.encoding, self.label_column = path, text_column, encoding, label_column
        self.files = class_files(path)
        self.naming = Naming(printable(str(path)), "file", [printable(str(file)) for file in self.files])

    def columns(self) -> list[str]:
        return [self.text_column, LABEL_COLUMN]

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def stretches(self, start: Place) -> Iterator[Stretch]:
        held: list[Row] = []
        size = 0
        for at in range(start.offset, len(self.files)):
            text = self._text(at)
            held.append((at, at + 1, text, self.files[at].parent.name))
            size += len(text) if isinstance(text, str) else 0
            if len(held) >= ROWS or size >= BYTES:
                yield self._taken_apart(held, at + 1)
                held, size = [], 0
        yield self._taken_apart(held, len(self.files))

    def _taken_apart(self, rows: list[Row], behind: int) -> Stretch:
        return taken_apart(rows, Place(behind, behind + 1), self.label_column is not None)

    def _text(self, at: int) -> str | InputError:
        """What stands in a file, or why it cannot be read."""
        try:
            return (self.path / self.files[at]).read_text(self.encoding).removeprefix("\ufeff")
        except UnicodeError:
            return InputError(f"not {self.encoding} text; give the files' encoding")


def class_files(path: Path) -> list[Path]:
    """The text files of a folder, by class and name."""
    files = sorted(file.relative_to(path) for file in path.glob("*/*") if file.is_file() and file.name[0] != ".")
    if not files:
        raise InputError(f"{printable(str(path))}: expected one subfolder per class with text files in it")
    return files


def folder_size(path: Path) -> int:
    return sum((path / file).stat().st_size for file in class_files(path))


def folder_identity(path: Path) -> list[Any]:
    """Name, number of files, and a digest of their names, sizes and times."""
    files = class_files(path)
    digest = sha256()
    for file in files:
        stat = (path / file).stat()
        digest.update(b"%s\0%d\0%d\0" % (os.fsencode(file), stat.st_size, stat.st_mtime_ns))
    return [str(path), len(files), digest.hexdigest()]
