"""Embedding → recurrent layers → dense layers of a Keras file, read without Keras: it can be stepped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.models.keras.keras_file import Layer, StoredModel, check_layer
from wfalens.models.rnn.gates import GATES, Squash, grid

Dense = tuple[Tensor, Tensor, Squash]  # (inputs, units), (units,), activation
_WITHOUT_EFFECT = ("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "ActivityRegularization")
_CELLS = {"LSTM": ("lstm", 4), "GRU": ("gru", 3), "SimpleRNN": ("elman", 1)}
_ACTIVATIONS: dict[str, Squash] = {
    "linear": lambda values: values,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "softsign": torch.nn.functional.softsign,
    "elu": torch.nn.functional.elu,
    "softmax": partial(torch.softmax, dim=-1),
}
READOUTS = {"softmax": "probabilities", "sigmoid": "binary", "linear": "logits"}


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
class RecurrentNetwork:
    """A state is all parts of all layers, one beside the other: (batch, size)."""

    embedding: Tensor  # (rows, inputs)
    masks_zero: bool  # id 0 is skipped
    cells: tuple[Cell, ...]
    head: tuple[Dense, ...]
    width: int | None  # of the padded batches that the model was made for
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
        inputs, first, after = self.embedding[ids], 0, list[Tensor]()
        for cell in self.cells:
            new = cell.after(cell.by_word(inputs), state[:, first : first + cell.size])
            inputs, first = new[:, : cell.units], first + cell.size
            after.append(new)
        read = torch.cat(after, -1)
        return torch.where((ids == 0)[:, None], state, read) if self.masks_zero else read

    def read_out(self, state: Tensor) -> Tensor:
        """The head's output for states; (batch, size) -> (batch, outputs)"""
        last = self.cells[-1]
        return self.dense(state[:, self.size - last.size :][:, : last.units])

    def dense(self, hidden: Tensor) -> Tensor:
        # (batch, units of the last cell) -> (batch, outputs)
        for kernel, bias, activation in self.head:
            hidden = activation(hidden @ kernel + bias)
        return hidden

    def grid(self, state: Tensor, ids: Tensor) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
        (cell,) = self.cells
        parts = state.chunk(cell.parts, -1)
        return grid(cell.by_word(self.embedding[ids]), cell.by_state(parts[0]), parts, cell.gates)

    @torch.inference_mode()
    def batch_outputs(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """The outputs for whole padded batches, as Keras computes them: (batch, time) -> (batch, outputs)"""
        state = torch.zeros(len(ids), self.size)
        for column in torch.from_numpy(ids).T:
            state = self.step(state, column)
        return np.asarray(self.read_out(state).numpy())


def plain_network(stored: StoredModel) -> RecurrentNetwork | None:
    """The network of a file whose layers are all of the plain kinds, None for others."""
    layers = [layer for layer in stored.layers or () if layer.kind not in (*_WITHOUT_EFFECT, "InputLayer")]
    recurrent = [layer for layer in layers if layer.kind in _CELLS]
    head = layers[1 + len(recurrent) :]
    names = ["Embedding", *(layer.kind for layer in recurrent), *("Dense" for _ in head)]
    outputs = _readout_of(head, stored.is_old)
    if not recurrent or outputs is None or [layer.kind for layer in layers] != names:
        return None
    if not all(_is_plain(layer, layer is not recurrent[-1], stored.is_old) for layer in recurrent):
        return None
    embedding = layers[0]
    check_layer(stored.path, embedding, (embedding.config["input_dim"], embedding.config["output_dim"]))
    return RecurrentNetwork(
        _tensor(embedding.weights[0]),
        bool(embedding.config.get("mask_zero")),
        tuple(_cell_of(stored, layer) for layer in recurrent),
        tuple(_dense_of(stored, layer) for layer in head),
        stored.width,
        outputs,
    )


def _is_plain(layer: Layer, is_inner: bool, is_old: bool) -> bool:
    """Whether a recurrent layer reads all texts alike from the zero state, forwards, with known activations."""
    config = layer.config
    is_known = _activation_of(layer, "activation", is_old) and (
        layer.kind == "SimpleRNN" or _activation_of(layer, "recurrent_activation", is_old)
    )
    unusual = any(config.get(name) for name in ("stateful", "time_major", "go_backwards"))
    return bool(is_known) and not unusual and bool(config.get("return_sequences")) == is_inner


def _readout_of(head: Sequence[Layer], is_old: bool) -> str | None:
    """What dense layers give at the end, as the name of a readout; None: they are of another kind."""
    if not head or any(layer.kind != "Dense" or not _activation_of(layer, "activation", is_old) for layer in head):
        return None
    outputs = READOUTS.get(head[-1].config["activation"])
    return None if outputs == "binary" and head[-1].config["units"] != 1 else outputs


def _activation_of(layer: Layer, name: str, is_old: bool) -> Squash | None:
    called = layer.config.get(name)
    if called == "hard_sigmoid":
        return _old_hard_sigmoid if is_old else torch.nn.functional.hardsigmoid
    return _ACTIVATIONS.get(called) if isinstance(called, str) else None


def _old_hard_sigmoid(values: Tensor) -> Tensor:
    return (0.2 * values + 0.5).clamp(0, 1)


def _cell_of(stored: StoredModel, layer: Layer) -> Cell:
    kind, gates = _CELLS[layer.kind]
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    after = kind != "gru" or bool(layer.config.get("reset_after"))
    biases = 2 if kind == "gru" and after else 1
    bias_shape = (biases, gates * units) if biases == 2 else (gates * units,)
    check_layer(stored.path, layer, (None, gates * units), (units, gates * units), *([bias_shape] if has_bias else []))
    bias = np.zeros((2, gates * units), np.float32)
    if has_bias:
        bias[:biases] = layer.weights[2]
    kernel, recurrent, biases_in_order = (_tensor(_ordered(array, kind)) for array in (*layer.weights[:2], bias))
    squash, gate = (_activation_of(layer, name, stored.is_old) for name in ("activation", "recurrent_activation"))
    return Cell(kind, kernel, recurrent, biases_in_order, squash or torch.tanh, gate or torch.sigmoid, after)


def _ordered(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """Gates in the order of torch: a GRU's update and reset change places."""
    if kind != "gru":
        return array
    update, reset, new = np.split(array, 3, axis=-1)
    return np.concatenate([reset, update, new], -1)


def _dense_of(stored: StoredModel, layer: Layer) -> Dense:
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    check_layer(stored.path, layer, (None, units), *([(units,)] if has_bias else []))
    bias = layer.weights[1] if has_bias else np.zeros(units, np.float32)
    activation = _activation_of(layer, "activation", stored.is_old)
    return _tensor(layer.weights[0]), _tensor(bias), activation or _ACTIVATIONS["linear"]


def _tensor(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array, np.float32))
