"""Judgements of shards on disk, one part for each: a shard that has one is never judged again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.evaluation.judgement import Judgement
from wfalens.evaluation.judging import ShardJudgement
from wfalens.extraction.evidence.count_parts import stored_tally
from wfalens.extraction.evidence.counting import Tally
from wfalens.passes.parts import PartsFolder
from wfalens.storage import StoredFile

_COLUMNS = {"label": "i", "predicted": "i", "divergence": "f", "margin": "f", "length": "i", "rare": "f"}
_TRUTH = {"truth": "i"}  # where labels are known


class JudgedParts:
    """The parts of an evaluation in a folder; `tallies` tells how much each shard has."""

    def __init__(self, folder: PartsFolder, shards: int) -> None:
        self._folder = folder
        parts = ((number, folder.read(_name(number), ())) for number in range(shards))
        self.tallies = {number: stored_tally(part) for number, part in parts if part is not None}

    def add(self, shard: int, found: ShardJudgement) -> None:
        columns = {} if found.judgement is None else vars(found.judgement)
        tensors = {name: column for name, column in columns.items() if column is not None}
        self._folder.write(_name(shard), {"tally": asdict(found.tally)}, tensors)
        self.tallies[shard] = found.tally

    def skip(self, shard: int, reason: str) -> None:
        """Keep in mind that a shard was left out."""
        self.add(shard, ShardJudgement(None, Tally(bad=1, told=(reason,))))

    def joined(self, has_labels: bool) -> Judgement:
        """The judgement of all shards, in the order of the corpus."""
        kinds = _COLUMNS | (_TRUTH if has_labels else {})
        texts = sum(tally.texts for tally in self.tallies.values())
        whole: dict[str, NDArray[Any]] = {}
        at = 0
        for number, tally in sorted(self.tallies.items()):  # one part after the other: none is held twice
            if tally.texts == 0:
                continue
            part = self._folder.read(_name(number))
            assert part is not None  # noqa: S101 - its tally was read or written
            for name, kind in kinds.items():
                column = _column(part, name, kind, tally.texts)
                whole.setdefault(name, np.empty(texts, column.dtype))[at : at + tally.texts] = column
            at += tally.texts
        return Judgement(**whole)


def _column(part: StoredFile, name: str, kind: str, texts: int) -> NDArray[Any]:
    column = part.tensor(name, kind)
    if len(column) != texts:
        raise part.fail(f"the tensor {name!r} has {len(column)} entries for {texts} texts")
    return column


def _name(shard: int) -> str:
    return f"judged-{shard:08d}"
