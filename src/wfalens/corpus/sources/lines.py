"""Rows of one file, read from any place on without reading what stands before.

A row that cannot be read is handed on as the error that says why: whoever reads decides to stop or to go on. After an
error that hides where the next row begins (broken quoting, a damaged archive) the file ends.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.packed import PackedTexts
from wfalens.corpus.readers import LABEL_COLUMN, columns_of, is_broken, suffix_of
from wfalens.errors import InputError

_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)


class Place(NamedTuple):
    """Where a row begins: byte and line of a text file; of a parquet file the rows before it, twice."""

    offset: int
    line: int


class RowRun(Protocol):
    """Neighbouring rows of a file; texts are made of them on demand."""

    @property
    def size(self) -> int:
        """Bytes"""
        ...

    @property
    def behind(self) -> Place:
        """Where the next row begins."""
        ...

    def __len__(self) -> int: ...

    def place(self, row: int) -> str:
        """Where a row stands, for people."""
        ...

    def text(self, row: int) -> str | None:
        """The text of a row, None for an empty one; an InputError says why there is none."""
        ...

    def label(self, row: int) -> str:
        """The label of a row whose text could be read; an InputError says why there is none."""
        ...

    def packed(self, rows: NDArray[np.int64] | None = None) -> tuple[PackedTexts, NDArray[np.int64]] | None:
        """The texts that are not empty, of all rows or of some, and their rows.

        None where that takes no less time than asking row by row, or where a row is bad.
        """
        ...


class RowSource(Protocol):
    """A file that can be read from any place on."""

    start: Place
    divisible: bool  # whether it pays to begin in the middle

    def runs(self, start: Place, enough: int) -> Iterator[RowRun]:
        """All rows from a place on; a run is closed as soon as it has enough bytes."""
        ...

    def lead(self, start: Place) -> int:
        """Rows that are read in vain by who begins at a place."""
        ...

    def columns(self) -> list[str]:
        """What the rows hold, by name; of JSON, the fields of the first object."""
        ...


def checked_text(value: object) -> str | None:
    if value is None or value != value:
        return None
    text = str(value)
    if not text or text.isspace():
        return None
    if is_broken(text):
        raise InputError("not text in the given encoding")
    return text


def checked_label(value: object) -> str:
    if value is None or value != value or not str(value).strip():
        raise InputError("the label is missing")
    if is_broken(value):
        raise InputError("the label is not text in the given encoding")
    return str(value).strip()


# A row as it stands in the file: its line, its size in bytes, offset and line of the place behind it, and what
# `text_of` and `label_of` read. A plain tuple, because there are many.
_RawRow = tuple[int, int, int, int, Any]


@dataclass(frozen=True)
class LineRun:
    """Rows of a text file, not parsed yet."""

    text_of: Callable[[Any], str | None]
    label_of: Callable[[Any], str]
    size: int
    behind: Place
    lines: list[int]
    contents: list[Any]

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        return f"line {self.lines[row]}"

    def text(self, row: int) -> str | None:
        return self.text_of(self.contents[row])

    def label(self, row: int) -> str:
        return self.label_of(self.contents[row])

    def packed(self, rows: NDArray[np.int64] | None = None) -> None:
        """Lines are parsed one by one."""


class _Lines(ABC):
    """What text files share: lines with their bytes, decoded one by one."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.path, self.text_column, self.encoding, self.label_column = path, text_column, encoding, label_column
        self.divisible = path.suffix.lower() != ".gz"
        with self._opened() as handle:
            try:
                mark = len(codecs.BOM_UTF8) if handle.read(3) == codecs.BOM_UTF8 else 0
            except _DAMAGED as error:
                raise InputError(f"{path}: damaged gzip file ({error})") from None
        self.start = Place(mark, 1)

    def runs(self, start: Place, enough: int) -> Iterator[RowRun]:
        lines: list[int] = []
        contents: list[Any] = []
        total, behind = 0, start
        for line, size, offset, line_behind, content in self._rows(start):
            lines.append(line)
            contents.append(content)
            total += size
            behind = Place(offset, line_behind)
            if total >= enough:
                yield LineRun(self._text_of, self._label_of, total, behind, lines, contents)
                lines, contents, total = [], [], 0
        if lines:
            yield LineRun(self._text_of, self._label_of, total, behind, lines, contents)

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    @abstractmethod
    def _rows(self, start: Place) -> Iterator[_RawRow]: ...

    @abstractmethod
    def _text_of(self, content: Any) -> str | None: ...

    @abstractmethod
    def _label_of(self, content: Any) -> str: ...

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if not self.divisible else self.path.open("rb")  # type: ignore[return-value]

    def _from(self, handle: IO[bytes], start: Place) -> IO[bytes]:
        handle.seek(start.offset)
        return handle


class JsonRows(_Lines):
    """One JSON object on a line; the first one tells whether there are labels."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._last: tuple[bytes, dict[str, Any]] = b"", {}  # a row is asked for its text, then for its label
        if label_column is not None and (names := self.columns()) and label_column not in names:
            raise InputError(f"{path}: no column {label_column!r}; the columns are {', '.join(names)}")

    def columns(self) -> list[str]:
        for *_, content in self._rows(self.start):
            try:
                if not (isinstance(content, InputError) or content.isspace()):
                    return list(self._object(content))
            except InputError:
                continue  # whoever reads the row hears of it
        return []

    def _rows(self, start: Place) -> Iterator[_RawRow]:
        offset, line = start
        with self._opened() as handle:
            try:
                for raw in self._from(handle, start):
                    size = len(raw)
                    offset += size
                    yield line, size, offset, line + 1, raw
                    line += 1
            except _DAMAGED as error:
                yield line, 1, offset, line, InputError(f"damaged gzip file ({error})")

    def _text_of(self, content: Any) -> str | None:
        if isinstance(content, InputError):
            raise content
        if content.isspace():
            return None
        item = self._object(content)
        if self.text_column not in item:
            raise InputError(f"no field {self.text_column!r}")
        return checked_text(item[self.text_column])

    def _label_of(self, content: Any) -> str:
        return checked_label(self._object(content).get(self.label_column or LABEL_COLUMN))

    def _object(self, content: bytes) -> dict[str, Any]:
        if content is not self._last[0]:
            self._last = content, self._parsed(content)
        return self._last[1]

    def _parsed(self, content: bytes) -> dict[str, Any]:
        try:
            item = json.loads(content.decode(self.encoding))
        except UnicodeDecodeError as error:
            raise InputError(f"byte 0x{error.object[error.start]:02x} is not {error.encoding}") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON ({str(error).partition(':')[0]})") from None
        if not isinstance(item, dict):
            raise InputError(f"expected an object with {self.text_column!r}")
        return item


class DelimitedRows(_Lines):
    """Comma or tab separated values under a header; a quoted value may span lines."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        csv.field_size_limit(sys.maxsize)
        self.delimiter = "\t" if suffix_of(path) == ".tsv" else ","
        with self._opened() as handle:
            try:
                first = next(self._records(handle, self.start), None)
            except (csv.Error, *_DAMAGED) as error:
                raise InputError(f"{path}: line 1: broken header ({error})") from None
        if first is None:
            raise InputError(f"{path}: the file is empty")
        *_, behind, line, self.header = first
        self.text_at, self.label_at = columns_of(path, self.header, text_column, label_column)
        self.start = Place(behind, line)

    def columns(self) -> list[str]:
        return list(self.header)

    def _rows(self, start: Place) -> Iterator[_RawRow]:
        behind, line = start
        with self._opened() as handle:
            try:
                for row in self._records(handle, start):
                    _, _, behind, line, _ = row
                    yield row
            except csv.Error as error:
                yield line, 1, behind, line, InputError(f"broken quoting ({error}); the rest is not read")
            except _DAMAGED as error:
                yield line, 1, behind, line, InputError(f"damaged gzip file ({error})")

    def _records(self, handle: IO[bytes], start: Place) -> Iterator[_RawRow]:
        begin, line = start
        behind = start.offset

        def lines() -> Iterator[str]:
            nonlocal behind
            for raw in self._from(handle, start):
                behind += len(raw)
                yield raw.decode(self.encoding, "surrogateescape")

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        for row in reader:  # the reader takes no line more than the row needs, so `behind` is where the next begins
            after = start.line + reader.line_num
            yield line, behind - begin, behind, after, row
            begin, line = behind, after

    def _text_of(self, content: Any) -> str | None:
        if isinstance(content, InputError):
            raise content
        if not content:
            return None
        if content == self.header:
            raise InputError("the header stands here a second time")
        if len(content) != len(self.header):
            raise InputError(f"{len(content)} columns where the header has {len(self.header)}")
        return checked_text(content[self.text_at])

    def _label_of(self, content: Any) -> str:
        return checked_label(None if self.label_at is None else content[self.label_at])
