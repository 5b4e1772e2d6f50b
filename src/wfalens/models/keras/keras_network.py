"""Embedding → recurrent layers → dense layers of a Keras file as a network that goes on from a state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.models.keras.keras_file import Layer, StoredModel
from wfalens.models.keras.keras_layers import Cell
from wfalens.models.keras.keras_weights import (
    CELLS,
    Dense,
    cell_of,
    dense_of,
    embedding_of,
    is_usual,
    readout_of,
    said,
    working_layers,
)
from wfalens.models.keras.shared_work import last, shared_steps
from wfalens.models.rnn.gates import grid


@dataclass(frozen=True)
class RecurrentNetwork:
    """A state is all parts of all layers, one beside the other: (batch, size)."""

    embedding: Tensor  # (rows, inputs)
    masks_zero: bool  # id 0 is skipped
    cells: tuple[Cell, ...]
    head: tuple[Dense, ...]
    width: int | None  # of the tables that the model was made for
    outputs: str  # what the head gives: a readout

    @property
    def size(self) -> int:
        return sum(cell.size for cell in self.cells)

    @property
    def has_grid(self) -> bool:
        """Whether a new state is a function of what a word gives and what a state gives, each by itself."""
        return len(self.cells) == 1 and self.cells[0].resets_after and not self.masks_zero

    def step(self, state: Tensor, ids: Tensor) -> Tensor:
        # (batch, size), (batch,) -> (batch, size)
        inputs, first, found = self.embedding[ids], 0, list[Tensor]()
        for cell in self.cells:
            new = cell.after(cell.by_word(inputs), state[:, first : first + cell.size])
            inputs, first = new[:, : cell.units], first + cell.size
            found.append(new)
        after = torch.cat(found, -1)
        return torch.where((ids == 0)[:, None], state, after) if self.masks_zero else after

    def read_out(self, state: Tensor) -> Tensor:
        """What the head says of states; (batch, size) -> (batch, outputs)"""
        last = self.cells[-1]
        return self.said(state[:, self.size - last.size :][:, : last.units])

    def said(self, hidden: Tensor) -> Tensor:
        return said(hidden, self.head)

    def grid(self, state: Tensor, ids: Tensor) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
        (cell,) = self.cells
        parts = state.chunk(cell.parts, -1)
        return grid(cell.by_word(self.embedding[ids]), cell.by_state(parts[0]), parts, cell.gates)

    @torch.inference_mode()
    def table(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """What it says of whole tables, as Keras would: (batch, time) -> (batch, outputs)"""
        start = torch.zeros(1, self.size)
        state, which = last(shared_steps(torch.from_numpy(ids), len(self.embedding), start, self.step))
        return np.asarray(self.read_out(state)[which].numpy())


def plain_network(stored: StoredModel) -> RecurrentNetwork | None:
    """The network of a file whose layers are all of the plain kinds, None for others."""
    layers = working_layers(stored)
    recurrent = [layer for layer in layers if layer.kind in CELLS]
    head = layers[1 + len(recurrent) :]
    names = ["Embedding", *(layer.kind for layer in recurrent), *("Dense" for _ in head)]
    outputs = readout_of(head, stored.is_old)
    if not recurrent or outputs is None or [layer.kind for layer in layers] != names:
        return None
    if not all(_is_plain(layer, layer is not recurrent[-1], stored.is_old) for layer in recurrent):
        return None
    return RecurrentNetwork(
        embedding_of(stored, layers[0]),
        bool(layers[0].config.get("mask_zero")),
        tuple(cell_of(stored, layer) for layer in recurrent),
        tuple(dense_of(stored, layer) for layer in head),
        table_width(stored),
        outputs,
    )


def table_width(stored: StoredModel) -> int | None:
    """How many words the first layer reads, where that is fixed."""
    for layer in stored.layers or ():
        shape = layer.config.get("batch_shape") or layer.config.get("batch_input_shape")
        if isinstance(shape, list) and len(shape) == 2 and isinstance(shape[1], int):
            return shape[1]
    return None


def _is_plain(layer: Layer, is_inner: bool, is_old: bool) -> bool:
    reads_on = not layer.config.get("go_backwards") and bool(layer.config.get("return_sequences")) == is_inner
    return reads_on and is_usual(layer, is_old)
