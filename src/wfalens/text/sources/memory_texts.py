"""Texts in memory as a source of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.packed import PackedTexts
from wfalens.text.sources.blocks import BLOCK_BYTES, MOST_NAMED, Block, LeftOut, Naming, Place, Source
from wfalens.text.sources.row_blocks import Stretch, Texts, blocks_of, part_of

_AT_ONCE = 4096  # texts of a stretch
_BYTES_PER_ID = 4


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
        if not isinstance(given, Ragged | PackedTexts):
            given = as_texts(given)
        return cls(given, "ids" if isinstance(given, Ragged) else "texts", block_bytes=block_bytes)

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
        blocks = blocks_of(_MemoryRows(self), file, start, first, self.block_bytes, MOST_NAMED)
        return (self._with_skipped(block) if block.number == 0 else block for block in blocks)

    def _with_skipped(self, block: Block) -> Block:
        before = LeftOut(len(self.skipped), self.skipped[:MOST_NAMED])
        return replace(block, empty=LeftOut.joined([before, block.empty]))


def source_of(given: Source | Corpus | Texts) -> Source:
    """What is given as a source of blocks: itself if it is one, else texts in memory."""
    return MemoryTexts.of(given) if isinstance(given, Corpus | Sequence | Ragged) else given


class _MemoryRows:
    """The texts as rows."""

    start, divisible = Place(0, 1), True

    def __init__(self, source: MemoryTexts) -> None:
        self.naming = Naming(source.name, "text")
        self._texts, self._labels = source.texts, source.labels

    def columns(self) -> list[str]:
        return []

    def lead(self, start: Place) -> int:  # noqa: ARG002
        return 0

    def stretches(self, start: Place) -> Iterator[Stretch]:
        for first in range(start.offset, len(self._texts), _AT_ONCE):
            yield self._stretch(first, min(first + _AT_ONCE, len(self._texts)))

    def _stretch(self, first: int, behind: int) -> Stretch:
        texts = part_of(self._texts, first, behind)
        labels = None if self._labels is None else self._labels[first:behind]
        rows, empty = np.arange(first + 1, behind + 1), np.zeros(0, np.int64)
        holds = _holds_text(texts)
        if not holds.all():
            kept = np.flatnonzero(holds)
            texts = _taken(texts, kept)
            labels = None if labels is None else [labels[item] for item in kept.tolist()]
            rows, empty = rows[holds], rows[~holds]
        return Stretch(texts, labels, _sizes(texts), rows - 1, rows, empty.tolist(), [], Place(behind, behind + 1))


def _holds_text(texts: Texts) -> NDArray[np.bool_]:
    # -> (texts,)
    if isinstance(texts, Ragged):
        return texts.lengths > 0
    return np.array([bool(text) and not text.isspace() for text in texts], bool)


def _taken(texts: Texts, items: NDArray[np.int64]) -> Texts:
    if isinstance(texts, PackedTexts | Ragged):
        return texts.take(items)
    return [texts[item] for item in items.tolist()]


def _sizes(texts: Texts) -> NDArray[np.int64]:
    """Bytes of every text and of its end."""
    # -> (texts,)
    if isinstance(texts, Ragged):
        return _BYTES_PER_ID * texts.lengths + 1
    if isinstance(texts, PackedTexts):
        return texts.content.lengths + 1
    sizes = (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return np.fromiter(sizes, np.int64, len(texts)) + 1
