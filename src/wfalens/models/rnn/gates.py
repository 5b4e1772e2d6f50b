"""The gates of recurrent cells: what the word and the state before make of the state.

The input part of the gates depends on the word only and the recurrent part on the state only, so that each is one
matrix product for many pairs of them; a pair costs an addition and the gates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.models.contract import State

Squash = Callable[[Tensor], Tensor]
Parts = Sequence[Tensor]  # of a state: hidden, and the cell's own of an LSTM
Gates = Callable[[Tensor, Tensor, Parts], Parts]
_GRID_FLOATS = 1 << 18  # gate values held at once


def lstm(by_word: Tensor, by_state: Tensor, parts: Parts, squash: Squash, gate: Squash) -> Parts:
    gate_in, gate_forget, candidate, gate_out = (by_word + by_state).chunk(4, -1)
    cell = gate(gate_forget) * parts[1] + gate(gate_in) * squash(candidate)
    return gate(gate_out) * squash(cell), cell


def gru(by_word: Tensor, by_state: Tensor, parts: Parts, squash: Squash, gate: Squash) -> Parts:
    reset_w, update_w, new_w = by_word.chunk(3, -1)
    reset_s, update_s, new_s = by_state.chunk(3, -1)
    new = squash(new_w + gate(reset_w + reset_s) * new_s)
    update = gate(update_w + update_s)
    return (new + update * (parts[0] - new),)


def elman(by_word: Tensor, by_state: Tensor, parts: Parts, squash: Squash, gate: Squash) -> Parts:  # noqa: ARG001
    return (squash(by_word + by_state),)


GATES = {"lstm": lstm, "gru": gru, "elman": elman}


def grid(by_word: Tensor, by_state: Tensor, parts: Parts, gates: Gates) -> Iterator[tuple[slice, Parts]]:
    """Every word from every state: the parts of the new states, for some states after the other.

    by_word: (words, gates), by_state: (states, gates), parts: (states, hidden) -> (some states, words, hidden)
    """
    rows = max(1, _GRID_FLOATS // max(1, by_word.numel()))
    for start in range(0, len(by_state), rows):
        block = slice(start, start + rows)
        yield block, gates(by_word[None], by_state[block, None], [part[block, None] for part in parts])


# A state of torch's recurrent layers is a row: its parts one after the other, each with all its layers.


def zero_state(layers: nn.RNNBase, batch: int) -> Tensor:
    # -> (batch, parts · layers · hidden)
    parts = 2 if isinstance(layers, nn.LSTM) else 1
    return torch.zeros(batch, parts * layers.num_layers * layers.hidden_size)


def recurrent_step(layers: nn.RNNBase, inputs: Tensor, state: Tensor) -> Tensor:
    """One step; (batch, inputs), (batch, width) -> the new state (batch, width)"""
    is_lstm = isinstance(layers, nn.LSTM)
    parts = state.view(state.shape[0], -1, layers.num_layers, layers.hidden_size).permute(1, 2, 0, 3).contiguous()
    _, after = layers(inputs[:, None], tuple(parts) if is_lstm else parts[0])
    return torch.stack(after if is_lstm else (after,)).permute(2, 0, 1, 3).flatten(1)


def last_hidden(layers: nn.RNNBase, state: Tensor) -> Tensor:
    """What the last layer gives; (…, width) -> (…, hidden)"""
    end = layers.num_layers * layers.hidden_size
    return state[..., end - layers.hidden_size : end].contiguous()


class GridSteps(ABC):
    """Gives a classifier with one recurrent layer the steps of every word from every state."""

    class_names: tuple[str, ...]

    @abstractmethod
    def new_parts(self, state: State, ids: NDArray[np.int32]) -> Iterator[tuple[slice, Parts]]:
        """What `grid` gives for these states and words."""

    @abstractmethod
    def read_out(self, hidden: Tensor) -> NDArray[np.float32]:
        """Probabilities for hidden states; (…, hidden) -> (…, classes)"""

    def step_grid(self, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        return self._grid_outputs(state, ids, None)

    def state_grid(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        states = np.empty((len(state), len(ids), state.shape[1]), np.float32)
        return states, self._grid_outputs(state, ids, states)

    @torch.inference_mode()
    def _grid_outputs(self, state: State, ids: NDArray[np.int32], states: State | None) -> NDArray[np.float32]:
        outputs = np.empty((len(state), len(ids), len(self.class_names)), np.float32)
        for block, parts in self.new_parts(state, ids):
            if states is not None:
                torch.cat(list(parts), -1, out=torch.from_numpy(states[block]))
            outputs[block] = self.read_out(parts[0])
        return outputs
