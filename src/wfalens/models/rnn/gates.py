"""The gates of recurrent cells: what the word and the state before make of the state.

The input part of the gates depends on the word only and the recurrent part on the state only, so that each is one
matrix product for many pairs of them; a pair costs an addition and the gates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

Squash = Callable[[Tensor], Tensor]
Gates = Callable[[Tensor, Tensor, Sequence[Tensor]], tuple[Tensor, ...]]
_GRID_FLOATS = 1 << 18  # gate values held at once


def lstm(
    by_word: Tensor,
    by_state: Tensor,
    parts: Sequence[Tensor],
    squash: Squash = torch.tanh,
    gate: Squash = torch.sigmoid,
) -> tuple[Tensor, ...]:
    gate_in, gate_forget, candidate, gate_out = (by_word + by_state).chunk(4, -1)
    cell = gate(gate_forget) * parts[1] + gate(gate_in) * squash(candidate)
    return gate(gate_out) * squash(cell), cell


def gru(
    by_word: Tensor,
    by_state: Tensor,
    parts: Sequence[Tensor],
    squash: Squash = torch.tanh,
    gate: Squash = torch.sigmoid,
) -> tuple[Tensor, ...]:
    reset_w, update_w, new_w = by_word.chunk(3, -1)
    reset_s, update_s, new_s = by_state.chunk(3, -1)
    new = squash(new_w + gate(reset_w + reset_s) * new_s)
    update = gate(update_w + update_s)
    return (new + update * (parts[0] - new),)


def elman(
    by_word: Tensor,
    by_state: Tensor,
    parts: Sequence[Tensor],  # noqa: ARG001
    squash: Squash = torch.tanh,
    gate: Squash = torch.sigmoid,  # noqa: ARG001
) -> tuple[Tensor, ...]:
    return (squash(by_word + by_state),)


GATES = {"lstm": lstm, "gru": gru, "elman": elman}


def grid(
    by_word: Tensor, by_state: Tensor, parts: Sequence[Tensor], gates: Gates
) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
    """Every word from every state: the parts of the new states, for some states after the other.

    by_word: (words, gates), by_state: (states, gates), parts: (states, hidden) -> (some states, words, hidden)
    """
    rows = max(1, _GRID_FLOATS // max(1, by_word.numel()))
    for start in range(0, len(by_state), rows):
        block = slice(start, start + rows)
        yield block, gates(by_word[None], by_state[block, None], [part[block, None] for part in parts])
