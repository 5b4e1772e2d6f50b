"""Files as blocks: the unit of work, what a block holds for a model, and counts of what was read and left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile
from wfalens.text.blocks import Block, Place, classes_of
from wfalens.text.encoder import TextEncoder
from wfalens.text.files import TextFiles

_FIRST = 20  # of what was left out, that are named
SkippedRow = tuple[int, int, int, str]  # file, block, number within the block, and the sentence that names it


@dataclass(frozen=True)
class RowCounts:
    """Counts that add up in any order; `first` names the first of what was left out."""

    texts: int = 0  # with a word in them
    tokens: int = 0
    cut: int = 0  # texts that were truncated
    left_out: int = 0  # rows, blocks or files
    first: tuple[SkippedRow, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[RowCounts]) -> RowCounts:
        parts = list(parts)
        texts, tokens, cut, left_out = (
            sum(getattr(part, name) for part in parts) for name in ("texts", "tokens", "cut", "left_out")
        )
        first = sorted(each for part in parts for each in part.first)[:_FIRST]
        return cls(texts, tokens, cut, left_out, tuple(first))

    @classmethod
    def stored(cls, file: StoredFile) -> RowCounts:
        """From the header of a checkpoint that `to_dict` was written to."""
        fields = file.field("rows", dict)
        return cls(**fields | {"first": tuple(map(tuple, fields["first"]))})

    @classmethod
    def without(cls, file: int, block: int, reasons: Sequence[str], number: int | None = None) -> RowCounts:
        """Of rows, blocks or files that were left out, some of them by name; they are as many as `number` says."""
        first = tuple((file, block, at, reason) for at, reason in enumerate(reasons))
        return cls(left_out=len(reasons) if number is None else number, first=first[:_FIRST])

    @property
    def reasons(self) -> list[str]:
        """The first of what was left out, in the order of the corpus."""
        return [reason for *_, reason in self.first]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def say_cut(self, max_length: int | None) -> None:
        """Say what the model could not read to the end."""
        if self.cut:
            progress.say(f"{self.cut:,} of {self.texts:,} texts were truncated after {max_length} tokens")

    def say_left_out(self) -> None:
        if self.left_out:
            more = "; …" if self.left_out > 3 else ""
            progress.say(f"left out {self.left_out:,} rows, blocks or files ({'; '.join(self.reasons[:3])}{more})")


class BlockJob(NamedTuple):
    """Neighbouring blocks of one file: the unit of work, of retries and of checkpoints."""

    number: int
    file: int
    first: int  # block
    blocks: int
    start: Place

    def named(self, source: TextFiles) -> str:
        return f"{source.paths[self.file]}, blocks {self.first}–{self.first + self.blocks - 1}"

    def read(self, source: TextFiles) -> Iterator[Block]:
        return islice(source.blocks(self.file, self.start, self.first), self.blocks)

    def skipped(self, reason: str) -> RowCounts:
        """What a job counts that was left out."""
        return RowCounts.without(self.file, self.first, [reason])


class EncodedBlock(NamedTuple):
    """Texts of a block as word ids: those with a word in them, by their numbers among the texts of the block."""

    ids: Ragged[np.int32]
    texts: NDArray[np.int64]  # (texts,) rising
    truth: NDArray[np.int64] | None  # (texts,) true classes, where labels are read
    rows: RowCounts


def encoded(
    block: Block,
    encoder: TextEncoder,
    classes: Mapping[str, int] | None = None,
    skips_errors: bool = False,
    chosen: NDArray[np.int64] | None = None,
) -> EncodedBlock:
    """Encode a block, or some of its texts.

    `classes` are those of its labels; None: labels are not read. A bad row ends the run, unless such are skipped.
    """
    texts = block.texts if chosen is None else block.texts.take(chosen)
    numbers = np.arange(len(block.texts)) if chosen is None else chosen
    ids = encoder.encode(texts)
    cut = encoder.count_cut(texts) if np.any(ids.lengths == encoder.max_length) else 0
    bad, truth = list(block.bad), None
    kept = ids.lengths > 0
    if classes is not None and block.labels is not None:
        truth, unknown = classes_of(block, classes, numbers)
        bad += unknown
        kept &= truth >= 0
    if bad and not skips_errors:
        raise InputError(f'{bad[0]}; fix the row, or skip bad rows with on_error="skip"', code="bad-row")
    with_words = np.flatnonzero(kept)
    if len(with_words) < len(ids):
        ids, numbers = ids.take(with_words), numbers[with_words]
        truth = None if truth is None else truth[with_words]
    reasons = [*block.left_out(_FIRST), *map(str, bad)]
    left_out = RowCounts.without(block.file, block.number, reasons, len(block.empty) + len(bad))
    return EncodedBlock(ids, numbers, truth, RowCounts.of([left_out, RowCounts(len(ids), len(ids.values), cut)]))
