"""Blocks: the units in which a stream is read, the same however the work is divided.

A block is a run of neighbouring rows of one file, closed as soon as it has enough bytes. What a model says of a text
may depend in the last bit on what it reads beside it; as every shard is made of whole blocks and every block goes
through the model by itself, results do not depend on where shards begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from wfalens.corpus.files import TextFiles
from wfalens.corpus.rows import Place, RawRow, RowSource
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

    source: RowSource
    path: str
    file: int
    number: int
    start: Place
    size: int  # bytes
    rows: list[RawRow]

    def text(self, row: int) -> str | BadRow | None:
        """The text of a row, None if it is empty, or why it cannot be read."""
        found = self.rows[row]
        try:
            return self.source.text_of(found.content)
        except InputError as error:
            return BadRow(self.path, f"{self.source.unit} {found.line}", str(error))

    def texts(self) -> tuple[list[str], list[BadRow]]:
        """The texts that are not empty, and what could not be read."""
        texts: list[str] = []
        bad: list[BadRow] = []
        for row in range(len(self.rows)):
            text = self.text(row)
            if isinstance(text, str):
                texts.append(text)
            elif text is not None:
                bad.append(text)
        return texts, bad


def blocks_of_file(files: TextFiles, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
    """The blocks of a file, from a place on where block `first` begins."""
    source, path = files.source(file), files.paths[file]
    here = source.start if start is None else start
    rows: list[RawRow] = []
    size, number = 0, first
    for row in source.rows(here):
        rows.append(row)
        size += row.size
        if size >= files.block_bytes:
            yield Block(source, path, file, number, here, size, rows)
            here, rows, size, number = row.after, [], 0, number + 1
    if rows:
        yield Block(source, path, file, number, here, size, rows)


def blocks_of_shard(files: TextFiles, shard: Shard) -> Iterator[Block]:
    return islice(blocks_of_file(files, shard.file, shard.start, shard.first), shard.blocks)
