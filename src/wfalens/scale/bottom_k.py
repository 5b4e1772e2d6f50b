"""Bottom-k sampling: a sample of texts that any division of a corpus adds up to.

Every text draws a number from its address (file, block, text) and the seed; the sample is the texts of the smallest
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
    """Texts by rising draw; `address` is (file, block, text), `truth` the true class or -1."""

    draw: NDArray[np.uint64]  # (texts,)
    address: NDArray[np.int64]  # (texts, 3)
    truth: NDArray[np.int64]  # (texts,)
    ids: Ragged[np.int32]

    @classmethod
    def empty(cls) -> TextSample:
        ids = Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64))
        return cls(np.zeros(0, np.uint64), np.zeros((0, 3), np.int64), np.zeros(0, np.int64), ids)

    def __len__(self) -> int:
        return len(self.draw)

    @classmethod
    def joined(cls, parts: Sequence[TextSample]) -> TextSample:
        """Samples one after the other, nothing left out."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.draw for part in parts]),
            np.concatenate([part.address for part in parts]),
            np.concatenate([part.truth for part in parts]),
            concatenate([part.ids for part in parts]),
        )

    @classmethod
    def merged(cls, parts: Sequence[TextSample], tokens: int | None) -> TextSample:
        """The texts of the smallest draws that have at most so many words together, but one text at least."""
        whole = cls.joined(parts)
        if tokens is None:
            return whole
        whole = whole._by_draw()
        kept = max(1, int(np.searchsorted(np.cumsum(whole.ids.lengths), tokens, side="right")))
        return whole._first(kept)

    @classmethod
    def pruned(cls, parts: Sequence[TextSample], tokens: int | None) -> TextSample:
        """The merged sample and the one text behind it, which tells what cannot get in any more."""
        whole = cls.joined(parts)
        if tokens is None:
            return whole
        whole = whole._by_draw()
        return whole._first(int(np.searchsorted(np.cumsum(whole.ids.lengths), tokens, side="right")) + 1)

    def limit(self, tokens: int | None) -> np.uint64 | None:
        """The draw that a text must stay below to get into a pruned sample; None if any may."""
        return np.uint64(self.draw[-1]) if tokens is not None and len(self.ids.values) > tokens else None

    def in_corpus_order(self) -> TextSample:
        file, block, text = self.address.T
        return self._take(np.lexsort((text, block, file)))

    def _by_draw(self) -> TextSample:
        address = self.address
        return self._take(
            np.lexsort((address[:, 2], address[:, 1], address[:, 0], self.draw))
        )  # equal draws by their addresses

    def _first(self, texts: int) -> TextSample:
        return self if texts >= len(self) else self._take(np.arange(texts))

    def _take(self, items: NDArray[np.int64]) -> TextSample:
        if np.array_equal(items, np.arange(len(self))):
            return self
        return TextSample(self.draw[items], self.address[items], self.truth[items], self.ids.take(items))


def draws(seed: int, file: int, block: int, texts: int) -> NDArray[np.uint64]:
    """One number for each text of a block, as good as random. -> (texts,)"""
    with np.errstate(over="ignore"):
        start = np.zeros(1, np.uint64)
        for part in (seed, file, block):
            start = _mixed(start ^ _mixed(np.array([part & (1 << 64) - 1], np.uint64)))
        return _mixed(start ^ _mixed(np.arange(texts, dtype=np.uint64)))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit moves half of the output."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
