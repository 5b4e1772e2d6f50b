"""Counts of shards on disk: each part says which shards it covers, and no shard is covered twice.

Parts are merged in a tree: sixty-four of a level into one of the next. The merged one is written before the others are
removed, so a run that is killed in between finds a shard twice and counts it once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError
from wfalens.extraction.evidence.counting import ShardCounts, Tally
from wfalens.extraction.evidence.sums import carried
from wfalens.extraction.evidence.transitions import TransitionCounts
from wfalens.passes.parts import FORMAT, VERSION, PartsFolder
from wfalens.storage import StoredFile, compact, read_file

FAN = 64
_RUN = ("keys", "counts")


class CountParts:
    """The parts of counts in a folder."""

    def __init__(self, folder: PartsFolder) -> None:
        self.folder = folder
        self.covered: set[int] = set()
        self._parts: dict[Path, frozenset[int]] = {}
        found = {path: _shards(path) for path in folder.path.glob("counts-*.part")}
        for path, shards in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
            if shards <= self.covered:
                path.unlink(missing_ok=True)
            elif shards & self.covered:
                raise FormatError(f"{path} overlaps with other parts; remove {folder.path} to begin anew")
            else:
                self._hold(path, shards)

    def _hold(self, path: Path, shards: frozenset[int]) -> None:
        self._parts[path] = shards
        self.covered |= shards

    @property
    def paths(self) -> list[Path]:
        return sorted(self._parts)

    def add(self, shard: int, found: ShardCounts) -> None:
        self._hold(self._write(f"counts-{shard:08d}", frozenset([shard]), found), frozenset([shard]))

    def skip(self, shard: int, reason: str, states: int, classes: int) -> None:
        """Keep in mind that a shard was left out."""
        none, sums = TransitionCounts.empty(states), np.zeros((states, classes, 2), np.int64)
        self.add(shard, ShardCounts(none, none, sums, Tally(bad=1, told=(reason,))))

    def full_level(self, most_bytes: int) -> list[Path]:
        """Parts that are due to be merged and small enough for it: sixty-four that cover about equally many shards."""
        levels: dict[int, list[Path]] = {}
        for path in self.paths:
            level = (len(self._parts[path]) - 1).bit_length() // (FAN.bit_length() - 1)
            levels.setdefault(level, []).append(path)
        for _, paths in sorted(levels.items()):
            due = paths[:FAN]
            if len(due) == FAN and sum(path.stat().st_size for path in due) <= most_bytes:
                return due
        return []

    def merge(self, paths: Iterable[Path]) -> None:
        """Put one part in the place of several."""
        paths = list(paths)
        shards = frozenset[int]().union(*(self._parts[path] for path in paths))
        merged = _merged([read_counts(path) for path in paths])
        path = self._write(f"counts-{min(shards):08d}-{len(shards)}", shards, merged)
        for old in paths:
            del self._parts[old]
            old.unlink(missing_ok=True)
        self._parts[path] = shards

    def tally(self) -> Tally:
        return Tally.of(stored_tally(read_file(path, FORMAT, VERSION, ())) for path in self.paths)

    def output_sums(self) -> NDArray[np.int64]:
        # -> (n, C, 2)
        files = (read_file(path, FORMAT, VERSION, ("output_sums",)) for path in self.paths)
        return _added([file.tensor("output_sums", "i", 3) for file in files])

    def _write(self, name: str, shards: frozenset[int], found: ShardCounts) -> Path:
        header: dict[str, Any] = {
            "shards": sorted(shards),
            "states": found.counts.states,
            "tally": asdict(found.tally),
        }
        tensors = {
            "keys": compact(found.counts.keys),
            "counts": compact(found.counts.counts),
            "augmented.keys": compact(found.augmented.keys),
            "augmented.counts": compact(found.augmented.counts),
            "output_sums": found.output_sums,
        }
        return self.folder.write(name, header, tensors)


def read_counts(path: Path) -> ShardCounts:
    file = read_file(path, FORMAT, VERSION)
    states = file.field("states", int)

    def counts(kind: str) -> TransitionCounts:
        return TransitionCounts(states, *(file.tensor(f"{kind}{part}", "iu").astype(np.int64) for part in _RUN))

    return ShardCounts(
        counts(""),
        counts("augmented."),
        file.tensor("output_sums", "i", 3),
        stored_tally(file),
    )


def _merged(parts: list[ShardCounts]) -> ShardCounts:
    first, *others = parts
    return ShardCounts(
        first.counts.merge(*(part.counts for part in others)),
        first.augmented.merge(*(part.augmented for part in others)),
        _added([part.output_sums for part in parts]),
        Tally.of(part.tally for part in parts),
    )


def stored_tally(file: StoredFile) -> Tally:
    fields = file.field("tally", dict)
    return Tally(**fields | {"told": tuple(fields["told"])})


def _added(sums: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    total = sums[0]
    for each in sums[1:]:
        total = carried(total + each)
    return total


def _shards(path: Path) -> frozenset[int]:
    return frozenset(read_file(path, FORMAT, VERSION, ()).field("shards", list))
