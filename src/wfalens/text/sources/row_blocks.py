"""Rows of one file: what may stand in them, and how their texts are cut into blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, quoted
from wfalens.ragged import Ragged, Scalar, concatenate
from wfalens.text.packed import PackedTexts
from wfalens.text.sources.blocks import BadRow, Block, LeftOut, Naming, Place

TEXT_COLUMN, LABEL_COLUMN = "text", "label"
Texts = Sequence[str] | Ragged[np.int32]
Row = tuple[int, int, object, object]  # offset, number, text, label; in place of a text, why it cannot be read
ROWS, BYTES = 1000, 1 << 18  # of a stretch, about
HALF_A_PAIR = "half of a surrogate pair, which is not text"
_MOST_BAD = 100_000  # bad rows of a block: more are no corpus


@dataclass(frozen=True, eq=False)
class Stretch:
    """Neighbouring rows, taken apart; numbers of rows rise."""

    texts: Texts  # that are not empty
    labels: Sequence[str] | None
    sizes: NDArray[np.int64]  # (texts,) bytes and one
    offsets: NDArray[np.int64]  # (texts,) where their rows begin
    rows: NDArray[np.int64]  # (texts,) numbers of their rows
    empty: Sequence[int]  # rows without text
    bad: Sequence[tuple[int, str]]  # rows that cannot be read, and why
    behind: Place


class RowReader(Protocol):
    """A file that can be read from any row on."""

    naming: Naming
    start: Place
    divisible: bool  # whether it pays to begin in the middle

    def columns(self) -> list[str]:
        """What the rows hold, by name."""
        ...

    def lead(self, start: Place) -> int:
        """Rows that a reader beginning at a place decodes in vain."""
        ...

    def stretches(self, start: Place) -> Iterator[Stretch]:
        """All rows from a place on."""
        ...


def blocks_of(
    reader: RowReader, file: int, start: Place | None, first: int, enough: int, most_named: int
) -> Iterator[Block]:
    """The rows of a file from a place on, cut into blocks of enough bytes."""
    here = reader.start if start is None else start
    block = _OpenBlock(file, first, here, reader.naming, most_named)
    for stretch in reader.stretches(here):
        ends = np.cumsum(stretch.sizes)
        text = 0
        while text < len(ends):
            if block.size >= enough:
                here = Place(int(stretch.offsets[text]), int(stretch.rows[text]))
                block.leave_out(stretch, here.line)
                yield block.closed(here)
                block = _OpenBlock(file, block.number + 1, here, reader.naming, most_named)
            before = int(ends[text - 1]) if text else 0
            behind = min(int(np.searchsorted(ends, before + enough - block.size)) + 1, len(ends))
            block.add(stretch, text, behind, int(ends[behind - 1]) - before)
            text = behind
        block.leave_out(stretch)
        here = stretch.behind
    if block.holds_rows:
        yield block.closed(here)


class _OpenBlock:
    """A block that still grows."""

    def __init__(self, file: int, number: int, start: Place, naming: Naming, most_named: int) -> None:
        self.file, self.number, self.start, self.naming, self.most_named = file, number, start, naming, most_named
        self.size = 0
        self._texts: list[Texts] = []
        self._labels: list[str] = []
        self._has_labels = False
        self._rows: list[NDArray[np.int64]] = []
        self._empty = 0
        self._named: list[str] = []
        self._bad: list[BadRow] = []

    @property
    def holds_rows(self) -> bool:
        return bool(self._texts or self._bad or self._empty)

    def add(self, stretch: Stretch, first: int, behind: int, size: int) -> None:
        """Take some texts of a stretch."""
        self._texts.append(part_of(stretch.texts, first, behind))
        if stretch.labels is not None:
            self._labels += stretch.labels[first:behind]
        self._rows.append(stretch.rows[first:behind])
        self.size += size

    def leave_out(self, stretch: Stretch, behind: int | None = None) -> None:
        """Take the rows of a stretch without text or use, up to a row at which the next block begins."""
        self._has_labels = stretch.labels is not None
        if stretch.empty:
            rows = _between(stretch.empty, self.start.line, behind)
            self._empty += len(rows)
            self._named += [str(self.naming.empty(row)) for row in rows[: self.most_named - len(self._named)]]
        if stretch.bad:
            first = bisect_left(stretch.bad, (self.start.line, ""))
            last = len(stretch.bad) if behind is None else bisect_left(stretch.bad, (behind, ""))
            self._bad += [self.naming.bad(*each) for each in stretch.bad[first:last]]
        if len(self._bad) > _MOST_BAD:
            raise InputError(f"{self._bad[0]}; more than {_MOST_BAD:,} rows near it cannot be read either")

    def closed(self, behind: Place) -> Block:
        return Block(
            self.file,
            self.number,
            self.start,
            behind,
            _joined(self._texts),
            self._labels if self._has_labels else None,
            self.size,
            LeftOut(self._empty, tuple(self._named)),
            tuple(self._bad),
            self.naming,
            np.concatenate([np.zeros(0, np.int64), *self._rows]),
        )


def _between(rows: Sequence[int], first: int, behind: int | None) -> Sequence[int]:
    return rows[bisect_left(rows, first) : len(rows) if behind is None else bisect_left(rows, behind)]


def part_of(texts: Texts, first: int, behind: int) -> Texts:
    """Neighbouring texts."""
    if first == 0 and behind == len(texts):
        return texts
    if isinstance(texts, PackedTexts):
        return PackedTexts(_part(texts.content, first, behind))
    return _part(texts, first, behind) if isinstance(texts, Ragged) else texts[first:behind]


def _part(items: Ragged[Scalar], first: int, behind: int) -> Ragged[Scalar]:
    start, stop = items.offsets[first], items.offsets[behind]
    return Ragged(items.values[start:stop], items.offsets[first : behind + 1] - start)


def _joined(parts: list[Texts]) -> Texts:
    if len(parts) == 1:
        return parts[0]
    if parts and isinstance(parts[0], PackedTexts):
        return PackedTexts(concatenate([part.content for part in cast(list[PackedTexts], parts)]))
    if parts and isinstance(parts[0], Ragged):
        return concatenate(cast(list[Ragged[np.int32]], parts))
    return list(chain.from_iterable(cast(list[Sequence[str]], parts)))


def taken_apart(
    rows: Iterable[Row], behind: Place, reads_labels: bool, foreign: str = HALF_A_PAIR, packed: bool = False
) -> Stretch:
    """A stretch of rows that were read one by one; `foreign` says why characters that are none are no text."""
    texts: list[str] = []
    labels: list[str] = []
    sizes: list[int] = []
    places: list[tuple[int, int]] = []
    empty: list[int] = []
    bad: list[tuple[int, str]] = []
    for offset, number, value, label in rows:
        try:
            text = text_of(value)
            if text is None:
                empty.append(number)
                continue
            size = len(text) if text.isascii() else checked_size(text, foreign)
            if reads_labels:
                labels.append(label_of(label, foreign))
        except InputError as error:
            bad.append((number, str(error)))
            continue
        texts.append(text)
        sizes.append(size + 1)
        places.append((offset, number))
    offsets, numbers = np.array(places, np.int64).reshape(-1, 2).T
    return Stretch(
        PackedTexts.of(texts) if packed else texts,
        labels if reads_labels else None,
        np.array(sizes, np.int64),
        offsets,
        numbers,
        empty,
        bad,
        behind,
    )


def checked_size(text: str, foreign: str) -> int:
    """Bytes in UTF-8; an InputError tells why characters are none."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise InputError(foreign.format(ord(text[error.start]) & 0xFF)) from None


def text_of(value: object) -> str | None:
    """The text of a value, None of one without; an InputError says why it cannot be one."""
    if isinstance(value, str):
        return None if not value or value.isspace() else value
    if value is None or value != value:  # NaN
        return None
    return _as_text(value, "text")


def label_of(value: object, foreign: str = HALF_A_PAIR) -> str:
    """The label of a value; an InputError says why there is none."""
    if value is None or value != value or not (label := _as_text(value, "label").strip()):
        raise InputError("the label is missing")
    if not label.isascii():
        checked_size(label, foreign)
    return label


def _as_text(value: object, what: str) -> str:
    if isinstance(value, InputError):
        raise value
    if isinstance(value, list | dict):
        raise InputError(f"the {what} is {'a list' if isinstance(value, list) else 'an object'}, not a text")
    return str(value)


def columns_of(path: str, header: Sequence[str], text_column: str, label_column: str | None) -> tuple[int, int | None]:
    """Where texts and labels stand; an InputError names a column that is missing or stands twice."""
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise InputError(f"{path}: line 1: the column {quoted(repeated[0])} stands twice in the header")
    for wanted in (text_column, label_column):
        if wanted is not None and wanted not in header:
            raise InputError(f"{path}: no column {quoted(wanted)}; the columns are {listed(header)}")
    return header.index(text_column), None if label_column is None else header.index(label_column)
