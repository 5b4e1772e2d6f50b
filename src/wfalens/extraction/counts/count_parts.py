"""Evidence in parts: each says which shards it covers, and no shard is covered twice.

Parts are merged in a tree: sixty-four of a level into one of the next. The merged one is written before the others are
removed, so a run that is killed in between finds a shard twice and counts it once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError
from wfalens.extraction.counts.counting import Evidence
from wfalens.extraction.counts.fixed_point import added
from wfalens.extraction.counts.transitions import TransitionCounts
from wfalens.scale.checkpoints import Parts
from wfalens.scale.row_counts import RowCounts
from wfalens.storage import StoredFile, compact

FAN = 64
KINDS = ("", "augmented.")  # of runs in a part: what the names of their tensors begin with
_NAME = "counts-"
_RUN = ("keys", "counts")


class CountParts:
    """The evidence that a run has so far."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.covered: set[int] = set()
        self._shards: dict[str, frozenset[int]] = {}
        found = {name: frozenset(self._read(name, ()).field("shards", list)) for name in parts.names(_NAME)}
        for name in found:
            parts.verify(name)
        for name, shards in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
            if shards <= self.covered:
                parts.remove(name)
            elif shards & self.covered:
                raise FormatError(f"the part {name} overlaps with other parts; remove their folder to begin anew")
            else:
                self._hold(name, shards)

    def _hold(self, name: str, shards: frozenset[int]) -> None:
        self._shards[name] = shards
        self.covered |= shards

    @property
    def names(self) -> list[str]:
        return sorted(self._shards)

    def add(self, shards: Collection[int], evidence: Evidence) -> None:
        """Keep the evidence of some shards."""
        name = f"{_NAME}{min(shards):08d}" + ("" if len(shards) == 1 else f"-{len(shards)}")
        header: dict[str, Any] = {
            "shards": sorted(shards),
            "states": evidence.counts.states,
            "tally": evidence.tally.to_json(),
        }
        tensors = {
            "keys": compact(evidence.counts.keys),
            "counts": compact(evidence.counts.counts),
            "augmented.keys": compact(evidence.augmented.keys),
            "augmented.counts": compact(evidence.augmented.counts),
            "output_sums": evidence.output_sums,
        }
        self.parts.write(name, header, tensors)
        self._hold(name, frozenset(shards))

    def full_level(self, most_bytes: int | None) -> list[str]:
        """Parts that are due to be merged and small enough for it: sixty-four that cover about equally many shards."""
        levels: dict[int, list[str]] = {}
        for name in self.names:
            level = (len(self._shards[name]) - 1).bit_length() // (FAN.bit_length() - 1)
            levels.setdefault(level, []).append(name)
        for _, names in sorted(levels.items()):
            due = names[:FAN]
            if len(due) == FAN and (most_bytes is None or sum(map(self.parts.bytes, due)) <= most_bytes):
                return due
        return []

    def merge(self, names: Iterable[str]) -> None:
        """Replace several parts by one."""
        names = list(names)
        merged = Evidence.merged([self._evidence(name) for name in names])
        shards = frozenset[int]().union(*(self._shards.pop(name) for name in names))
        self.add(shards, merged)
        for name in names:
            self.parts.remove(name)

    def tally(self) -> RowCounts:
        return RowCounts.of(RowCounts.stored(self._read(name, ())) for name in self.names)

    def output_sums(self) -> NDArray[np.int64]:
        # -> (n, C, 2)
        return added([self._read(name, ("output_sums",)).tensor("output_sums", "i", 3) for name in self.names])

    def _evidence(self, name: str) -> Evidence:
        file = self._read(name)
        states = file.field("states", int)
        counts, more = (
            TransitionCounts(states, *(file.tensor(f"{kind}{part}", "iu").astype(np.int64) for part in _RUN))
            for kind in KINDS
        )
        return Evidence(counts, more, file.tensor("output_sums", "i", 3), RowCounts.stored(file))

    def _read(self, name: str, only: Collection[str] | None = None) -> StoredFile:
        file = self.parts.read(name, only)
        if file is None:
            raise FormatError(f"the part {name} is gone; remove its folder to begin anew")
        return file
