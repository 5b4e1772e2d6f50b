"""Tables in which much is equal: prefixes of one text, and the pads of all. What is equal is worked out once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pandas as pd
import torch
from torch import Tensor

_LARGEST = 1 << 62


class Coded(NamedTuple):
    """Sequences of vectors, each kept once."""

    codes: Tensor  # (batch, time): the number of the vector
    vectors: Tensor  # (numbers, width)

    @property
    def spelled(self) -> Tensor:
        # -> (batch, time, width)
        return self.vectors[self.codes]


def windows(codes: Tensor, first: int, size: int, stride: int, steps: int, outside: int) -> Tensor:
    """What stands in windows that begin at `first`, `first + stride`, …, `outside` where no column is.

    (batch, time) -> (batch, steps, size)
    """
    reach = first + (steps - 1) * stride + size
    wide = torch.nn.functional.pad(codes, (max(0, -first), max(0, reach - codes.shape[1])), value=outside)
    return wide[:, max(0, first) :].unfold(1, size, stride)[:, :steps]


def numbered(columns: Sequence[Tensor], sizes: Sequence[int]) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The distinct rows of columns of numbers below `sizes`, and which one each row is.

    (rows,) each -> (rows,), (distinct rows,) each
    """
    key, known, below = columns[0], [columns[0]], sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if below * size >= _LARGEST:
            key, first = _distinct(key)
            below = len(first)
        key, below = key * size + column, below * size
        known.append(column)
    which, first = _distinct(key)
    return which, tuple(column[first] for column in known)


def _distinct(key: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the distinct keys each is, and where each of them comes first; (rows,) -> (rows,), (distinct,)"""
    which, found = pd.factorize(key.numpy())
    numbers = torch.from_numpy(which)
    first = torch.empty(len(found), dtype=torch.int64)
    first[numbers.flip(0)] = torch.arange(len(key) - 1, -1, -1)
    return numbers, first


def shared_steps(
    codes: Tensor, size: int, start: Tensor, step: Callable[[Tensor, Tensor], Tensor]
) -> Iterator[tuple[Tensor, Tensor]]:
    """States after every column, of rows that are equal so far only one, and which one each row has.

    codes: (batch, time) numbers below `size`; start: (1, width); step: (states, width), (states,) -> (states, width)
    -> (states, width), (batch,) for each column
    """
    state, which = start, torch.zeros(len(codes), dtype=torch.int64)
    for column in codes.T.contiguous():
        if len(state) == len(codes):  # rows that differ go on differing
            before, words = which, column
            which = torch.arange(len(codes))
        else:
            which, (before, words) = numbered((which, column), (len(state), size))
        state = step(state[before], words)
        yield state, which


def last(steps: Iterator[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """What stands after the last column; there must be one."""
    (end,) = deque(steps, maxlen=1)
    return end
