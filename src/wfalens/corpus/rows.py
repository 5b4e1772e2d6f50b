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
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, repeat
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from wfalens.corpus.readers import LABEL_COLUMN, columns_of, is_broken, suffix_of
from wfalens.errors import InputError

_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)
_PARQUET_ROWS = 4096  # decoded at once


class Place(NamedTuple):
    """Where a row begins: byte and line of a text file; of a parquet file the rows before it, twice."""

    offset: int
    line: int


# A row as it stands in the file: its line, its size in bytes, offset and line of the place behind it, and what
# `text_of` reads. A plain tuple, because there are many.
RawRow = tuple[int, int, int, int, Any]


class RowSource(Protocol):
    """A file that can be read from any place on; `unit` is how its rows are numbered."""

    unit: str
    start: Place
    divisible: bool  # whether it pays to begin in the middle

    def rows(self, start: Place) -> Iterator[RawRow]: ...

    def text_of(self, content: Any) -> str | None:
        """The text of a row, None for an empty one; an InputError says why there is none."""
        ...

    def columns(self) -> list[str]:
        """What the rows hold, by name; of JSON, the fields of the first object."""
        ...

    def label_rows(self, start: Place) -> Iterator[Any]:
        """What `label_of` reads, in step with `rows`; for a source that was given a label column."""
        ...

    def label_of(self, content: Any) -> str:
        """The label of a row whose text could be read; an InputError says why there is none."""
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


class _Lines(ABC):
    """What text files share: lines with their bytes, decoded one by one."""

    unit = "line"

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.path, self.text_column, self.encoding, self.label_column = path, text_column, encoding, label_column
        self.divisible = path.suffix.lower() != ".gz"
        with self._opened() as handle:
            try:
                mark = len(codecs.BOM_UTF8) if handle.read(3) == codecs.BOM_UTF8 else 0
            except _DAMAGED as error:
                raise InputError(f"{path}: damaged gzip file ({error})") from None
        self.start = Place(mark, 1)

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if not self.divisible else self.path.open("rb")  # type: ignore[return-value]

    def _from(self, handle: IO[bytes], start: Place) -> IO[bytes]:
        handle.seek(start.offset)
        return handle

    @abstractmethod
    def rows(self, start: Place) -> Iterator[RawRow]: ...

    def label_rows(self, start: Place) -> Iterator[Any]:
        return (content for *_, content in self.rows(start))


class JsonRows(_Lines):
    """One JSON object on a line; the first one tells whether there are labels."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        if label_column is not None and (names := self.columns()) and label_column not in names:
            raise InputError(f"{path}: no column {label_column!r}; the columns are {', '.join(names)}")

    def rows(self, start: Place) -> Iterator[RawRow]:
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

    def text_of(self, content: Any) -> str | None:
        if isinstance(content, InputError):
            raise content
        if content.isspace():
            return None
        item = self._object(content)
        if self.text_column not in item:
            raise InputError(f"no field {self.text_column!r}")
        return checked_text(item[self.text_column])

    def columns(self) -> list[str]:
        for *_, content in self.rows(self.start):
            try:
                if not (isinstance(content, InputError) or content.isspace()):
                    return list(self._object(content))
            except InputError:
                continue  # whoever reads the row hears of it
        return []

    def label_of(self, content: Any) -> str:
        return checked_label(self._object(content).get(self.label_column or LABEL_COLUMN))

    def _object(self, content: bytes) -> dict[str, Any]:
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

    def rows(self, start: Place) -> Iterator[RawRow]:
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

    def _records(self, handle: IO[bytes], start: Place) -> Iterator[RawRow]:
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

    def text_of(self, content: Any) -> str | None:
        if isinstance(content, InputError):
            raise content
        if not content:
            return None
        if content == self.header:
            raise InputError("the header stands here a second time")
        if len(content) != len(self.header):
            raise InputError(f"{len(content)} columns where the header has {len(self.header)}")
        return checked_text(content[self.text_at])

    def columns(self) -> list[str]:
        return list(self.header)

    def label_of(self, content: Any) -> str:
        return checked_label(None if self.label_at is None else content[self.label_at])


class ParquetRows:
    """The text column of a parquet file, decoded a few thousand rows at a time."""

    unit, start, divisible = "row", Place(0, 1), True

    def __init__(self, path: Path, text_column: str, _encoding: str, label_column: str | None = None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path, self.text_column, self.label_column = path, text_column, label_column
        try:
            with pq.ParquetFile(path) as file:
                self._names = list(file.schema_arrow.names)
                columns_of(path, self._names, text_column, label_column)
                groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path}: not a readable parquet file ({str(error).splitlines()[0]})") from None
        self._groups = groups

    def rows(self, start: Place) -> Iterator[RawRow]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        group, before = 0, 0
        while group < len(self._groups) and before + self._groups[group] <= start.offset:
            before += self._groups[group]
            group += 1
        row = start.offset
        with pq.ParquetFile(self.path) as file:
            try:
                wanted = list(range(group, len(self._groups)))
                for batch in file.iter_batches(_PARQUET_ROWS, row_groups=wanted, columns=[self.text_column]):
                    skipped = min(len(batch), max(0, start.offset - before))
                    before += len(batch)
                    for text in batch.column(0).slice(skipped).to_pylist():
                        row += 1
                        yield row, len(text) + 1 if isinstance(text, str) else 1, row, row + 1, text
            except (pa.ArrowException, OSError) as error:
                reason = InputError(f"damaged parquet file ({str(error).splitlines()[0]}); the rest is not read")
                yield row + 1, 1, row, row + 1, reason

    def text_of(self, content: Any) -> str | None:
        if isinstance(content, InputError):
            raise content
        return checked_text(content)

    def columns(self) -> list[str]:
        return self._names

    def label_rows(self, start: Place) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        ends = list(accumulate(self._groups))
        first = bisect_right(ends, start.offset)
        skipped = start.offset - (ends[first - 1] if first else 0)
        with pq.ParquetFile(self.path) as file:
            try:
                wanted = list(range(first, len(ends)))
                for batch in file.iter_batches(_PARQUET_ROWS, row_groups=wanted, columns=[self.label_column]):
                    yield from batch.column(0).slice(min(skipped, len(batch))).to_pylist()
                    skipped = max(0, skipped - len(batch))
            except (pa.ArrowException, OSError) as error:
                yield from repeat(InputError(f"the label cannot be read ({str(error).splitlines()[0]})"))

    def label_of(self, content: Any) -> str:
        if isinstance(content, InputError):
            raise content
        return checked_label(content)
