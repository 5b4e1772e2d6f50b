"""Blocks: the units in which a corpus is read, the same however it is stored and however the work is divided.

A block is neighbouring texts of one file, closed as soon as they have enough bytes; rows without text and rows that
cannot be read do not count. What a model answers for a text may depend in the last bit on the texts beside it; as
every block goes through the model by itself, results depend neither on the format nor on where a reader begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, quoted
from wfalens.ragged import concatenate
from wfalens.text.packed import PackedTexts

BLOCK_BYTES = 1 << 18  # of a block: some ten thousand words, enough for a network at a time
MAX_NAMED = 20  # rows without text that a block names
_MAX_BAD = 100_000  # bad rows of a block: more are no corpus


class Place(NamedTuple):
    """Where a block begins: a position that its reader understands, the number of its first row, and how many row
    numbers lie between the two."""

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


class LeftOut(NamedTuple):
    """Rows without text: how many, and the first of them as sentences."""

    number: int = 0
    first: tuple[str, ...] = ()


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

    def empty(self, number: int) -> BadRow:
        return self.bad(number, self.reasons.get(number, "empty text"))


@dataclass(frozen=True, eq=False)
class Block:
    """Neighbouring texts of one file, in order; closed as soon as its texts have enough bytes.

    Rows without text and bad rows belong to the block of the text before them.
    """

    file: int  # within the source
    number: int  # within the file, from 0
    start: Place
    behind: Place  # where the next block begins
    texts: PackedTexts  # those that are not empty
    labels: Sequence[str] | None  # one for each text, where labels are read
    size: int  # Σ (UTF-8 bytes + 1) of the texts
    empty: LeftOut
    bad: tuple[BadRow, ...]
    naming: RowNames
    rows: NDArray[np.int64]  # (texts,) numbers of their rows

    def place(self, text: int) -> str:
        """The file and the row of a text, for people."""
        return f"{self.naming.path}: {self.naming.row(int(self.rows[text]))}"


class Source(Protocol):
    """A corpus of any size: files of texts that can be read from any block on. It can be sent to other processes."""

    @property
    def name(self) -> str:
        """What the corpus is called."""
        ...

    @property
    def file_names(self) -> Sequence[str]:
        """One for each file, for people."""
        ...

    @property
    def sizes(self) -> list[int]:
        """Bytes of each file, about."""
        ...

    @property
    def has_labels(self) -> bool:
        """Whether blocks carry labels."""
        ...

    def identity(self) -> dict[str, Any]:
        """What distinguishes this source from others, or from itself before a change, in JSON."""
        ...

    def is_divisible(self, file: int) -> bool:
        """Whether reading can begin in the middle of a file without decoding what is before."""
        ...

    def lead(self, file: int, start: Place) -> int:
        """Rows that a reader beginning at a place decodes in vain."""
        ...

    def blocks(self, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
        """The blocks of a file, from a place on where block `first` begins."""
        ...


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Neighbouring rows as a reader gives them; numbers of rows rise."""

    texts: PackedTexts  # that are not empty
    labels: Sequence[str] | None
    sizes: NDArray[np.int64]  # (texts,) bytes and one
    rows: NDArray[np.int64]  # (texts,) numbers of their rows
    empty: Sequence[int]  # rows without text
    bad: Sequence[tuple[int, str]]  # rows that cannot be read, and why
    end: Place  # of the next batch
    start: Place | None = None  # where reading can begin for a row of this batch; None: at the row itself

    def place(self, row: int) -> Place:
        """Where reading can begin for a row."""
        return Place(row - 1, row) if self.start is None else Place(self.start.offset, row, row - self.start.row)


class RowReader(Protocol):
    """A file that can be read from any batch of rows on."""

    naming: RowNames
    start: Place
    divisible: bool  # whether reading can begin in the middle

    def columns(self) -> list[str]:
        """What the rows hold, by name."""
        ...

    def lead(self, start: Place) -> int:
        """Rows that a reader beginning at a place decodes in vain."""
        ...

    def batches(self, start: Place) -> Iterator[RowBatch]:
        """All rows from a place on; the first batch may hold rows before it."""
        ...


def cut_blocks(
    reader: RowReader, file: int, start: Place | None, first: int, enough: int, max_named: int
) -> Iterator[Block]:
    """The rows of a file from a place on, cut into blocks of enough bytes."""
    here = reader.start if start is None else start
    block = _OpenBlock(file, first, here, reader.naming, max_named)
    for batch in reader.batches(here):
        ends = np.cumsum(batch.sizes)
        text = int(np.searchsorted(batch.rows, block.start.row))
        while text < len(ends):
            if block.size >= enough:
                here = batch.place(int(batch.rows[text]))
                block.leave_out(batch, here.row)
                yield block.closed(here)
                block = _OpenBlock(file, block.number + 1, here, reader.naming, max_named)
            before = int(ends[text - 1]) if text else 0
            behind = min(int(np.searchsorted(ends, before + enough - block.size)) + 1, len(ends))
            block.add(batch, text, behind, int(ends[behind - 1]) - before)
            text = behind
        block.leave_out(batch)
        here = batch.end
    if block.holds_rows:
        yield block.closed(here)


class _OpenBlock:
    """A block that still grows."""

    def __init__(self, file: int, number: int, start: Place, naming: RowNames, max_named: int) -> None:
        self.file, self.number, self.start, self.naming, self.max_named = file, number, start, naming, max_named
        self.size = 0
        self._texts: list[PackedTexts] = []
        self._labels: list[str] = []
        self._has_labels = False
        self._rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self._empty = 0
        self._named: list[str] = []
        self._bad: list[BadRow] = []

    @property
    def holds_rows(self) -> bool:
        return bool(self._texts or self._bad or self._empty)

    def add(self, batch: RowBatch, first: int, behind: int, size: int) -> None:
        """Take some texts of a batch."""
        self._texts.append(batch.texts.between(first, behind))
        if batch.labels is not None:
            self._labels += batch.labels[first:behind]
        self._rows.append(batch.rows[first:behind])
        self.size += size

    def leave_out(self, batch: RowBatch, behind: int | None = None) -> None:
        """Count the rows of a batch without text or use, up to a row at which the next block begins."""
        self._has_labels = batch.labels is not None
        first, last = self.start.row, batch.end.row + 1 if behind is None else behind
        rows = batch.empty[bisect_left(batch.empty, first) : bisect_left(batch.empty, last)]
        self._empty += len(rows)
        self._named += [str(self.naming.empty(row)) for row in rows[: self.max_named - len(self._named)]]
        self._bad += [self.naming.bad(row, reason) for row, reason in batch.bad if first <= row < last]
        if len(self._bad) > _MAX_BAD:
            raise InputError(
                f"{self._bad[0]}; more than {_MAX_BAD:,} rows near it cannot be read either", code="bad-rows"
            )

    def closed(self, behind: Place) -> Block:
        return Block(
            self.file,
            self.number,
            self.start,
            behind,
            PackedTexts(concatenate(texts.content for texts in self._texts or [PackedTexts.of([])])),
            self._labels if self._has_labels else None,
            self.size,
            LeftOut(self._empty, tuple(self._named)),
            tuple(self._bad),
            self.naming,
            np.concatenate(self._rows),
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
