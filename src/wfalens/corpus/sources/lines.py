"""Rows of a text file: csv, tsv or jsonl, gzipped or not, read from any place on.

A row that cannot be read is handed on with the reason. After an error that hides where the next row begins (broken
quoting, a damaged archive) the file ends.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

from wfalens.corpus.sources.blocks import Naming, Place
from wfalens.corpus.sources.rows import (
    BYTES,
    HALF_A_PAIR,
    ROWS,
    Row,
    Stretch,
    columns_of,
    taken_apart,
)
from wfalens.corpus.wording import quoted, reason_of
from wfalens.errors import InputError
from wfalens.text import printable

_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)
_UNREADABLE = (*_DAMAGED, UnicodeError, csv.Error)
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16  # bytes that are read at a time
_LOOKED_AT = 100  # JSON objects that tell which fields there are
_JSON_SPACES = " \t\n\r"
_SHIFTING = ("utf-7", "hz", "iso2022")  # encodings in which a line may depend on the lines before it

Line = bytes | str


def known_encoding(encoding: str) -> str:
    """An encoding by its usual name; a byte order mark is no part of the text in any of them."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InputError(reason_of(error)) from None
    return name.removesuffix("-sig")


def _has_plain_lines(encoding: str) -> bool:
    """Whether bytes in an encoding can be cut into lines before they are decoded."""
    try:
        return "\r\n".encode(encoding) == b"\r\n" and not encoding.startswith(_SHIFTING)
    except UnicodeError:
        return False


class TextLines:
    """The lines of a text file with their line ends: \\n, \\r\\n or \\r.

    Lines are bytes, and offsets count bytes, where lines can be told before they are decoded. Else the file is decoded
    from its start, lines are texts and offsets count characters.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        self.path, self.encoding = path, encoding
        with path.open("rb") as handle:
            self.is_gzip = path.suffix.lower() == ".gz" or handle.read(2) == _GZIP
        self.is_plain = _has_plain_lines(encoding)
        with self._opened() as handle:
            self.start = Place(self._mark(handle), 1)

    @property
    def divisible(self) -> bool:
        return self.is_plain and not self.is_gzip

    def read(self, offset: int) -> Iterator[Line]:
        """The lines from an offset on."""
        with self._opened() as handle:
            yield from self._plain(handle, offset) if self.is_plain else self._decoded(handle, offset)

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if self.is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def _mark(self, handle: IO[bytes]) -> int:
        """The size of the byte order mark."""
        if not self.is_plain:
            return int(self._wrapped(handle).read(1) == "\ufeff")
        return len(codecs.BOM_UTF8) if self.encoding == "utf-8" and handle.read(3) == codecs.BOM_UTF8 else 0

    def _wrapped(self, handle: IO[bytes]) -> io.TextIOWrapper:
        return io.TextIOWrapper(handle, self.encoding, newline="")

    def _plain(self, handle: IO[bytes], offset: int) -> Iterator[bytes]:
        if self.is_gzip:
            return _split(_skipped(_chunks(handle), offset))
        handle.seek(offset)
        return _split(_chunks(handle))

    def _decoded(self, handle: IO[bytes], offset: int) -> Iterator[str]:
        """Everything is decoded from the start, so that damage hides the same lines wherever reading begins."""
        lines = self._wrapped(handle)
        passed = len(lines.read(self.start.offset))
        for line in lines:
            if passed >= offset:
                yield line
            passed += len(line)


def _chunks(handle: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: handle.read1(_CHUNK), b"")  # type: ignore[attr-defined]


def _skipped(chunks: Iterable[bytes], offset: int) -> Iterator[bytes]:
    """Chunks without their first bytes; an archive is always read from its start, in the same steps."""
    for chunk in chunks:
        if offset < len(chunk):
            yield chunk[offset:]
        offset = max(0, offset - len(chunk))


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends."""
    held: list[bytes] = []  # of the line that is not complete
    for chunk in chunks:
        if b"\n" not in chunk and b"\r" not in chunk and not (held and held[-1].endswith(b"\r")):
            held.append(chunk)
            continue
        lines = b"".join([*held, chunk]).splitlines(keepends=True)
        held = [] if lines[-1].endswith(b"\n") else [lines.pop()]  # after \r, \n may follow
        yield from lines
    yield from b"".join(held).splitlines(keepends=True)


def _marking(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not text become characters that are none, so that the rest of a line can be read."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error("wfalens.mark", _marking)


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
        self.divisible, self.start = self.lines.divisible, self.lines.start

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
        try:
            for line in islice((line for line in self.lines.read(self.start.offset) if line.strip()), _LOOKED_AT):
                try:
                    found |= dict.fromkeys(self._object(line))
                except InputError:
                    continue  # whoever reads the row hears of it
        except _UNREADABLE:
            pass  # here too
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


class DelimitedRows(_LineRows):
    """Comma or tab separated values under a header; a quoted value may span lines."""

    def __init__(
        self, path: Path, text_column: str, encoding: str, label_column: str | None, delimiter: str = ","
    ) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._no_text = self._wrong_byte  # bytes are marked
        csv.field_size_limit(sys.maxsize)
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
        self.text_at, self.label_at = columns_of(self.naming.path, self.header, text_column, label_column)

    def columns(self) -> list[str]:
        return list(self.header)

    def _rows(self, start: Place) -> Iterator[tuple[Row, int, int]]:
        text_at, label_at, header = self.text_at, self.label_at, self.header
        for offset, number, behind, after, values in self._records(start):
            if len(values) == len(header) and values != header:
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
                yield line if isinstance(line, str) else line.decode(self.encoding, "wfalens.mark")

        reader = csv.reader(lines(), delimiter=self.delimiter, strict=True)
        for values in reader:  # it takes no line more than a record needs, so `behind` is where the next begins
            after = start.line + reader.line_num
            yield offset, number, behind, after, values
            offset, number = behind, after
