"""Blocks: the units in which a stream is read, the same however the work is divided.

A block is a run of neighbouring rows of one file, closed as soon as it has enough bytes. What a model says of a text
may depend in the last bit on what it reads beside it; as every shard is made of whole blocks and every block goes
through the model by itself, results do not depend on where shards begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.sources.files import TextFiles
from wfalens.corpus.sources.lines import Place, RowRun
from wfalens.errors import InputError


class BadRow(NamedTuple):
    """A row that could not be read."""

    path: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.place}: {self.reason}"


class Shard(NamedTuple):
    """Whole blocks of one file: the unit of work, of retries and of checkpoints."""

    number: int
    file: int
    first: int  # block
    blocks: int
    start: Place

    def named(self, files: TextFiles) -> str:
        return f"{files.paths[self.file]}, blocks {self.first}–{self.first + self.blocks - 1}"


@dataclass(frozen=True)
class Block:
    """Some rows of a file; texts are made of them on demand."""

    path: str
    file: int
    number: int
    start: Place
    rows: RowRun

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size(self) -> int:
        """Bytes"""
        return self.rows.size

    def text(self, row: int) -> str | BadRow | None:
        """The text of a row, None if it is empty, or why it cannot be read."""
        try:
            return self.rows.text(row)
        except InputError as error:
            return BadRow(self.path, self.rows.place(row), str(error))

    def texts(self) -> tuple[Sequence[str], list[BadRow]]:
        """The texts that are not empty, and what could not be read."""
        packed = self.rows.packed()
        if packed is not None:
            return packed[0], []
        found = [self.text(row) for row in range(len(self))]
        return [text for text in found if isinstance(text, str)], [bad for bad in found if isinstance(bad, BadRow)]

    def some_texts(self, rows: NDArray[np.int64]) -> tuple[Sequence[str], NDArray[np.int64]]:
        """The texts of some rows, and which ones they are: those that are not empty and can be read."""
        packed = self.rows.packed(rows)
        if packed is not None:
            return packed
        found = [(row, text) for row in rows.tolist() if isinstance(text := self.text(row), str)]
        return [text for _, text in found], np.array([row for row, _ in found], np.int64)


def blocks_of_file(files: TextFiles, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
    """The blocks of a file, from a place on where block `first` begins."""
    source, path = files.source(file), files.paths[file]
    here = source.start if start is None else start
    for number, rows in enumerate(source.runs(here, files.block_bytes), first):
        yield Block(path, file, number, here, rows)
        here = rows.behind


def blocks_of_shard(files: TextFiles, shard: Shard) -> Iterator[Block]:
    return islice(blocks_of_file(files, shard.file, shard.start, shard.first), shard.blocks)
