"""The rows of one file, read by pyarrow in batches: csv, jsonl, plain lines and parquet.

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
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, printable, quoted, reason_of
from wfalens.ragged import Ragged
from wfalens.text.blocks import Place, RowBatch, RowNames
from wfalens.text.packed import PackedTexts

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMN, LABEL_COLUMN = "text", "label"
NO_LABEL = "the label is missing"
LONGEST = 1 << 26  # bytes of a row: what is longer is no text, and would fill the memory
_CHUNK, _PIECE = 1 << 19, 1 << 16  # bytes of a chunk of records, and that are read at a time
_HEAD = 1 << 19  # bytes that show the columns
_GZIP = b"\x1f\x8b"
_MARKS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LINE_END = re.compile(rb"\r\n?|\n")
_DELIMITERS = (",", ";", "\t")
_SEPARATOR_LINE = re.compile(rb"sep=(.)\r?\n")  # Excel's own first line
_FIRST_ROWS = 100  # JSON objects that show which fields there are
_PARQUET_ROWS, _PARQUET_BYTES = 4096, 8 << 20  # that are decoded at a time, at most
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


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not text become characters that are none, so that the rest of a row can be read."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_ESCAPED, _escape)


class _Utf8Stream:
    """The content of a text file as UTF-8. Archives and files in other encodings are decoded from their start."""

    def __init__(self, path: Path, encoding: str) -> None:
        self.path, self.encoding = path, encoding
        with path.open("rb") as handle:
            self.is_gzip = path.suffix.lower() == ".gz" or handle.read(2) == _GZIP
        with self._opened() as handle:
            head = handle.read(4)
        if encoding == "utf-8":
            self.encoding = next((name for mark, name in _MARKS if head.startswith(mark)), encoding)
        self.divisible = self.encoding == "utf-8" and not self.is_gzip
        first = next(self.pieces(0), b"")
        self.start = len(codecs.BOM_UTF8) if first.startswith(codecs.BOM_UTF8) else 0

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if self.is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def pieces(self, offset: int) -> Iterator[bytes]:
        """The content from a byte on; errors come at the same byte wherever reading begins."""
        with self._opened() as handle:
            if self.divisible:
                handle.seek(offset)
                offset = 0
            pieces = iter(lambda: handle.read1(_PIECE), b"")  # type: ignore[attr-defined]
            for piece in pieces if self.encoding == "utf-8" else self._decoded(pieces):
                if offset < len(piece):
                    yield piece[offset:]
                offset = max(0, offset - len(piece))

    def _decoded(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.encoding)(_ESCAPED)
        for piece in pieces:
            yield decoder.decode(piece).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")


def _record_end(data: bytearray, least: int, opening: bytes) -> tuple[int | None, int, bool]:
    """Where the first record ends that reaches `least` bytes, None if none does; then also where the last record
    begins, and whether it ends within quotes. A quote opens a value only behind one of `opening` (b"": nowhere)."""
    at = start = 0
    while True:
        quote = data.find(b'"', at) if opening else -1
        behind = len(data) if quote < 0 else quote
        if behind >= least and (found := _LINE_END.search(data, max(at, least), behind)):
            return found.end(), start, False
        start = 1 + max(start - 1, data.rfind(b"\n", at, behind), data.rfind(b"\r", at, behind))
        if quote < 0:
            return None, start, False
        at = quote + 1
        if quote == 0 or data[quote - 1] in opening:
            at = data.find(b'"', at) + 1
            while at and data[at : at + 1] == b'"':  # a doubled quote is one within the value
                at = data.find(b'"', at + 1) + 1
            if not at:
                return None, start, True


class _TextRows(ABC):
    """What text files have in common."""

    opening = b""  # bytes behind which a quote opens a value

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None) -> None:
        self.naming = RowNames(printable(str(path)), self.unit)
        self.text_column, self.label_column = text_column, label_column
        try:
            self.stream = _Utf8Stream(path, encoding)
        except _UNREADABLE as error:
            raise InputError(f"{self.naming.path}: {_why_it_ends(error, encoding)}", code="unreadable") from None
        self.divisible, self.start = self.stream.divisible, Place(self.stream.start, 1)

    unit = "line"

    @abstractmethod
    def columns(self) -> list[str]: ...

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def batches(self, start: Place) -> Iterator[RowBatch]:
        offset, row = start.offset, start.row - start.skip
        for data, reason in self._chunks(offset, _CHUNK):
            values = self._read(data) if data else RowValues.none(self.label_column)
            here, end = Place(offset, row), Place(offset + len(data), row + values.rows)
            bad = [(end.row, reason)] if reason else []
            yield values.batch(here, end, bad, self.stream.encoding)
            offset, row = end.offset, end.row

    @abstractmethod
    def _read(self, data: bytes) -> RowValues:
        """The rows of a chunk."""

    def _chunks(self, offset: int, size: int) -> Iterator[tuple[bytes, str]]:
        """Runs of whole records of about `size` bytes; with the last, why the file ends before its end."""
        held, reason = bytearray(), ""
        pieces = self.stream.pieces(offset)
        enough, ended = size, False
        while not ended:
            try:
                piece = next(pieces, None)
            except _UNREADABLE as error:
                piece, reason = None, _why_it_ends(error, self.stream.encoding)
            ended = piece is None
            held += piece or b""
            while len(held) > enough:  # more than that, as \n may follow \r
                end, start, _ = _record_end(held, size, self.opening)
                if end is None or (end == len(held) and not ended):
                    if len(held) > LONGEST:
                        yield bytes(held[:start]), f"a row of more than {LONGEST >> 20} MB; the rest is not read"
                        return
                    enough = 2 * len(held)
                    break
                yield bytes(held[:end]), ""
                del held[:end]
                enough = size
        _, start, is_open = _record_end(held, len(held), self.opening) if reason or b'"' in held else (0, 0, False)
        if is_open:
            reason = reason or "broken quoting (a quote without an end); the rest is not read"
        yield bytes(held[:start] if reason else held), reason


class RowValues:
    """Texts and labels of neighbouring rows as they stand in a file; places count from 0."""

    def __init__(
        self, texts: Any, labels: Any, rows: int, places: NDArray[np.int64] | None = None, bad: Sequence[Any] = ()
    ) -> None:
        self.texts, self.labels = texts, labels  # arrow arrays or lists; labels None: not read
        self.rows = rows  # of the batch, those among them that are bad or blank
        self.places = np.arange(rows) if places is None else places  # (texts,)
        self.bad: Sequence[tuple[int, str]] = bad

    @classmethod
    def none(cls, label_column: str | None) -> RowValues:
        return cls([], None if label_column is None else [], 0)

    def batch(self, start: Place, end: Place, bad: Sequence[tuple[int, str]], encoding: str = "") -> RowBatch:
        """The rows, checked."""
        rows = self.places + start.row
        refused = [(place + start.row, reason) for place, reason in self.bad]
        found = None if isinstance(self.texts, list) else _packed(self.texts, self.labels, rows)
        texts, labels, kept, empty, more = found or _one_by_one(self.texts, self.labels, rows, encoding)
        every = sorted([*refused, *more, *bad])
        return RowBatch(texts, labels, texts.content.lengths + 1, kept, empty, every, end, start)

    def numbered_batch(self, first: int, bad: Sequence[tuple[int, str]] = ()) -> RowBatch:
        """The rows of a file in which reading can begin at any row."""
        start, end = Place(first, first + 1), Place(first + self.rows, first + self.rows + 1)
        return replace(self.batch(start, end, bad), start=None)


_Checked = tuple[PackedTexts, list[str] | None, NDArray[np.int64], list[int], list[tuple[int, str]]]


def _packed(values: pa.Array, labels: pa.Array | None, rows: NDArray[np.int64]) -> _Checked | None:
    """Texts as they lie in memory, without a Python string for each; None where a row must be looked at."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values, labels = _as_text(values), None if labels is None else _as_text(labels)
    if not pa.types.is_large_string(values.type) or not all(_is_utf8(each) for each in (values, labels)):
        return None
    empty: list[int] = []
    blank = pc.fill_null(pc.or_(pc.utf8_is_space(values), pc.equal(pc.binary_length(values), 0)), True)
    if pc.any(blank).as_py():
        is_blank = np.asarray(blank)
        values, rows, empty = values.filter(pc.invert(blank)), rows[~is_blank], rows[is_blank].tolist()
        labels = None if labels is None else labels.filter(pc.invert(blank))
    try:
        names = None if labels is None else [_label_of(label) for label in labels.to_pylist()]
    except InputError:
        return None
    _, places, content = values.buffers()
    offsets: NDArray[np.int64] = np.frombuffer(places, np.int64)[values.offset : values.offset + len(values) + 1]
    packed = np.frombuffer(content or b"", np.uint8)[offsets[0] : offsets[-1]]
    return PackedTexts(Ragged(packed, offsets - offsets[0])), names, rows, empty, []


def _one_by_one(texts: Any, labels: Any, rows: NDArray[np.int64], encoding: str) -> _Checked:
    """Where a row is bad, or the column holds no texts."""
    kept: list[tuple[int, str, str]] = []
    empty: list[int] = []
    bad: list[tuple[int, str]] = []
    for at, row in enumerate(rows.tolist()):
        try:
            text = _text_of(_value(texts[at], encoding))
            if text is None:
                empty.append(row)
            else:
                kept.append((row, text, "" if labels is None else _label_of(_value(labels[at], encoding))))
        except InputError as error:
            bad.append((row, str(error)))
    names = None if labels is None else [label for _, _, label in kept]
    packed = PackedTexts.of([text for _, text, _ in kept])
    return packed, names, np.array([row for row, _, _ in kept], np.int64), empty, bad


def _as_text(values: pa.Array) -> pa.Array:
    """Texts of any kind as large strings, not checked; what is not a text as it is."""
    import pyarrow as pa

    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if kind in (pa.binary(), pa.large_binary(), pa.binary_view()) or pa.types.is_fixed_size_binary(kind):
        return values.cast(pa.large_binary()).view(pa.large_string())
    return values.cast(pa.large_string()) if kind in (pa.string(), pa.large_string(), pa.string_view()) else values


def _is_utf8(values: pa.Array | None) -> bool:
    import pyarrow as pa

    try:
        if values is not None:
            values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _value(value: Any, encoding: str) -> object:
    """A value of a list or an arrow array as Python has it; an InputError says which byte is not text."""
    try:
        value = value.as_py() if hasattr(value, "as_py") else value
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        raise InputError(_wrong_byte(error, encoding)) from None


def _wrong_byte(error: UnicodeDecodeError, encoding: str) -> str:
    """Which byte of UTF-8, or of what was escaped in another encoding, is none."""
    byte = error.object[error.start]
    if not encoding:
        return f"byte 0x{byte:02x} is not utf-8"
    if encoding != "utf-8":
        byte = ord(error.object[error.start :].decode("utf-8", "surrogatepass")[0]) & 0xFF
    return f'byte 0x{byte:02x} is not {encoding}; give the file\'s encoding, for example encoding="latin-1"'


def _text_of(value: object) -> str | None:
    """The text of a value, None of one without; an InputError says why it cannot be one."""
    if isinstance(value, str):
        return None if not value or value.isspace() else _checked_text(value)
    return None if value is None or value != value else _as_string(value, "text")  # NaN is no text


def _label_of(value: object) -> str:
    """The label of a value; an InputError says why there is none."""
    if value is None or value != value or not (label := _as_string(value, "label").strip()):
        raise InputError(NO_LABEL)
    return _checked_text(label)


def _as_string(value: object, what: str) -> str:
    if isinstance(value, InputError):
        raise value
    if isinstance(value, list | dict):
        raise InputError(f"the {what} is {'a list' if isinstance(value, list) else 'an object'}, not a text")
    return str(value)


def _checked_text(text: str) -> str:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise InputError("half of a surrogate pair, which is not text") from None
    return text


def _why_it_ends(error: Exception, encoding: str) -> str:
    """Why a file ends before its end."""
    if isinstance(error, UnicodeError):
        return f"not {encoding} text ({reason_of(error)}); give the file's encoding"
    return f"damaged gzip file ({reason_of(error)}); the rest is not read"


def find_columns(path: str, header: Sequence[str], text_column: str, label_column: str | None) -> list[int]:
    """The positions of texts and labels; an InputError names a column that is missing or stands twice."""
    for option, name in (("text_column", text_column), ("label_column", label_column)):
        if name is not None and name not in header:
            names = listed(header)
            raise InputError(
                f"{path}: no column {quoted(name)}; the columns are {names}: name one of them with {option}=",
                code="column",
            )
        if name is not None and header.count(name) > 1:
            raise InputError(f"{path}: the column {quoted(name)} stands twice in the header", code="column")
    return [header.index(name) for name in (text_column, label_column) if name is not None]


class DelimitedRows(_TextRows):
    """Values between commas, semicolons or tabs under a header; a quoted value may span lines."""

    unit = "row"

    def __init__(
        self, path: Path, text_column: str, encoding: str, label_column: str | None, delimiters: str = ",;\t"
    ) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self.opening = b"\r\n" + delimiters.encode()
        data, reason = next(self._chunks(self.start.offset, _HEAD))
        separator = _SEPARATOR_LINE.match(data)
        skipped = separator.end() if separator else len(data) - len(data.lstrip(b"\r\n"))
        delimiters = separator[1].decode("latin-1") if separator else delimiters
        content = bytearray(data[skipped:])
        if not content:
            raise InputError(f"{self.naming.path}: {reason or 'the file is empty'}", code="empty-file")
        end, *_ = _record_end(content, 0, self.opening)
        self._line = bytes(content[:end])
        self.header, self.delimiter = self._parsed_header(delimiters)
        self.opening = b"\r\n" + self.delimiter.encode()
        self.start = Place(self.start.offset + skipped + len(self._line), 2)
        if text_column not in self.header:
            try:
                _value(self._line, self.stream.encoding)
            except InputError as error:
                raise InputError(f"{self.naming.path}: row 1: {error}", code="encoding") from None
        self.positions = find_columns(self.naming.path, self.header, text_column, label_column)

    def _parsed_header(self, delimiters: str) -> tuple[list[str], str]:
        """The names of the columns and what stands between them: what gives the column of texts, or most columns."""
        text = self._line.decode("utf-8", _ESCAPED)
        try:
            parsed = {mark: next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), []) for mark in delimiters}
        except csv.Error as error:
            raise InputError(f"{self.naming.path}: broken header ({reason_of(error)})", code="column") from None
        headers = {mark: [name.strip() for name in names] for mark, names in parsed.items()}
        best = max(delimiters, key=lambda mark: (self.text_column in headers[mark], len(headers[mark])))
        return headers[best], best

    def columns(self) -> list[str]:
        return list(self.header)

    def _read(self, data: bytes) -> RowValues:
        wrong: list[tuple[int, str]] = []  # places of rows that do not fit the header
        if _is_valid(data):
            columns = self._parsed(data, wrong)
        else:  # pyarrow cannot show such rows to the handler: each byte becomes a character, and a byte again
            columns = [_recoded(column) for column in self._parsed(data.decode("latin-1").encode(), wrong)]
        total = len(columns[0]) + len(wrong)
        places = np.delete(np.arange(total), [place for place, _ in wrong])
        texts, labels = columns[0], columns[1] if len(columns) > 1 else None
        if len(self.header) > 1 and self._line.strip() in data:
            repeated = _equal(columns, [self.header[position] for position in self.positions])
            wrong += [(place, "the header stands here a second time") for place in places[repeated].tolist()]
            texts, labels, places = texts.filter(~repeated), labels and labels.filter(~repeated), places[~repeated]
        return RowValues(texts, labels, total, places, wrong)

    def _parsed(self, data: bytes, wrong: list[tuple[int, str]]) -> list[pa.Array]:
        """The columns of texts and labels, as bytes; rows of another length are added to `wrong`."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        def leave_out(row: Any) -> str:
            reason = f"{row.actual_columns} columns where the header has {row.expected_columns}"
            wrong.append((row.number - 1, reason))
            return "skip"

        names = [str(number) for number in range(len(self.header))]
        used = [names[position] for position in self.positions]
        if data.startswith(codecs.BOM_UTF8):
            data = codecs.BOM_UTF8 + data  # pyarrow drops one, which here is a part of the text
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=leave_out),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(used, pa.large_binary()),
                include_columns=used,
                strings_can_be_null=False,
            ),
        )
        return [_one_array(table.column(name), pa.large_binary()) for name in used]


def _is_valid(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _one_array(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], kind), *column.chunks])


def _recoded(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.array([value.decode().encode("latin-1") for value in column.to_pylist()], pa.large_binary())


def _equal(columns: Sequence[pa.Array], values: Sequence[str]) -> NDArray[np.bool_]:
    """The rows that hold the given values; -> (rows,)"""
    import pyarrow.compute as pc

    found = [pc.equal(column, value.encode()) for column, value in zip(columns, values, strict=True)]
    return np.prod([np.asarray(each) for each in found], axis=0) > 0  # type: ignore[no-any-return]


class JsonRows(_TextRows):
    """One JSON object on a line; the first hundred show which fields there are."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        self._decode = json.JSONDecoder(object_pairs_hook=self._unambiguous).decode
        self._fields = self._first_fields()
        if self._fields:
            find_columns(self.naming.path, self._fields, text_column, label_column)

    def columns(self) -> list[str]:
        return self._fields

    def _first_fields(self) -> list[str]:
        found: dict[str, None] = {}
        data, _ = next(self._chunks(self.start.offset, _HEAD))
        for line in [line for line in data.splitlines() if line.strip()][:_FIRST_ROWS]:
            item = self._object(line)
            found |= dict.fromkeys(item) if isinstance(item, dict) else {}
        return list(found)

    def _read(self, data: bytes) -> RowValues:
        lines = data.splitlines()
        places = np.flatnonzero([bool(line) and not line.isspace() for line in lines])
        texts, labels = self._parsed(data, len(places)) or self._one_by_one([lines[place] for place in places])
        return RowValues(texts, labels, len(lines), places)

    def _parsed(self, data: bytes, rows: int) -> tuple[pa.Array, pa.Array | None] | None:
        """All rows at once; None where one of them is no object with a text as a string."""
        import pyarrow as pa
        from pyarrow import json as arrow_json

        names = [name for name in (self.text_column, self.label_column) if name is not None]
        schema = pa.schema([(name, pa.large_string()) for name in names])
        parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1)
        try:
            table = arrow_json.read_json(pa.BufferReader(data), read, parse)
        except pa.ArrowInvalid:
            return None
        if len(table) != rows or table.column(self.text_column).null_count:
            return None
        columns = [_one_array(table.column(name), pa.large_string()) for name in names]
        return columns[0], columns[1] if len(columns) > 1 else None

    def _one_by_one(self, lines: Sequence[bytes]) -> tuple[list[object], list[object] | None]:
        items = [self._object(line) for line in lines]
        missing = InputError(f"no field {quoted(self.text_column)}")
        texts = [item.get(self.text_column, missing) if isinstance(item, dict) else item for item in items]
        if self.label_column is None:
            return texts, None
        return texts, [item.get(self.label_column) if isinstance(item, dict) else None for item in items]

    def _object(self, line: bytes) -> dict[str, Any] | InputError:
        """The object of a line, or why there is none."""
        try:
            item = self._decode(line.decode())
        except InputError as error:
            return error
        except UnicodeDecodeError as error:
            return InputError(_wrong_byte(error, self.stream.encoding))
        except (ValueError, RecursionError) as error:
            return InputError(f"not JSON ({str(error).partition(':')[0]})")
        return item if isinstance(item, dict) else InputError(f"expected an object with {quoted(self.text_column)}")

    def _unambiguous(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of its fields; refused where text or label stand twice in it."""
        names = [name for name, _ in pairs]
        for name in (self.text_column, self.label_column):
            if names.count(str(name)) > 1:
                raise InputError(f"the field {quoted(str(name))} stands twice")
        return dict(pairs)


class PlainRows(_TextRows):
    """One text on a line, and nothing else."""

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        super().__init__(path, text_column, encoding, label_column)
        find_columns(self.naming.path, self.columns(), text_column, label_column)

    def columns(self) -> list[str]:
        return [TEXT_COLUMN]

    def _read(self, data: bytes) -> RowValues:
        import pyarrow as pa

        lines = data.splitlines()
        places = np.flatnonzero([bool(line) and not line.isspace() for line in lines])
        texts = pa.array([lines[place] for place in places], pa.large_binary())
        return RowValues(texts, None, len(lines), places)


class ParquetRows:
    """The text column of a parquet file, and that of the labels, decoded a few thousand rows at a time."""

    start, divisible = Place(0, 1), True

    def __init__(self, path: Path, text_column: str, _encoding: str, label_column: str | None = None) -> None:
        import pyarrow as pa

        self.naming = RowNames(printable(str(path)))
        self.path, self.used = path, [name for name in (text_column, label_column) if name is not None]
        stat = path.stat()  # a file that is missing may be on another machine
        try:
            schema, self._groups, self._at_once = _layout(str(path), stat.st_size, stat.st_mtime_ns)
        except (pa.ArrowException, OSError) as error:
            reason = f"not a readable parquet file ({reason_of(error)})"
            raise InputError(f"{self.naming.path}: {reason}", code="unreadable") from None
        self._names = list(schema.names)
        find_columns(self.naming.path, self._names, text_column, label_column)
        for name in self.used:
            if pa.types.is_nested(kind := schema.field(name).type):
                held = f"the column {quoted(name)} holds {listed([str(kind)])}, not texts"
                raise InputError(f"{self.naming.path}: {held}", code="column")

    def columns(self) -> list[str]:
        return self._names

    def lead(self, start: Place) -> int:
        """Rows of its group before a place: they are decoded too."""
        ends = np.cumsum(self._groups)
        group = int(np.searchsorted(ends, start.offset, side="right"))
        return start.offset - (int(ends[group - 1]) if group else 0)

    def batches(self, start: Place) -> Iterator[RowBatch]:
        """Batches end with their row group, so that damage hides the same rows wherever reading begins."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        row = before = 0  # the first row of a batch, of a group
        with pq.ParquetFile(self.path) as file:
            for group, rows in enumerate(self._groups):
                before, row = before + rows, before
                if before <= start.offset:
                    continue
                at_once = self._at_once[group]
                try:
                    for batch in file.iter_batches(at_once, row_groups=[group], columns=self.used, use_threads=False):
                        columns = [batch.column(name) for name in self.used]
                        values = RowValues(columns[0], columns[1] if columns[1:] else None, len(batch))
                        yield values.numbered_batch(row)
                        row += len(batch)
                except (pa.ArrowException, OSError) as error:
                    where = f"row group {group + 1} of {len(self._groups)}"
                    reason = f"damaged parquet file ({where}: {reason_of(error)}); the rest is not read"
                    yield RowValues([], [] if self.used[1:] else None, 0).numbered_batch(row, [(row + 1, reason)])
                    return


@lru_cache(maxsize=64)
def _layout(path: str, _size: int, _changed: int) -> tuple[pa.Schema, tuple[int, ...], tuple[int, ...]]:
    """The columns of a file, the number of rows in each group, and how many of them are decoded at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
        rows = tuple(group.num_rows for group in groups)
        at_once = (_PARQUET_BYTES * group.num_rows // max(1, group.total_byte_size) for group in groups)
        return file.schema_arrow, rows, tuple(min(_PARQUET_ROWS, max(1, number)) for number in at_once)
