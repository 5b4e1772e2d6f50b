"""Shards: whole blocks of one file, the unit of work; and what a block holds for a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.scale.row_counts import RowCounts
from wfalens.text.blocks import BadRow, Block, Place, Source, classes_of
from wfalens.text.encoder import TextEncoder
from wfalens.text.packed import PackedTexts


class Shard(NamedTuple):
    """Whole blocks of one file: the unit of work, of retries and of what is kept."""

    number: int
    file: int
    first: int  # block
    blocks: int
    start: Place

    def named(self, source: Source) -> str:
        return f"{source.file_names[self.file]}, blocks {self.first}–{self.first + self.blocks - 1}"

    def read(self, source: Source) -> Iterator[Block]:
        return islice(source.blocks(self.file, self.start, self.first), self.blocks)


class Encoded(NamedTuple):
    """Texts of a block as word ids: those with a word in them, by their numbers among the texts of the block."""

    ids: Ragged[np.int32]
    texts: NDArray[np.int64]  # (texts,) rising
    truth: NDArray[np.int64] | None  # (texts,) true classes, where labels are read
    tally: RowCounts


def encoded(
    block: Block,
    encoder: TextEncoder,
    classes: Mapping[str, int] | None = None,
    skips_bad: bool = False,
    wanted: NDArray[np.int64] | None = None,
) -> Encoded:
    """Read a block, or some of its texts.

    `classes` are those of its labels; None: labels are not read. A bad row ends the run, unless such are skipped.
    """
    texts = block.texts if wanted is None else _chosen(block.texts, wanted)
    numbers = np.arange(len(block.texts)) if wanted is None else wanted
    ids = encoder.checked(texts) if isinstance(texts, Ragged) else encoder.encode(texts)
    cut = int(np.sum(ids.lengths == encoder.max_length)) and _count_cut(encoder, texts)
    bad, truth = list(block.bad), None
    kept = ids.lengths > 0
    if classes is not None and block.labels is not None:
        truth, unknown = classes_of(block, classes, numbers)
        bad += unknown
        kept &= truth >= 0
    if bad and not skips_bad:
        raise InputError(f"{bad[0]}; mend the row, or leave out bad rows with --on-bad skip")
    chosen = np.flatnonzero(kept)
    if len(chosen) < len(ids):
        ids, numbers, truth = ids.take(chosen), numbers[chosen], None if truth is None else truth[chosen]
    return Encoded(ids, numbers, truth, _tally(block, ids, cut, bad))


def _tally(block: Block, ids: Ragged[np.int32], cut: int, bad: Sequence[BadRow]) -> RowCounts:
    reasons = [*block.empty.first, *map(str, bad)]
    left_out = RowCounts.without(block.file, block.number, reasons, block.empty.number + len(bad))
    return RowCounts.of([left_out, RowCounts(len(ids), len(ids.values), cut)])


def _chosen(texts: Sequence[str] | Ragged[np.int32], items: NDArray[np.int64]) -> Sequence[str] | Ragged[np.int32]:
    if isinstance(texts, PackedTexts | Ragged):
        return texts.take(items)
    return [texts[item] for item in items.tolist()]


def _count_cut(encoder: TextEncoder, texts: Sequence[str] | Ragged[np.int32]) -> int:
    return 0 if isinstance(texts, Ragged) else encoder.count_cut(texts)
