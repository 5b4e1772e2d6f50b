"""The distinct prefixes of many sequences: shared beginnings are found once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged

_WORD_BITS = 32
_WORD_MASK = (1 << _WORD_BITS) - 1


@dataclass(frozen=True)
class PrefixTree:
    """All distinct non-empty prefixes; a parent stands before its children."""

    parent: NDArray[np.int64]  # (prefixes,): the prefix without its last word, -1 for none
    word: NDArray[np.int32]  # (prefixes,): the last word
    depth: NDArray[np.int64]  # (prefixes,): the number of words
    of_token: NDArray[np.int64]  # (tokens,): the prefix that ends at each token

    def __len__(self) -> int:
        return len(self.word)

    def sequences(self, batch: int) -> Iterator[tuple[NDArray[np.int64], Ragged[np.int32]]]:
        """The prefixes as sequences, in batches with their numbers; equal lengths stand together."""
        for start in range(0, len(self), batch):
            numbers = np.arange(start, min(start + batch, len(self)))
            yield numbers, self.spelled(numbers)

    def spelled(self, numbers: NDArray[np.int64]) -> Ragged[np.int32]:
        lengths = self.depth[numbers]
        table = np.zeros((len(numbers), int(lengths.max(initial=0))), np.int32)
        here = numbers.copy()
        for column in range(table.shape[1]):
            alive = here >= 0
            table[alive, column] = self.word[here[alive]]
            here[alive] = self.parent[here[alive]]
        # words were read from the end: turn each row round
        columns = lengths[:, None] - 1 - np.arange(table.shape[1])
        real = columns >= 0
        turned = np.take_along_axis(table, np.maximum(columns, 0), 1)
        return Ragged.from_lengths(turned[real], lengths)


def prefix_tree(ids: Ragged[np.int32]) -> PrefixTree:
    """One vectorised pass per position over all sequences."""
    lengths, starts = ids.lengths, ids.offsets[:-1]
    of_token = np.empty(len(ids.values), np.int64)
    here = np.full(len(ids), -1, np.int64)
    parents, words, depths, count = [], [], [], 0
    reading = np.flatnonzero(lengths > 0)
    position = 0
    while len(reading):
        # prefix and word in one number, which sorts like the pair
        pairs = (here[reading] + 1 << _WORD_BITS) | ids.values[starts[reading] + position]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        here[reading] = count + inverse.ravel()
        of_token[starts[reading] + position] = here[reading]
        parents.append((distinct >> _WORD_BITS) - 1)
        words.append((distinct & _WORD_MASK).astype(np.int32))
        depths.append(np.full(len(distinct), position + 1))
        count += len(distinct)
        position += 1
        reading = reading[lengths[reading] > position]
    empty = np.zeros(0, np.int64)
    return PrefixTree(
        np.concatenate([empty, *parents]),
        np.concatenate([empty.astype(np.int32), *words]),
        np.concatenate([empty, *depths]),
        of_token,
    )
