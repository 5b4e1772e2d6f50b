"""Rows of a text file: csv, tsv, jsonl, or plain lines.

A row that cannot be read is handed on with the reason. After an error that hides where the next row begins (broken
quoting, a damaged archive) the file ends.
"""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.messages import printable, quoted, reason_of
from wfalens.text.sources.blocks import Naming, Place
from wfalens.text.sources.row_blocks import (
    BYTES,
    HALF_A_PAIR,
    ROWS,
    TEXT_COLUMN,
    Row,
    Stretch,
    checked_size,
    columns_of,
    taken_apart,
)
from wfalens.text.text_lines import LONGEST, MARK, UNREADABLE, EndlessLineError, Line, TextLines

_UNREADABLE = (*UNREADABLE, csv.Error)
_LOOKED_AT, _LOOKED_THROUGH = 100, 1 << 20  # JSON objects that tell which fields there are, and their characters
_JSON_SPACES = " \t\n\r"


class _LineRows(ABC):
    """What text files share."""

    _no_text = HALF_A_PAIR  # why a text with characters that are none is no text

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None) -> None:
        self.naming = Naming(printable(str(path)))
        self.text_column, self.label_column, self.encoding = text_column, label_column, encoding
        self._wrong_byte = f"byte 0x{{:02x}} is not {encoding}; give the file's encoding (for example latin-1)"
        try:
            self.lines = TextLines(path, encoding)
        except _UNREADABLE as error:
            raise InputError(f"{self.naming.path}: {self._damage(error)}") from None
        self.divisible, self.start = self.lines.divisible, Place(self.lines.start, 1)

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def stretches(self, start: Place) -> Iterator[Stretch]:
        held: list[Row] = []
        behind, after = begin, _ = start
        try:
            for row, behind, after in self._rows(start):
                held.append(row)
                if len(held) >= ROWS or behind - begin >= BYTES:
                    yield self._taken_apart(held, Place(behind, after))
                    held, begin = [], behind
        except _UNREADABLE as error:
            held.append((behind, after, InputError(self._damage(error)), None))
        yield self._taken_apart(held, Place(behind, after))

    def _taken_apart(self, rows: list[Row], behind: Place) -> Stretch:
        return taken_apart(rows, behind, self.label_column is not None, self._no_text)

    @abstractmethod
    def _rows(self, start: Place) -> Iterator[tuple[Row, int, int]]:
        """Rows from a place on, and offset and line of what stands behind each."""

    def _damage(self, error: Exception) -> str:
        """Why a file ends before its end."""
        if isinstance(error, UnicodeDecodeError):
            return self._wrong_byte.format(error.object[error.start])
        if isinstance(error, UnicodeError):
            return f"not {self.encoding} text ({reason_of(error)})"
        if isinstance(error, csv.Error):
            return f"broken quoting ({reason_of(error)}); the rest is not read"
        if isinstance(error, EndlessLineError):
            return f"{error}; the rest is not read"
        return f"damaged gzip file ({reason_of(error)}); the rest is not read"


class JsonRows(_LineRows):
    """One JSON object on a line; the first hundred tell which fields there are."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._decode = json.JSONDecoder(object_pairs_hook=self._unambiguous).raw_decode
        self._fields = self._first_fields()
        if self._fields:
            columns_of(self.naming.path, self._fields, text_column, label_column)

    def columns(self) -> list[str]:
        return self._fields

    def _first_fields(self) -> list[str]:
        found: dict[str, None] = {}
        left = _LOOKED_THROUGH
        with suppress(*_UNREADABLE):  # whoever reads the rows hears of it
            for line in islice((line for line in self.lines.read(self.start.offset) if line.strip()), _LOOKED_AT):
                with suppress(InputError):
                    found |= dict.fromkeys(self._object(line))
                left -= len(line)
                if left < 0:
                    break
        return list(found)

    def _rows(self, start: Place) -> Iterator[tuple[Row, int, int]]:
        offset, number = start
        for line in self.lines.read(offset):
            behind = offset + len(line)
            if not line.isspace():
                yield (offset, number, *self._values(line)), behind, number + 1
            offset, number = behind, number + 1

    def _values(self, line: Line) -> tuple[object, object]:
        """Text and label"""
        try:
            item = self._object(line)
        except InputError as error:
            return error, None
        if self.text_column not in item:
            return InputError(f"no field {quoted(self.text_column)}"), None
        return item[self.text_column], None if self.label_column is None else item.get(self.label_column)

    def _object(self, line: Line) -> dict[str, Any]:
        try:
            text = (line if isinstance(line, str) else line.decode(self.encoding)).strip(_JSON_SPACES)
            item, end = self._decode(text)
        except InputError:
            raise
        except UnicodeDecodeError as error:
            raise InputError(self._damage(error)) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON ({str(error).partition(':')[0]})") from None
        if end < len(text):
            raise InputError("not JSON (Extra data)")
        if not isinstance(item, dict):
            raise InputError(f"expected an object with {quoted(self.text_column)}")
        return item

    def _unambiguous(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of its fields; refused where text or label stand twice in it."""
        item = dict(pairs)
        if len(item) < len(pairs):
            names = [name for name, _ in pairs]
            for name in (self.text_column, self.label_column):
                if name is not None and names.count(name) > 1:
                    raise InputError(f"the field {quoted(name)} stands twice")
        return item


class PlainRows(_LineRows):
    """One text on a line, and nothing else."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._no_text = self._wrong_byte  # bytes are marked
        columns_of(self.naming.path, self.columns(), text_column, label_column)

    def columns(self) -> list[str]:
        return [TEXT_COLUMN]

    def _rows(self, start: Place) -> Iterator[tuple[Row, int, int]]:
        offset, number = start
        for line in self.lines.read(offset):
            behind = offset + len(line)
            if not line.isspace():
                text = line if isinstance(line, str) else line.decode(self.encoding, MARK)
                yield (offset, number, text.rstrip("\r\n"), None), behind, number + 1
            offset, number = behind, number + 1


class DelimitedRows(_LineRows):
    """Comma or tab separated values under a header; a quoted value may span lines."""

    def __init__(
        self, path: Path, text_column: str, encoding: str, label_column: str | None, delimiter: str = ","
    ) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._no_text = self._wrong_byte  # bytes are marked
        csv.field_size_limit(LONGEST)
        self.delimiter = delimiter
        try:
            first = next(self._records(self.start), None)
        except _UNREADABLE as error:
            reason = reason_of(error) if isinstance(error, csv.Error) else self._damage(error)
            raise InputError(f"{self.naming.path}: line 1: broken header ({reason})") from None
        if first is None:
            raise InputError(f"{self.naming.path}: the file is empty")
        *_, offset, line, self.header = first
        self.start = Place(offset, line)
        try:
            self.text_at, self.label_at = columns_of(self.naming.path, self.header, text_column, label_column)
        except InputError:
            self._check_header()
            raise

    def _check_header(self) -> None:
        """Refuse a header in another encoding."""
        try:
            checked_size("".join(self.header), self._wrong_byte)
        except InputError as error:
            raise InputError(f"{self.naming.path}: line 1: {error}") from None

    def columns(self) -> list[str]:
        return list(self.header)

    def _rows(self, start: Place) -> Iterator[tuple[Row, int, int]]:
        text_at, label_at, header = self.text_at, self.label_at, self.header
        for offset, number, behind, after, values in self._records(start):
            if len(values) == len(header) and (values != header or len(header) == 1):  # a word may be called "text"
                yield (offset, number, values[text_at], None if label_at is None else values[label_at]), behind, after
            elif values:
                yield (offset, number, self._odd(values), None), behind, after

    def _odd(self, values: list[str]) -> InputError:
        if values == self.header:
            return InputError("the header stands here a second time")
        return InputError(f"{len(values)} columns where the header has {len(self.header)}")

    def _records(self, start: Place) -> Iterator[tuple[int, int, int, int, list[str]]]:
        """Offset and line of every record and of what stands behind it, and its values."""
        offset, number = start
        behind = offset

        def lines() -> Iterator[str]:
            nonlocal behind
            for line in self.lines.read(start.offset):
                behind += len(line)
                yield line if isinstance(line, str) else line.decode(self.encoding, MARK)

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        for values in reader:  # it takes no line more than a record needs, so `behind` is where the next begins
            after = start.line + reader.line_num
            yield offset, number, behind, after, values
            offset, number = behind, after
