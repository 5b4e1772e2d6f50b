"""A sample of texts that any division of a corpus adds up to: those with the smallest hashes of their places.

Every text draws a number from its place (file, block, row) and the seed; the sample is the texts of the smallest
numbers whose words fit into a budget. The smallest of a union are among the smallest of its parts, so samples of parts
merge to that of the whole, in any order, if each keeps the first text that no longer fits (`pruned`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged, concatenate


@dataclass(frozen=True, eq=False)
class TextSample:
    """Texts by rising draw; `place` is (file, block, row)."""

    draw: NDArray[np.uint64]  # (texts,)
    place: NDArray[np.int64]  # (texts, 3)
    ids: Ragged[np.int32]

    @classmethod
    def empty(cls) -> TextSample:
        ids = Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64))
        return cls(np.zeros(0, np.uint64), np.zeros((0, 3), np.int64), ids)

    @classmethod
    def merged(cls, parts: Sequence[TextSample], tokens: int) -> TextSample:
        """The texts of the smallest draws that have at most so many words together, but one text at least."""
        draw = np.concatenate([part.draw for part in parts])
        place = np.concatenate([part.place for part in parts])
        ids = concatenate([part.ids for part in parts])
        order = np.lexsort((place[:, 2], place[:, 1], place[:, 0], draw))  # equal draws by their places
        kept = max(1, int(np.searchsorted(np.cumsum(ids.lengths[order]), tokens, side="right")))
        order = order[:kept]
        return cls(draw[order], place[order], ids.take(order))

    @classmethod
    def pruned(cls, parts: Sequence[TextSample], tokens: int) -> TextSample:
        """The merged sample and the one text behind it, which tells what cannot get in any more."""
        whole = cls.merged(parts, 1 << 62)
        kept = int(np.searchsorted(np.cumsum(whole.ids.lengths), tokens, side="right")) + 1
        first = np.arange(min(kept, len(whole.draw)))
        return cls(whole.draw[first], whole.place[first], whole.ids.take(first))

    def limit(self, tokens: int) -> np.uint64 | None:
        """The draw that a text must stay below to get into a pruned sample; None if any may."""
        return np.uint64(self.draw[-1]) if len(self.ids.values) > tokens else None

    def in_corpus_order(self) -> Ragged[np.int32]:
        return self.ids.take(np.lexsort((self.place[:, 2], self.place[:, 1], self.place[:, 0])))


def draws(seed: int, file: int, block: int, rows: int) -> NDArray[np.uint64]:
    """One number for each row of a block, as good as random. -> (rows,)"""
    with np.errstate(over="ignore"):
        start = np.zeros(1, np.uint64)
        for part in (seed, file, block):
            start = _mixed(start ^ _mixed(np.array([part & (1 << 64) - 1], np.uint64)))
        return _mixed(start ^ _mixed(np.arange(rows, dtype=np.uint64)))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A bijection of 64 bits in which every bit of the input moves half of the output: multiply and fold."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
