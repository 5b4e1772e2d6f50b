"""Judgements of shards, one part for each: a shard that has one is never judged again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.evaluation.comparison import Comparison
from wfalens.evaluation.comparison_task import BlockComparison
from wfalens.scale.checkpoints import Parts
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.shards import Shard
from wfalens.storage import StoredFile

_COLUMNS = {"label": "i", "predicted": "i", "divergence": "f", "confidence": "f", "length": "i", "rare": "f"}
_TRUTH = {"truth": "i"}  # where labels are known
_OUTPUTS = "outputs"


class ComparisonCheckpoints:
    """The parts of an evaluation in a folder; `tallies` tells how much each shard has."""

    def __init__(self, parts: Parts, shards: int) -> None:
        self._parts = parts
        found = ((number, parts.read(_name(number), ())) for number in range(shards))
        self.tallies = {number: RowCounts.stored(part) for number, part in found if part is not None}

    def add(self, shard: int, found: BlockComparison) -> None:
        columns = {} if found.judgement is None else vars(found.judgement)
        tensors = {name: column for name, column in columns.items() if column is not None}
        if found.outputs is not None:
            tensors[_OUTPUTS] = found.outputs
        self._parts.write(_name(shard), {"tally": found.tally.to_json()}, tensors)
        self.tallies[shard] = found.tally

    def skip(self, shard: Shard, reason: str) -> None:
        """Keep in mind that a shard was left out."""
        self.add(shard.number, BlockComparison(None, None, RowCounts.without(shard.file, shard.first, [reason])))

    def joined(self, has_labels: bool) -> Comparison:
        """The judgement of all shards, in the order of the corpus."""
        kinds = _COLUMNS | (_TRUTH if has_labels else {})
        texts = sum(tally.texts for tally in self.tallies.values())
        whole: dict[str, NDArray[Any]] = {}
        at = 0
        for number, tally in sorted(self.tallies.items()):  # one part after the other: none is held twice
            if tally.texts == 0:
                continue
            part = self._read(number)
            for name, kind in kinds.items():
                column = _column(part, name, kind, tally.texts)
                whole.setdefault(name, np.empty(texts, column.dtype))[at : at + tally.texts] = column
            at += tally.texts
        return Comparison(**whole)

    def outputs(self) -> NDArray[np.float32]:
        """The model's outputs after all texts, where they were kept; (texts, C)"""
        worded = [number for number, tally in sorted(self.tallies.items()) if tally.texts]
        return np.concatenate([self._read(number).tensor(_OUTPUTS, "f", 2) for number in worded])

    def _read(self, shard: int) -> StoredFile:
        part = self._parts.read(_name(shard))
        assert part is not None  # noqa: S101 - its tally was read or written
        return part


def _column(part: StoredFile, name: str, kind: str, texts: int) -> NDArray[Any]:
    column = part.tensor(name, kind)
    if len(column) != texts:
        raise part.fail(f"the tensor {name!r} has {len(column)} entries for {texts} texts")
    return column


def _name(shard: int) -> str:
    return f"judged-{shard:08d}"
