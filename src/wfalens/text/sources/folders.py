"""Rows of a folder with one subfolder per class: every file in a subfolder is a row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.messages import printable
from wfalens.text.sources.blocks import Naming, Place
from wfalens.text.sources.row_blocks import BYTES, LABEL_COLUMN, ROWS, Row, Stretch, taken_apart

_OUTSIDE = "not in the folder of a class"
_TOO_DEEP = "a folder within the folder of a class"
_NO_FILE = "a class without a file"


@dataclass(frozen=True)
class ClassFolder:
    """What lies in a folder: texts by class and name, and what is none, with the reason."""

    path: Path
    files: tuple[Path, ...]  # relative, in order
    left_out: dict[Path, str]  # among the files, why they are left out

    @property
    def size(self) -> int:
        """Bytes"""
        return sum(stat.st_size for _, stat in self._stats())

    def identity(self) -> list[Any]:
        """Name, number of files, and a digest of their names, sizes and times."""
        digest = sha256()
        for file, stat in self._stats():
            digest.update(b"%s\0%d\0%d\0" % (os.fsencode(file), stat.st_size, stat.st_mtime_ns))
        return [str(self.path), len(self.files), digest.hexdigest()]

    def _stats(self) -> Iterator[tuple[Path, os.stat_result]]:
        return ((file, (self.path / file).stat()) for file in self.files if (self.path / file).exists())


def class_folder(path: Path) -> ClassFolder:
    """Look into a folder and the folders of its classes; names with a dot in front are hidden."""
    found: dict[Path, str] = {}  # why an entry is left out; "" if it is not
    for entry in _entries(path):
        found |= _inside(path, entry)
    if "" not in found.values():
        name = printable(str(path))
        raise InputError(
            f"{name}: expected one subfolder per class with text files in it; files side by side are given by a "
            f"pattern, for example '{name}/*.csv'"
        )
    return ClassFolder(path, tuple(sorted(found)), {file: reason for file, reason in found.items() if reason})


def _inside(path: Path, entry: os.DirEntry[str]) -> dict[Path, str]:
    """What an entry of the folder holds, if it is the folder of a class; else the entry itself."""
    name = Path(entry.name)
    if entry.is_dir():
        files = {name / each.name: _TOO_DEEP if each.is_dir() else "" for each in _entries(path / name)}
        return files or {name: _NO_FILE}
    if entry.is_file():
        return {name: _OUTSIDE}
    raise InputError(f"{printable(str(path / name))}: neither a class folder nor a file; is it a link to nothing?")


def _entries(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        raise  # it may be on another machine
    except OSError as error:
        raise InputError(f"{printable(str(path))}: the folder cannot be read ({error.strerror or error})") from None


class FolderRows:
    """Text files by class and name."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.text_column, self.encoding, self.label_column = text_column, encoding, label_column
        self.folder = class_folder(path)
        names = [printable(str(file)) for file in self.folder.files]
        reasons = {row: self.folder.left_out.get(file, "") for row, file in enumerate(self.folder.files, 1)}
        self.naming = Naming(printable(str(path)), "file", names, {row: why for row, why in reasons.items() if why})

    def columns(self) -> list[str]:
        return [self.text_column, LABEL_COLUMN]

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def stretches(self, start: Place) -> Iterator[Stretch]:
        held: list[Row] = []
        size = 0
        for at, file in enumerate(self.folder.files[start.offset :], start.offset):
            text = None if file in self.folder.left_out else self._text(self.folder.path / file)
            held.append((at, at + 1, text, file.parent.name))
            size += len(text) if isinstance(text, str) else 0
            if len(held) >= ROWS or size >= BYTES:
                yield self._taken_apart(held, at + 1)
                held, size = [], 0
        yield self._taken_apart(held, len(self.folder.files))

    def _taken_apart(self, rows: list[Row], behind: int) -> Stretch:
        return taken_apart(rows, Place(behind, behind + 1), self.label_column is not None)

    def _text(self, file: Path) -> str | InputError:
        """What stands in a file, or why it cannot be read."""
        try:
            if not file.is_file():
                return InputError("not a file that can be read")  # a pipe, or a link to nothing
            return file.read_text(self.encoding).removeprefix("\ufeff")
        except UnicodeError:
            return InputError(f"not {self.encoding} text; give the files' encoding")
        except PermissionError as error:
            return InputError(f"cannot be read ({error.strerror})")
