"""Blocks: the units in which a stream is read, the same however the work is divided.

A block is a run of neighbouring rows of one file, closed as soon as it has enough bytes. What a model says of a text
may depend in the last bit on what it reads beside it; as every shard is made of whole blocks and every block goes
through the model by itself, results do not depend on where shards begin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from wfalens.corpus.files import TextFiles
from wfalens.corpus.rows import Place, RowSource
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
    lines: list[int]
    contents: list[Any]

    def __len__(self) -> int:
        return len(self.lines)

    def text(self, row: int) -> str | BadRow | None:
        """The text of a row, None if it is empty, or why it cannot be read."""
        try:
            return self.source.text_of(self.contents[row])
        except InputError as error:
            return BadRow(self.path, f"{self.source.unit} {self.lines[row]}", str(error))

    def texts(self) -> tuple[list[str], list[BadRow]]:
        """The texts that are not empty, and what could not be read."""
        found = [self.text(row) for row in range(len(self))]
        return [text for text in found if isinstance(text, str)], [bad for bad in found if isinstance(bad, BadRow)]


def blocks_of_file(files: TextFiles, file: int, start: Place | None = None, first: int = 0) -> Iterator[Block]:
    """The blocks of a file, from a place on where block `first` begins."""
    source, path, enough = files.source(file), files.paths[file], files.block_bytes
    here = source.start if start is None else start
    lines: list[int] = []
    contents: list[Any] = []
    total, number = 0, first
    for line, size, offset, line_behind, content in source.rows(here):
        lines.append(line)
        contents.append(content)
        total += size
        if total >= enough:
            yield Block(source, path, file, number, here, total, lines, contents)
            here, lines, contents, total, number = Place(offset, line_behind), [], [], 0, number + 1
    if lines:
        yield Block(source, path, file, number, here, total, lines, contents)


def blocks_of_shard(files: TextFiles, shard: Shard) -> Iterator[Block]:
    return islice(blocks_of_file(files, shard.file, shard.start, shard.first), shard.blocks)
