"""The rows of one file, read by pyarrow in batches: csv, jsonl, plain lines and parquet; and of a folder of files.

Text files are cut into chunks of whole records, so that reading can begin at any chunk. A row that cannot be read is
passed on with the reason. After an error that hides where the next row begins (a quote without an end, a damaged
archive) the file ends.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import math
import os
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, printable, quoted, reason_of
from wfalens.text.blocks import Place, RowBatch, RowNames, RowReader, checked_rows, text_of, wrong_byte

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMN, LABEL_COLUMN = "text", "label"
_FILES = 16  # of a folder that are read at a time
LONGEST = 1 << 26  # bytes of a row: what is longer is no text, and would fill the memory
_CHUNK, _PIECE = 1 << 19, 1 << 16  # bytes of a chunk of records, and that are read at a time
_HEAD = 1 << 19  # bytes that show the columns
_GZIP = b"\x1f\x8b"
_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATOR_LINE = re.compile(rb"sep=(.)\r?\n")  # Excel's own first line
_FIRST_ROWS = 100  # JSON objects that show which fields there are
_PARQUET_ROWS, _PARQUET_BYTES = 4096, 8 << 20  # that are decoded at a time, at most
_LEAST_INFLATED, _INFLATION = 1 << 24, 50  # bytes that any archive may hold, and that each of its bytes may
_LEAST_CLAIMED, _ROWS_PER_BYTE = 1 << 20, 20  # rows of a parquet file
_UNREADABLE = (gzip.BadGzipFile, EOFError, zlib.error, UnicodeError)
_ESCAPED = "wfalens.escape"  # how wrong bytes are decoded: into characters that are none


def known_encoding(encoding: str) -> str:
    """An encoding by its usual name; a byte order mark is no part of the text in any of them."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InputError(reason_of(error), code="encoding") from None
    return name.removesuffix("-sig")


def inflation_limit(path: Path) -> int:
    """Bytes that a compressed file may hold: texts shrink a few times, files made to fill a disk a thousand."""
    return max(_LEAST_INFLATED, _INFLATION * path.stat().st_size)


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not text become characters that are none, so that the rest of a row can be read."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_ESCAPED, _escape)


def _as_bytes(values: Any) -> pa.Array:
    """A column of texts of any kind as large binary, not checked; what is not a text as it is."""
    import pyarrow as pa

    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    kinds = (pa.binary(), pa.large_string(), pa.string(), pa.string_view(), pa.binary_view())
    is_text = values.type in kinds or pa.types.is_fixed_size_binary(values.type)
    return values.cast(pa.large_binary()) if is_text else values


class TextRows(RowReader):
    """What text files have in common: they are read as UTF-8, whatever their encoding, in chunks of whole records."""

    unit = "line"
    quoted: re.Pattern[bytes] | None = None  # values in which a line end does not end a record

    def open(self) -> None:
        try:
            with self.path.open("rb") as handle:
                self._is_gzip = self.path.suffix.lower() == ".gz" or handle.read(2) == _GZIP
            with self._opened() as handle:
                head = handle.read(4)
            if self.encoding == "utf-8":
                self.encoding = next((name for mark, name in _MARKS if head.startswith(mark)), self.encoding)
            self.divisible = self.encoding == "utf-8" and not self._is_gzip
            first = next(self._pieces(0), b"")
        except _UNREADABLE as error:
            raise InputError(f"{self.naming.path}: {self._why_it_ends(error)}", code="unreadable") from None
        self.start = Place(len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0, 1)

    def batches(self, start: Place) -> Iterator[tuple[Place, RowBatch]]:
        place = Place(start.offset, start.row - start.skip)
        for data, reason in self._chunks(place.offset, _CHUNK):
            columns, rows, refused, total = self._read(data)
            bad = [(place.row + row, why) for row, why in [*refused, (total, reason)] if why]
            yield place, checked_rows(columns, rows + place.row, bad, self.encoding)
            place = Place(place.offset + len(data), place.row + total)

    @abstractmethod
    def _read(self, data: bytes) -> tuple[Sequence[Any], NDArray[np.int64], Sequence[tuple[int, str]], int]:
        """The columns that are used, the numbers of their rows within a chunk, rows that do not fit, and how many
        rows there are in all."""

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if self._is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def _pieces(self, offset: int) -> Iterator[bytes]:
        """The content as UTF-8 from a byte on; what is not divisible is decoded from its start."""
        with self._opened() as handle:
            pieces: Iterator[bytes] = iter(partial(handle.read1, _PIECE), b"")  # type: ignore[attr-defined]
            if self.divisible:
                handle.seek(offset)
                offset = 0
            elif self.encoding != "utf-8":
                texts = codecs.iterdecode(pieces, self.encoding, _ESCAPED)
                pieces = (text.encode("utf-8", "surrogatepass") for text in texts)
            left = inflation_limit(self.path) if self._is_gzip else math.inf
            for piece in pieces:
                left -= len(piece)
                if left < 0:
                    raise gzip.BadGzipFile(f"it holds more than {_INFLATION} times its size")
                if offset < len(piece):
                    yield piece[offset:]
                offset = max(0, offset - len(piece))

    def _why_it_ends(self, error: Exception) -> str:
        if isinstance(error, UnicodeError):
            return f"not {self.encoding} text ({reason_of(error)}); give the file's encoding"
        return f"damaged gzip file ({reason_of(error)}); the rest is not read"

    def _chunks(self, offset: int, size: int) -> Iterator[tuple[bytes, str]]:
        """Runs of whole records: those within `size` bytes, or within twice as many as long as that is none.

        With the last comes the reason why the file ends before its end.
        """
        held, reason, window, ended = bytearray(), "", size, False
        pieces = self._pieces(offset)
        while not ended:
            try:
                piece = next(pieces, None)
            except _UNREADABLE as error:
                piece, reason = None, self._why_it_ends(error)
            ended = piece is None
            held += piece or b""
            while len(held) > window:
                end = _last_end(self._masked(bytes(held[:window])))
                if not end and window >= LONGEST:
                    yield b"", f"a row of more than {LONGEST >> 20} MB; the rest is not read"
                    return
                if end:
                    yield bytes(held[:end]), ""
                    del held[:end]
                window = size if end else min(2 * window, LONGEST)
        masked = self._masked(bytes(held) + b"\n")
        if not masked.endswith(b"\n"):
            reason = reason or "broken quoting (a quote without an end); the rest is not read"
        yield bytes(held[: _last_end(masked[:-1])] if reason else held), reason

    def _masked(self, data: bytes) -> bytes:
        """The data with quoted values painted over, so that every line end that is left ends a record."""
        if self.quoted is None or b'"' not in data:
            return data
        return self.quoted.sub(lambda value: b"x" * len(value[0]), data)


def _last_end(masked: bytes) -> int:
    """Where the last record ends; \\r at the very end may be half of a line end."""
    return 1 + max(masked.rfind(b"\n"), masked.rfind(b"\r", 0, -1))


def _values_quoted_behind(delimiters: str) -> re.Pattern[bytes]:
    """Quoted values, doubled quotes in them; a quote opens a value only at its beginning."""
    return re.compile(rb'"(?<![^\r\n%s]")(?:[^"]++|"")*+"?' % re.escape(delimiters.encode()))


class DelimitedRows(TextRows):
    """Values between commas, semicolons or tabs under a header; a quoted value may span lines."""

    unit = "row"
    delimiters = ",;\t"  # of equally good ones, the first

    def open(self) -> None:
        super().open()
        self.quoted = _values_quoted_behind(self.delimiters)
        data, reason = next(self._chunks(self.start.offset, _HEAD))
        separator = _SEPARATOR_LINE.match(data)
        skipped = separator.end() if separator else len(data) - len(data.lstrip(b"\r\n"))
        delimiters = separator[1].decode("latin-1") if separator else self.delimiters
        end = _LINE_END.search(self._masked(data), skipped)
        self._line = data[skipped : end.end() if end else len(data)]
        if not self._line:
            raise InputError(f"{self.naming.path}: {reason or 'the file is empty'}", code="empty-file")
        self.columns, self.delimiter = self._parsed_header(delimiters)
        self.quoted = _values_quoted_behind(self.delimiter)
        self.start = Place(self.start.offset + skipped + len(self._line), 2)
        if self.text_column not in self.columns:
            try:
                text_of(self._line, "header", self.encoding)
            except InputError as error:
                raise InputError(f"{self.naming.path}: row 1: {error}", code="encoding") from None
        self.positions = self.find_columns()

    def _parsed_header(self, delimiters: str) -> tuple[tuple[str, ...], str]:
        """The names of the columns and what stands between them: what gives the column of texts, or most columns."""
        text = self._line.decode("utf-8", _ESCAPED)
        try:
            parsed = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in delimiters}
        except csv.Error as error:
            raise InputError(f"{self.naming.path}: broken header ({reason_of(error)})", code="column") from None
        if any(name.startswith(" ") and name.strip().startswith('"') for names in parsed.values() for name in names):
            raise InputError(
                f"{self.naming.path}: a quote stands behind a blank in the header; remove the blanks between values",
                code="column",
            )
        headers = {mark: tuple(name.strip() for name in names) for mark, names in parsed.items()}
        best = max(delimiters, key=lambda mark: (self.text_column in headers[mark], len(headers[mark])))
        return headers[best], best

    def _read(self, data: bytes) -> tuple[Sequence[Any], NDArray[np.int64], Sequence[tuple[int, str]], int]:
        import pyarrow as pa
        import pyarrow.compute as pc

        wrong: list[tuple[int, str]] = []  # rows that do not fit the header
        try:
            data.decode()
            columns = self._parsed(data, wrong)
        except UnicodeDecodeError:  # pyarrow would show such rows as text: each byte becomes a character, then a byte
            parsed = [column.to_pylist() for column in self._parsed(data.decode("latin-1").encode(), wrong)]
            columns = [pa.array([value.decode().encode("latin-1") for value in column]) for column in parsed]
        total = len(columns[0]) + len(wrong)
        rows = np.delete(np.arange(total), [row for row, _ in wrong])
        if len(self.columns) > 1 and self._line.strip() in data:
            equal = [pc.equal(column, name.encode()) for column, name in zip(columns, self.used, strict=True)]
            repeated = np.logical_and.reduce([np.asarray(column) for column in equal])
            wrong += [(row, "the header stands here a second time") for row in rows[repeated].tolist()]
            columns, rows = [column.filter(~repeated) for column in columns], rows[~repeated]
        return columns, rows, wrong, total

    def _parsed(self, data: bytes, wrong: list[tuple[int, str]]) -> list[pa.Array]:
        """The columns of texts and labels, as bytes; rows of another length are added to `wrong`."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def leave_out(row: Any) -> str:
            reason = f"{row.actual_columns} columns where the header has {row.expected_columns}"
            wrong.append((row.number - 1, reason))
            return "skip"

        names = [str(number) for number in range(len(self.columns))]
        used = [names[position] for position in self.positions]
        table = arrow_csv.read_csv(
            pa.BufferReader(b"\n" + data),  # pyarrow drops a byte order mark at the beginning, here a part of the text
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 2, column_names=names),
            arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=leave_out),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(used, pa.large_binary()),
                include_columns=used,
                strings_can_be_null=False,
            ),
        )
        return [_as_bytes(table.column(name)) for name in used]


class TabRows(DelimitedRows):
    """The same where tabs are usual."""

    delimiters = "\t,;"


def _lines(data: bytes) -> tuple[list[bytes], NDArray[np.int64], int]:
    """The lines that are not blank, their numbers, and how many lines there are in all."""
    lines = data.splitlines()
    rows = [row for row, line in enumerate(lines) if line and not line.isspace()]
    return [lines[row] for row in rows], np.array(rows, np.int64), len(lines)


class JsonRows(TextRows):
    """One JSON object on a line; the first hundred show which fields there are."""

    def open(self) -> None:
        super().open()
        self._decode = json.JSONDecoder(object_pairs_hook=self._unambiguous).decode
        data, _ = next(self._chunks(self.start.offset, _HEAD))
        objects = [self._object(line) for line in _lines(data)[0][:_FIRST_ROWS]]
        self.columns = tuple(dict.fromkeys(name for each in objects if isinstance(each, dict) for name in each))
        if self.columns:
            self.find_columns()

    def _read(self, data: bytes) -> tuple[Sequence[Any], NDArray[np.int64], Sequence[tuple[int, str]], int]:
        lines, rows, total = _lines(data)
        return self._parsed(data, len(rows)) or self._one_by_one(lines), rows, (), total

    def _parsed(self, data: bytes, rows: int) -> list[pa.Array] | None:
        """All rows at once; None where one of them is no object with a text as a string."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        schema = pa.schema([(name, pa.large_string()) for name in self.used])
        parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        try:
            table = arrow_json.read_json(pa.BufferReader(data), read, parse)
        except pa.ArrowInvalid:
            return None
        if len(table) != rows or table.column(self.text_column).null_count:
            return None
        return [_as_bytes(table.column(name)) for name in self.used]

    def _one_by_one(self, lines: Sequence[bytes]) -> list[list[object]]:
        items = [self._object(line) for line in lines]
        missing = InputError(f"no field {quoted(self.text_column)}")
        texts = [item.get(self.text_column, missing) if isinstance(item, dict) else item for item in items]
        labels = [item.get(self.label_column or "") if isinstance(item, dict) else None for item in items]
        return [texts, labels][: len(self.used)]

    def _object(self, line: bytes) -> dict[str, Any] | InputError:
        """The object of a line, or why there is none."""
        try:
            item = self._decode(line.decode())
        except InputError as error:
            return error
        except UnicodeDecodeError as error:
            return InputError(wrong_byte(error, self.encoding))
        except (ValueError, RecursionError) as error:
            return InputError(f"not JSON ({str(error).partition(':')[0]})")
        return item if isinstance(item, dict) else InputError(f"expected an object with {quoted(self.text_column)}")

    def _unambiguous(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of its fields; refused where text or label stand twice in it."""
        names = [name for name, _ in pairs]
        for name in self.used:
            if names.count(name) > 1:
                raise InputError(f"the field {quoted(name)} stands twice")
        return dict(pairs)


class PlainRows(TextRows):
    """One text on a line, and nothing else."""

    columns = (TEXT_COLUMN,)

    def open(self) -> None:
        super().open()
        self.find_columns()

    def _read(self, data: bytes) -> tuple[Sequence[Any], NDArray[np.int64], Sequence[tuple[int, str]], int]:
        import pyarrow as pa

        lines, rows, total = _lines(data)
        return [pa.array(lines, pa.large_binary())], rows, (), total


class ParquetRows(RowReader):
    """The text column of a parquet file, and that of the labels, decoded a few thousand rows at a time."""

    def open(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(self.path)
            schema, rows = self._file.schema_arrow, self._file.metadata.num_rows
            if rows > max(_LEAST_CLAIMED, _ROWS_PER_BYTE * self.path.stat().st_size):
                raise OSError(f"it claims {rows:,} rows, far more than it can hold")
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = f"not a readable parquet file ({reason_of(error)})"
            raise InputError(f"{self.naming.path}: {reason}", code="unreadable") from None
        self.columns = tuple(schema.names)
        self.find_columns()
        for name in self.used:
            if pa.types.is_nested(kind := schema.field(name).type):
                held = f"the column {quoted(name)} holds {listed([str(kind)])}, not texts"
                raise InputError(f"{self.naming.path}: {held}", code="column")

    def batches(self, start: Place) -> Iterator[tuple[Place, RowBatch]]:
        """Batches end with their row group, so that damage hides the same rows wherever reading begins."""
        import pyarrow as pa

        metadata, behind = self._file.metadata, 1
        for group in range(metadata.num_row_groups):
            about, row = metadata.row_group(group), behind
            place, behind = Place(row - 1, row), row + about.num_rows
            if behind - 1 <= start.offset:
                continue
            at_once = min(_PARQUET_ROWS, max(1, _PARQUET_BYTES * about.num_rows // max(1, about.total_byte_size)))
            try:
                for batch in self._file.iter_batches(at_once, [group], self.used, use_threads=False):
                    columns = [_as_bytes(batch.column(name)) for name in self.used]
                    yield place, checked_rows(columns, np.arange(row, row + len(batch)))
                    row += len(batch)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                where = f"row group {group + 1} of {metadata.num_row_groups}"
                reason = f"damaged parquet file ({where}: {reason_of(error)}); the rest is not read"
                yield place, checked_rows([[]] * len(self.used), np.zeros(0, np.int64), [(row, reason)])
                return


class FolderRows(RowReader):
    """Rows of a folder with one subfolder per class: every file in a subfolder is a row."""

    def open(self) -> None:
        self.columns = (self.text_column, LABEL_COLUMN)
        found = class_files(self.path)
        self.files, self.reasons = list(found), {row: why for row, why in enumerate(found.values(), 1) if why}
        names = [printable(str(file)) for file in found]
        self.naming = RowNames(printable(str(self.path)), "file", names, self.reasons)

    def batches(self, start: Place) -> Iterator[tuple[Place, RowBatch]]:
        for first in range(start.offset, len(self.files), _FILES):
            files = self.files[first : first + _FILES]
            rows = np.arange(first + 1, first + 1 + len(files))
            texts = [None if row in self.reasons else self._text(file) for row, file in zip(rows, files, strict=True)]
            labels = [] if self.label_column is None else [[file.parent.name for file in files]]
            yield Place(first, first + 1), checked_rows([texts, *labels], rows)

    def _text(self, file: Path) -> str | InputError:
        """The content of a file, or why it cannot be read."""
        path = self.path / file
        try:
            if not path.is_file():
                return InputError("not a file that can be read")  # a pipe, or a link to nothing
            size = path.stat().st_size
            if size > LONGEST:
                return InputError(f"a text of more than {LONGEST >> 20} MB")
            # the system's own files have no size, and some of them no end
            return path.read_text(self.encoding).removeprefix("\ufeff") if size else ""
        except UnicodeError:
            return InputError(f'not {self.encoding} text; give the files\' encoding, for example encoding="latin-1"')
        except PermissionError as error:
            return InputError(f"cannot be read ({error.strerror})")


def class_files(path: Path) -> dict[Path, str]:
    """The files in a folder with one subfolder per class, relative to it, and why one is left out ("": it is not).

    Names with a dot in front are hidden.
    """
    found: dict[Path, str] = {}
    for entry in _listed_folder(path):
        name = Path(entry.name)
        if entry.is_dir():
            files = _listed_folder(path / name)
            nested = "a folder within the folder of a class"
            found |= {name / file.name: nested if file.is_dir() else "" for file in files}
            found |= {} if files else {name: "a class without a file"}
        elif entry.is_file():
            found[name] = "not in the folder of a class"
        else:
            reason = "neither a class folder nor a file; is it a link to nothing?"
            raise InputError(f"{printable(str(path / name))}: {reason}", code="folder")
    if "" not in found.values():
        shown = printable(str(path))
        raise InputError(
            f"{shown}: expected one subfolder per class with text files in it; files side by side are given by a "
            f"pattern, for example '{shown}/*.csv'",
            code="folder",
        )
    return dict(sorted(found.items()))


def _listed_folder(path: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        raise  # it may be on another machine
    except OSError as error:
        reason = f"the folder cannot be read ({error.strerror or error})"
        raise InputError(f"{printable(str(path))}: {reason}", code="folder") from None
