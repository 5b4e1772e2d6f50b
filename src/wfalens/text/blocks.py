"""Blocks: the units in which a corpus is read, the same however it is stored and however the work is divided.

A block is neighbouring texts of one file, closed as soon as they have enough bytes; rows without text and rows that
cannot be read do not count. What a model answers for a text may depend in the last bit on the texts beside it; as
every block goes through the model by itself, results depend neither on the format nor on where a reader begins.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, printable, quoted
from wfalens.ragged import Ragged, concatenate
from wfalens.text.packed import PackedTexts

BLOCK_BYTES = 1 << 18  # of a block: some ten thousand words, enough for a network at a time
NO_LABEL = "the label is missing"
_MAX_BAD = 100_000  # bad rows of a block: more are no corpus
_END = sys.maxsize  # a row number behind all others


class Place(NamedTuple):
    """Where a block begins: its reader starts at an offset (a byte, row or file) and skips rows up to this one."""

    offset: int
    row: int
    skip: int = 0


class BadRow(NamedTuple):
    """A row that could not be read."""

    path: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.place}: {self.reason}"


@dataclass(frozen=True)
class RowNames:
    """How rows are called: by a unit and their number from 1 on, or each by a name."""

    path: str
    unit: str = "row"
    names: Sequence[str] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)  # why rows have no text, if not because they are empty

    def row(self, number: int) -> str:
        return self.names[number - 1] if self.names else f"{self.unit} {number}"

    def bad(self, number: int, reason: str) -> BadRow:
        return BadRow(self.path, self.row(number), reason)


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Neighbouring rows of a file; all numbers of rows rise."""

    texts: PackedTexts  # those that are not empty
    labels: Sequence[str] | None  # one for each text, where labels are read
    rows: NDArray[np.int64]  # (texts,) numbers of their rows
    empty: NDArray[np.int64]  # numbers of the rows without text
    refused: Sequence[tuple[int, str]]  # numbers of the rows that cannot be read, and why

    def between(self, first: int, behind: int) -> RowBatch:
        """The rows from a number up to another; texts are not copied."""
        start, stop = np.searchsorted(self.rows, (first, behind)).tolist()
        labels = None if self.labels is None else self.labels[start:stop]
        empty = self.empty[(self.empty >= first) & (self.empty < behind)]
        refused = [row for row in self.refused if first <= row[0] < behind]
        return RowBatch(self.texts.between(start, stop), labels, self.rows[start:stop], empty, refused)


def checked_rows(
    columns: Sequence[Any],
    rows: NDArray[np.int64],
    refused: Sequence[tuple[int, str]] = (),
    encoding: str = "",
) -> RowBatch:
    """The batch of a column of texts, and of labels if there is one, as they stand in a file: arrow arrays or lists.

    An InputError in the place of a text says why there is none. rows: their numbers. refused: numbers of other rows
    that cannot be read, and why. encoding: of the file, if it has one.
    """
    texts, labels = columns[0], columns[1] if len(columns) > 1 else None
    packed, names = _packed(texts), _label_names(labels)
    if packed is not None and (labels is None or names is not None):
        return RowBatch(packed, names, rows, np.zeros(0, np.int64), sorted(refused))
    kept: list[tuple[int, str, str]] = []
    empty: list[int] = []
    bad = list(refused)
    for at, row in enumerate(rows.tolist()):
        try:
            text = text_of(texts[at], "text", encoding)
            if text.strip():
                kept.append((row, text, "" if labels is None else _label(labels[at], encoding)))
            else:
                empty.append(row)
        except InputError as error:
            bad.append((row, str(error)))
    return RowBatch(
        PackedTexts.of([text for _, text, _ in kept]),
        None if labels is None else [label for *_, label in kept],
        np.array([row for row, *_ in kept], np.int64),
        np.array(empty, np.int64),
        sorted(bad),
    )


def _packed(values: Any) -> PackedTexts | None:
    """Texts as they lie in memory, without a Python string for each; None where one is empty or cannot be read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, list) or values.type != pa.large_binary() or values.null_count or not len(values):
        return None
    strings = values.view(pa.large_string())
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        return None
    if pc.any(pc.or_(pc.utf8_is_space(strings), pc.equal(pc.binary_length(values), 0))).as_py():
        return None
    _, places, content = values.buffers()
    offsets: NDArray[np.int64] = np.frombuffer(places, np.int64)[values.offset : values.offset + len(values) + 1]
    return PackedTexts(Ragged(np.frombuffer(content, np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]))


def _label_names(labels: Any) -> list[str] | None:
    """Labels of an arrow array; None where one is missing or cannot be read."""
    if labels is None or isinstance(labels, list):
        return None
    values = labels.to_pylist()
    try:
        names = {value: _label(value, "") for value in set(values)}
    except InputError:
        return None
    return [names[value] for value in values]


def _label(value: Any, encoding: str) -> str:
    """The label of a value; an InputError says why there is none."""
    label = text_of(value, "label", encoding).strip()
    if not label:
        raise InputError(NO_LABEL)
    return label


def text_of(value: Any, what: str, encoding: str) -> str:
    """A value of a list or an arrow array as text, "" where it is missing; an InputError says why it cannot be one."""
    value = value.as_py() if hasattr(value, "as_py") else value
    if isinstance(value, InputError):
        raise value
    if isinstance(value, list | dict):
        raise InputError(f"the {what} is {'a list' if isinstance(value, list) else 'an object'}, not a text")
    if value is None or value != value:  # NaN is no text
        return ""
    try:
        text = value.decode() if isinstance(value, bytes) else str(value)
        text.isascii() or text.encode()
    except UnicodeDecodeError as error:
        raise InputError(wrong_byte(error, encoding)) from None
    except UnicodeEncodeError:
        raise InputError("half of a surrogate pair, which is not text") from None
    return text


def wrong_byte(error: UnicodeDecodeError, encoding: str) -> str:
    """Which byte of UTF-8, or of what was escaped in another encoding, is none."""
    byte = error.object[error.start]
    if not encoding:
        return f"byte 0x{byte:02x} is not utf-8"
    if encoding != "utf-8":
        byte = ord(error.object[error.start :].decode("utf-8", "surrogatepass")[0]) & 0xFF
    return f'byte 0x{byte:02x} is not {encoding}; give the file\'s encoding, for example encoding="latin-1"'


class RowReader(ABC):
    """A file whose rows can be read from any batch on."""

    unit = "row"  # how a row is called
    columns: Sequence[str] = ()  # what the rows hold, by name
    start = Place(0, 1)
    divisible = True  # whether reading can begin in the middle without decoding what is before

    def __init__(self, path: Path, text_column: str, encoding: str, label_column: str | None = None) -> None:
        self.path, self.encoding = path, encoding
        self.text_column, self.label_column = text_column, label_column
        self.used = [name for name in (text_column, label_column) if name is not None]
        self.naming = RowNames(printable(str(path)), self.unit)
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Look at the file: its columns, and where its rows begin."""

    def find_columns(self) -> list[int]:
        """The positions of texts and labels; an InputError names a column that is missing or stands twice."""
        for option, name in (("text_column", self.text_column), ("label_column", self.label_column)):
            if name is None or self.columns.count(name) == 1:
                continue
            reason = f"the column {quoted(name)} stands twice in the header"
            if name not in self.columns:
                names = listed(self.columns)
                reason = f"no column {quoted(name)}; the columns are {names}: name one of them with {option}="
            raise InputError(f"{self.naming.path}: {reason}", code="column")
        return [self.columns.index(name) for name in self.used]

    @abstractmethod
    def batches(self, start: Place) -> Iterator[tuple[Place, RowBatch]]:
        """All rows from a place on, each batch with the place where its reading begins; the first may begin before."""


@dataclass(frozen=True, eq=False)
class Block(RowBatch):
    """Neighbouring texts of one file, in order; closed as soon as its texts have enough bytes.

    Rows without text and bad rows belong to the block of the text before them.
    """

    file: int  # within the source
    number: int  # within the file, from 0
    start: Place
    naming: RowNames

    @property
    def size(self) -> int:
        """Σ (UTF-8 bytes + 1) of the texts"""
        return len(self.texts.content.values) + len(self.texts)

    @property
    def bad(self) -> list[BadRow]:
        """The rows that cannot be read."""
        return [self.naming.bad(row, reason) for row, reason in self.refused]

    def left_out(self, most: int) -> list[str]:
        """The first rows without text, in a sentence each."""
        rows = self.empty[:most].tolist()
        return [str(self.naming.bad(row, self.naming.reasons.get(row, "empty text"))) for row in rows]

    def place(self, text: int) -> str:
        """The file and the row of a text, for people."""
        return f"{self.naming.path}: {self.naming.row(int(self.rows[text]))}"


def cut_blocks(reader: RowReader, file: int, start: Place | None, first: int, enough: int) -> Iterator[Block]:
    """The rows of a file from a place on, cut into blocks of enough bytes."""
    here = reader.start if start is None else start
    held: list[RowBatch] = []
    size, number = 0, first
    for place, batch in reader.batches(here):
        rest = batch.between(here.row, _END)
        while True:
            ends = np.cumsum(rest.texts.content.lengths + 1)
            following = 0 if size >= enough else int(np.searchsorted(ends, enough - size)) + 1
            if following >= len(ends):
                break
            row = int(rest.rows[following])
            yield _closed([*held, rest.between(0, row)], file, number, here, reader.naming)
            held, size, number = [], 0, number + 1
            here, rest = Place(place.offset, row, row - place.row), rest.between(row, _END)
        held.append(rest)
        size += int(ends[-1]) if len(ends) else 0
        refused = [row for part in held for row in part.refused]
        if len(refused) > _MAX_BAD:
            more = f"more than {_MAX_BAD:,} rows near it cannot be read either"
            raise InputError(f"{reader.naming.bad(*refused[0])}; {more}", code="bad-rows")
    if any(len(part.rows) or len(part.empty) or part.refused for part in held):
        yield _closed(held, file, number, here, reader.naming)


def _closed(parts: Sequence[RowBatch], file: int, number: int, start: Place, naming: RowNames) -> Block:
    """A block of batches."""
    return Block(
        texts=PackedTexts(concatenate(part.texts.content for part in parts)),
        labels=None if parts[0].labels is None else list(chain.from_iterable(part.labels or () for part in parts)),
        rows=np.concatenate([part.rows for part in parts]),
        empty=np.concatenate([part.empty for part in parts]),
        refused=[row for part in parts for row in part.refused],
        file=file,
        number=number,
        start=start,
        naming=naming,
    )


def classes_of(
    block: Block, classes: Mapping[str, int], texts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], list[BadRow]]:
    """The class of every text of a block whose labels are read, or of some: −1 and a bad row where it is unknown."""
    # -> (texts,)
    labels = block.labels or ()
    numbers = range(len(labels)) if texts is None else texts.tolist()
    found = np.array([classes.get(labels[text], -1) for text in numbers], np.int64)
    unknown = [numbers[at] for at in np.flatnonzero(found < 0).tolist()]
    reasons = [f"label {quoted(labels[text])} is not one of the classes {listed(classes)}" for text in unknown]
    bad = [block.naming.bad(int(block.rows[text]), why) for text, why in zip(unknown, reasons, strict=True)]
    return found, bad
