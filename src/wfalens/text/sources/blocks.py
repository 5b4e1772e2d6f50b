"""Blocks: the units in which a corpus is read, the same however it is stored and however the work is divided.

A block is neighbouring texts of one file, closed as soon as they have enough bytes; rows without text and rows that
cannot be read count nothing. What a model says of a text may depend in the last bit on what it reads beside it; as
every block goes through the model by itself, results depend neither on the format nor on where a reader begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.messages import listed, quoted
from wfalens.ragged import Ragged

BLOCK_BYTES = 1 << 18  # of a block: some ten thousand words, a good mouthful for a network
MOST_NAMED = 20  # rows without text that a block names


class Place(NamedTuple):
    """Where a row begins: byte and line of a text file; elsewhere the rows before it, and its number."""

    offset: int
    line: int


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
        first = islice(chain.from_iterable(part.first for part in parts), MOST_NAMED)
        return cls(sum(part.number for part in parts), tuple(first))


@dataclass(frozen=True)
class Naming:
    """How rows are called: by a unit and their number from 1 on, or each by a name."""

    path: str
    unit: str = "line"
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
    texts: Sequence[str] | Ragged[np.int32]  # those that are not empty; word ids if the source was made of ids
    labels: Sequence[str] | None  # one for each text, where labels are read
    size: int  # Σ (UTF-8 bytes + 1) of the texts
    empty: LeftOut
    bad: tuple[BadRow, ...]
    naming: Naming
    rows: NDArray[np.int64]  # (texts,) numbers of their rows

    def place(self, text: int) -> str:
        """Where a text stands, for people."""
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
        """What tells this source from others, or from itself before a change, in JSON."""
        ...

    def is_divisible(self, file: int) -> bool:
        """Whether it pays to begin in the middle of a file."""
        ...

    def lead(self, file: int, start: Place) -> int:
        """Rows that a reader beginning at a place decodes in vain."""
        ...

    def blocks(self, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
        """The blocks of a file, from a place on where block `first` begins."""
        ...


def classes_of(
    block: Block, classes: Mapping[str, int], texts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], list[BadRow]]:
    """The class of every text of a block whose labels are read, or of some: −1 and a bad row where it is unknown."""
    # -> (texts,)
    labels = block.labels or ()
    wanted = range(len(labels)) if texts is None else texts.tolist()
    found = np.array([classes.get(labels[text], -1) for text in wanted], np.int64)
    bad = [_unknown(block, wanted[at], classes) for at in np.flatnonzero(found < 0).tolist()]
    return found, bad


def _unknown(block: Block, text: int, classes: Mapping[str, int]) -> BadRow:
    label = block.labels[text] if block.labels is not None else ""
    reason = f"label {quoted(label)} is not one of the classes {listed(classes)}"
    return block.naming.bad(int(block.rows[text]), reason)
