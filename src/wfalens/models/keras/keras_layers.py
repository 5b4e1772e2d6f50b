"""Layers of a Keras file that read sequences of vectors: convolutions, pooling, recurrent ones in either direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from wfalens.models.keras.shared_work import Coded, last, numbered, shared_steps, windows
from wfalens.models.rnn.gates import GATES, Squash

SAME, VALID, CAUSAL = "same", "valid", "causal"


@dataclass(frozen=True)
class Cell:
    """A recurrent layer, its gates in the order of torch."""

    kind: str
    kernel: Tensor  # (inputs, gates · units)
    recurrent: Tensor  # (units, gates · units)
    bias: Tensor  # (2, gates · units): of the inputs, of the state
    squash: Squash
    gate: Squash
    resets_after: bool = True  # a GRU's reset gate works on what the state gives, not on the state

    @property
    def units(self) -> int:
        return len(self.recurrent)

    @property
    def parts(self) -> int:
        return 2 if self.kind == "lstm" else 1

    @property
    def size(self) -> int:
        """Of a state: all parts, one beside the other."""
        return self.parts * self.units

    def by_word(self, inputs: Tensor) -> Tensor:
        return torch.addmm(self.bias[0], inputs, self.kernel)

    def by_state(self, hidden: Tensor) -> Tensor:
        return torch.addmm(self.bias[1], hidden, self.recurrent)

    def gates(self, by_word: Tensor, by_state: Tensor, parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
        return GATES[self.kind](by_word, by_state, parts, self.squash, self.gate)

    def after(self, by_word: Tensor, state: Tensor) -> Tensor:
        # what the inputs give (batch, gates · units), (batch, size) -> the new state
        parts = state.chunk(self.parts, -1)
        if self.resets_after:
            return torch.cat(self.gates(by_word, self.by_state(parts[0]), parts), -1)
        (hidden,), width = parts, 2 * self.units
        both = self.gate(by_word[:, :width] + hidden @ self.recurrent[:, :width])
        reset, update = both.chunk(2, -1)
        new = self.squash(by_word[:, width:] + (reset * hidden) @ self.recurrent[:, width:])
        return new + update * (hidden - new)


@dataclass(frozen=True)
class Window:
    """Which columns a step of a convolution or of pooling reads."""

    size: int
    stride: int
    padding: str
    dilation: int = 1

    @property
    def reach(self) -> int:
        return (self.size - 1) * self.dilation + 1

    def of(self, codes: Tensor, outside: int) -> Tensor:
        # (batch, time) -> (batch, steps, size)
        time = codes.shape[1]
        steps = (time - self.reach) // self.stride + 1 if self.padding == VALID else -(-time // self.stride)
        missing = max(0, (steps - 1) * self.stride + self.reach - time)
        first = {VALID: 0, SAME: -(missing // 2), CAUSAL: 1 - self.reach}[self.padding]
        return windows(codes, first, self.reach, self.stride, steps, outside)[:, :, :: self.dilation]


def windowed(window: Window, combine: Callable[[Tensor], Tensor], beyond: float) -> Callable[[Coded], Coded]:
    """A layer that combines the vectors of a window, (windows, size, width) -> (windows, new width).

    `beyond` is what it reads where the table ends.
    """

    def layer(read: Coded) -> Coded:
        outside, width = len(read.vectors), read.vectors.shape[1]
        found = window.of(read.codes, outside)
        which, distinct = numbered(found.reshape(-1, window.size).unbind(1), [outside + 1] * window.size)
        vectors = torch.cat([read.vectors, torch.full((1, width), beyond)])
        return Coded(which.view(found.shape[:2]), combine(vectors[torch.stack(distinct, 1)]))

    return layer


def each(change: Callable[[Tensor], Tensor]) -> Callable[[Coded], Coded]:
    """A layer that changes every vector by itself."""
    return lambda read: Coded(read.codes, change(read.vectors))


def convolution(window: Window, kernel: Tensor, bias: Tensor, squash: Squash) -> Callable[[Coded], Coded]:
    # kernel: (size, inputs, filters), bias: (filters,)
    flat = kernel.flatten(0, 1)
    return windowed(window, lambda vectors: squash(torch.addmm(bias, vectors.flatten(1), flat)), 0.0)


def highest(window: Window) -> Callable[[Coded], Coded]:
    """The highest value of a window; there is none beyond the table."""
    return windowed(window, lambda vectors: vectors.amax(1), -torch.inf)


def recurrent(cell: Cell, backwards: bool = False) -> Callable[[Coded], Coded]:
    """The hidden state after every column, in the order in which they are read."""

    def layer(read: Coded) -> Coded:
        codes, vectors, known = list[Tensor](), list[Tensor](), 0
        for state, which in _states(cell, read, backwards):
            codes.append(which + known)
            vectors.append(state[:, : cell.units])
            known += len(state)
        return Coded(torch.stack(codes, 1), torch.cat(vectors))

    return layer


def last_state(cell: Cell, backwards: bool = False) -> Callable[[Coded], Tensor]:
    """The hidden state at the end: (batch, units)"""

    def layer(read: Coded) -> Tensor:
        state, which = last(_states(cell, read, backwards))
        return state[which, : cell.units]

    return layer


def _states(cell: Cell, read: Coded, backwards: bool) -> Iterator[tuple[Tensor, Tensor]]:
    by_word = cell.by_word(read.vectors)
    codes = read.codes.flip(1) if backwards else read.codes
    start = torch.zeros(1, cell.size)
    return shared_steps(codes, len(by_word), start, lambda state, words: cell.after(by_word[words], state))


def both_ways(forward: Cell, backward: Cell) -> Callable[[Coded], Coded]:
    """Two readings side by side, the one from the end turned round."""
    there, back = recurrent(forward), recurrent(backward, backwards=True)

    def layer(read: Coded) -> Coded:
        one, other = there(read), back(read)
        codes = (one.codes, other.codes.flip(1))
        which, (left, right) = numbered([each.flatten() for each in codes], [len(one.vectors), len(other.vectors)])
        return Coded(which.view(read.codes.shape), torch.cat([one.vectors[left], other.vectors[right]], 1))

    return layer


def both_ends(forward: Cell, backward: Cell) -> Callable[[Coded], Tensor]:
    # -> (batch, units of both)
    there, back = last_state(forward), last_state(backward, backwards=True)
    return lambda read: torch.cat([there(read), back(read)], 1)
