"""Ragged data: one flat array and offsets, the only form in which variable-length data travels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wfalens.errors import InputError

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Ragged(Generic[Scalar]):
    """Items of different lengths in one flat array: item i is `values[offsets[i]:offsets[i + 1]]`.

    Args:
        values: (N, …) all items, one behind the other.
        offsets: (items + 1,) where each item begins, from 0 to N.

    Examples:
        >>> from wfalens import Ragged
        >>> ragged = Ragged.from_lists([[1, 2, 3], [4]], np.int32)
        >>> ragged.lengths.tolist(), ragged[1].tolist()
        ([3, 1], [4])
    """

    values: NDArray[Scalar]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        offsets = self.offsets
        if offsets.ndim != 1 or len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(self.values):
            raise InputError(f"ragged offsets must run from 0 to {len(self.values)}")
        if np.any(np.diff(offsets) < 0):
            raise InputError("ragged offsets must not decrease")

    @classmethod
    def from_lengths(cls, values: NDArray[Scalar], lengths: NDArray[np.int64]) -> Ragged[Scalar]:
        """Items of the given lengths, one after the other.

        Args:
            values: all values, (N, …)
            lengths: of the items; they sum to N

        Examples:
            >>> len(Ragged.from_lengths(np.array([4, 5, 6]), np.array([1, 2])))
            2
        """
        return cls(values, offsets_of(lengths))

    @classmethod
    def from_lists(cls, items: Sequence[Sequence[Any]], dtype: DTypeLike) -> Ragged[Any]:
        """Items from lists of numbers.

        Args:
            items: a list for each
            dtype: of the values

        Examples:
            >>> Ragged.from_lists([[4], [5, 6]], np.int32).values
            array([4, 5, 6], dtype=int32)
        """
        lengths = np.fromiter((len(item) for item in items), np.int64, len(items))
        values = np.fromiter(chain.from_iterable(items), dtype, int(lengths.sum()))
        return cls.from_lengths(values, lengths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, item: int) -> NDArray[Scalar]:
        if not -len(self) <= item < len(self):
            raise IndexError(item)
        item %= len(self)
        return self.values[self.offsets[item] : self.offsets[item + 1]]

    def __iter__(self) -> Iterator[NDArray[Scalar]]:
        return (self[item] for item in range(len(self)))

    def take(self, items: NDArray[np.int64]) -> Ragged[Scalar]:
        """The given items, in the given order.

        Args:
            items: their positions

        Examples:
            >>> Ragged.from_lists([[4], [5, 6]], np.int64).take(np.array([1, 0])).values
            array([5, 6, 4])
        """
        lengths = self.lengths[items]
        offsets = offsets_of(lengths)
        return Ragged(self.values[positions(self.offsets[items], lengths)], offsets)

    def between(self, first: int, last: int) -> Ragged[Scalar]:
        """Neighbouring items: `first … last − 1`, as far as there are any; nothing is copied."""
        offsets = self.offsets[first : last + 1]
        return Ragged(self.values[offsets[0] : offsets[-1]], offsets - offsets[0])

    def nonempty(self) -> tuple[NDArray[np.int64], Ragged[Scalar]]:
        """The numbers of the items that have values, and these items."""
        items = np.flatnonzero(self.lengths)
        return items, self if len(items) == len(self) else self.take(items)

    def cut(self, max_length: int) -> Ragged[Scalar]:
        """Every item cut after `max_length` values."""
        lengths = np.minimum(self.lengths, max_length)
        return Ragged(self.values[positions(self.offsets[:-1], lengths)], offsets_of(lengths))

    def kept(self, length: int) -> Ragged[Scalar]:
        """The last `length` values of every item."""
        lengths = np.minimum(self.lengths, length)
        return Ragged(self.values[positions(self.offsets[1:] - lengths, lengths)], offsets_of(lengths))

    def chunks(self, size: int) -> Iterator[Ragged[Scalar]]:
        """Neighbouring items in parts of about `size` values, in order."""
        marks = np.searchsorted(self.offsets, np.arange(size, len(self.values), size))
        cuts = np.unique(np.concatenate([[0], marks, [len(self)]]))
        for first, last in pairwise(cuts):
            yield self.between(first, last)

    def last(self) -> NDArray[Scalar]:
        """The last value of every item; refused if an item is empty (`model.predict_proba` takes texts without words).

        Examples:
            >>> Ragged.from_lists([[4], [5, 6]], np.int64).last()
            array([4, 6])
        """
        if np.any(self.offsets[1:] == self.offsets[:-1]):
            raise InputError("an item is empty and has no last value", code="empty-text")
        return self.values[self.offsets[1:] - 1]

    def item_of_value(self) -> NDArray[np.int64]:
        """For every value the item that it belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def padded(self, fill: int = 0) -> NDArray[Scalar]:
        # one-dimensional values only: (N,) -> (items, longest)
        """A table with a row for each item; one-dimensional values only. -> (items, longest)

        Args:
            fill: stands where an item has ended

        Examples:
            >>> Ragged.from_lists([[4], [5, 6]], np.int64).padded()
            array([[4, 0],
                   [5, 6]])
        """
        lengths = self.lengths
        table = np.full((len(self), int(lengths.max(initial=0))), fill, self.values.dtype)
        table[np.arange(table.shape[1]) < lengths[:, None]] = self.values
        return table


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def positions(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Flat positions of runs: `starts[i] … starts[i] + lengths[i] - 1`, one run after the other."""
    offsets = offsets_of(lengths)
    return np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])


def concatenate(parts: Iterable[Ragged[Scalar]]) -> Ragged[Scalar]:
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    return Ragged.from_lengths(
        np.concatenate([part.values for part in parts]), np.concatenate([part.lengths for part in parts])
    )
