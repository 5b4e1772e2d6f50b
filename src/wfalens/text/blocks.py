"""Blocks: the units in which a corpus is read, the same however it is stored and however the work is divided.

A block is neighbouring texts of one file, closed as soon as they have enough bytes; rows without text and rows that
cannot be read do not count. What a model answers for a text may depend in the last bit on the texts beside it; as
every block goes through the model by itself, results depend neither on the format nor on where a reader begins.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import listed, quoted
from wfalens.ragged import Ragged, concatenate
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.packed import PackedTexts

BLOCK_BYTES = 1 << 18  # of a block: some ten thousand words, enough for a network at a time
MAX_NAMED = 20  # rows without text that a block names
_MAX_BAD = 100_000  # bad rows of a block: more are no corpus
_ROWS = 4096  # of a batch of texts in memory
_BYTES_PER_ID = 4

Texts = Sequence[str] | Ragged[np.int32]


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

    @classmethod
    def joined(cls, parts: Iterable[LeftOut]) -> LeftOut:
        parts = list(parts)
        first = islice(chain.from_iterable(part.first for part in parts), MAX_NAMED)
        return cls(sum(part.number for part in parts), tuple(first))


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
    texts: Texts  # those that are not empty; word ids if the source was made of ids
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

    texts: Texts  # that are not empty
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
        self._texts: list[Texts] = []
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
        self._texts.append(_between(batch.texts, first, behind))
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
            _joined(self._texts),
            self._labels if self._has_labels else None,
            self.size,
            LeftOut(self._empty, tuple(self._named)),
            tuple(self._bad),
            self.naming,
            np.concatenate(self._rows),
        )


def _between(texts: Texts, first: int, behind: int) -> Texts:
    """Neighbouring texts."""
    if first == 0 and behind == len(texts):
        return texts
    return texts.between(first, behind) if isinstance(texts, PackedTexts | Ragged) else texts[first:behind]


def _joined(parts: list[Texts]) -> Texts:
    if len(parts) == 1:
        return parts[0]
    if parts and isinstance(parts[0], PackedTexts):
        return PackedTexts(concatenate([part.content for part in cast(list[PackedTexts], parts)]))
    if parts and isinstance(parts[0], Ragged):
        return concatenate(cast(list[Ragged[np.int32]], parts))
    return list(chain.from_iterable(cast(list[Sequence[str]], parts)))


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


@dataclass(frozen=True, eq=False)
class MemoryTexts:
    """Texts or word ids that are held already: one file, whose rows are the texts."""

    texts: Texts
    name: str
    labels: Sequence[str] | None = None
    skipped: tuple[str, ...] = ()  # sentences about rows that were left out before
    block_bytes: int = BLOCK_BYTES

    @classmethod
    def of(cls, given: Corpus | Texts, block_bytes: int = BLOCK_BYTES) -> MemoryTexts:
        if isinstance(given, Corpus):
            labels = None if given.labels is None else [given.class_names[label] for label in given.labels.tolist()]
            return cls(given.texts, given.name, labels, given.skipped, block_bytes)
        if isinstance(given, Ragged | PackedTexts):
            return cls(given, "ids" if isinstance(given, Ragged) else "texts", block_bytes=block_bytes)
        return cls(as_texts(given), "texts", block_bytes=block_bytes)

    @property
    def file_names(self) -> Sequence[str]:
        return [self.name]

    @cached_property
    def sizes(self) -> list[int]:
        return [int(_sizes(self.texts).sum())]

    @property
    def has_labels(self) -> bool:
        return self.labels is not None

    def identity(self) -> dict[str, Any]:
        """Name, number of texts, and a digest of texts and labels."""
        digest = sha256()
        for items in (self.texts, self.labels or ()):
            held = items if isinstance(items, Ragged) else PackedTexts.of(items).content
            digest.update(held.offsets.tobytes())
            digest.update(held.values.tobytes())
        return {"texts": [self.name, len(self.texts), digest.hexdigest()], "block_bytes": self.block_bytes}

    def is_divisible(self, file: int) -> bool:  # noqa: ARG002
        return True

    def lead(self, file: int, start: Place) -> int:  # noqa: ARG002
        return 0

    def blocks(self, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
        before = LeftOut(len(self.skipped), self.skipped[:MAX_NAMED])
        for block in cut_blocks(_MemoryRows(self), file, start, first, self.block_bytes, MAX_NAMED):
            is_first = block.number == 0
            yield replace(block, empty=LeftOut.joined([before, block.empty])) if is_first else block


def source_of(given: Source | Corpus | Texts) -> Source:
    """The given source, or texts in memory as one."""
    return cast(Source, given) if hasattr(given, "blocks") else MemoryTexts.of(cast(Texts, given))


class _MemoryRows:
    """The texts as rows."""

    start, divisible = Place(0, 1), True

    def __init__(self, source: MemoryTexts) -> None:
        self.naming = RowNames(source.name, "text")
        self._texts, self._labels = source.texts, source.labels

    def columns(self) -> list[str]:
        return []

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def batches(self, start: Place) -> Iterator[RowBatch]:
        for first in range(start.offset, len(self._texts), _ROWS):
            yield self._batch(first, min(first + _ROWS, len(self._texts)))

    def _batch(self, first: int, behind: int) -> RowBatch:
        texts = _between(self._texts, first, behind)
        labels = None if self._labels is None else self._labels[first:behind]
        rows, empty = np.arange(first + 1, behind + 1), np.zeros(0, np.int64)
        has_text = (
            texts.lengths > 0
            if isinstance(texts, Ragged)
            else np.array([bool(text) and not text.isspace() for text in texts], bool)
        )
        if not has_text.all():
            kept = np.flatnonzero(has_text)
            texts = take_texts(texts, kept)
            labels = None if labels is None else [labels[item] for item in kept.tolist()]
            rows, empty = rows[has_text], rows[~has_text]
        return RowBatch(texts, labels, _sizes(texts), rows, empty.tolist(), [], Place(behind, behind + 1))


def take_texts(texts: Texts, items: NDArray[np.int64]) -> Texts:
    """Some of the texts, in the given order."""
    if isinstance(texts, PackedTexts | Ragged):
        return texts.take(items)
    return [texts[item] for item in items.tolist()]


def _sizes(texts: Texts) -> NDArray[np.int64]:
    """Bytes of every text and of its end."""
    # -> (texts,)
    if isinstance(texts, Ragged):
        return _BYTES_PER_ID * texts.lengths + 1
    return (texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts)).content.lengths + 1
