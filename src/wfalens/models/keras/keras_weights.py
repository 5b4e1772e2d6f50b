"""Weights of a stored Keras layer as tensors, refused if they do not fit its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.models.keras.keras_file import Layer, StoredModel, check_layer
from wfalens.models.keras.keras_layers import Cell
from wfalens.models.rnn.gates import Squash

Dense = tuple[Tensor, Tensor, Squash]  # (inputs, units), (units,), activation
_WITHOUT_EFFECT = ("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout", "ActivityRegularization")
CELLS = {"LSTM": ("lstm", 4), "GRU": ("gru", 3), "SimpleRNN": ("elman", 1)}
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


def working_layers(stored: StoredModel) -> list[Layer]:
    """All but those that only matter in training; empty where layers do not stand in a row."""
    return [layer for layer in stored.layers or () if layer.kind not in (*_WITHOUT_EFFECT, "InputLayer")]


def is_usual(layer: Layer, is_old: bool) -> bool:
    """Whether a recurrent layer reads all texts alike from the zero state, with functions that are known."""
    config = layer.config
    is_known = activation_of(layer, "activation", is_old) and (
        layer.kind == "SimpleRNN" or activation_of(layer, "recurrent_activation", is_old)
    )
    return bool(is_known and not config.get("stateful") and not config.get("time_major"))


def readout_of(head: Sequence[Layer], is_old: bool) -> str | None:
    """What dense layers give at the end, as the name of a readout; None: they are of another kind."""
    if not head or any(layer.kind != "Dense" or not activation_of(layer, "activation", is_old) for layer in head):
        return None
    outputs = READOUTS.get(head[-1].config["activation"])
    return None if outputs == "binary" and head[-1].config["units"] != 1 else outputs


def embedding_of(stored: StoredModel, layer: Layer) -> Tensor:
    # -> (rows, inputs)
    check_layer(stored.path, layer, (layer.config["input_dim"], layer.config["output_dim"]))
    return tensor(layer.weights[0])


def said(hidden: Tensor, head: Sequence[Dense]) -> Tensor:
    """What dense layers say, one after the other; (batch, inputs) -> (batch, outputs)"""
    for kernel, bias, activation in head:
        hidden = activation(hidden @ kernel + bias)
    return hidden


def activation_of(layer: Layer, name: str, is_old: bool) -> Squash | None:
    called = layer.config.get(name)
    if called == "hard_sigmoid":
        return _old_hard_sigmoid if is_old else torch.nn.functional.hardsigmoid
    return _ACTIVATIONS.get(called) if isinstance(called, str) else None


def _old_hard_sigmoid(values: Tensor) -> Tensor:
    return (0.2 * values + 0.5).clamp(0, 1)


def cell_of(stored: StoredModel, layer: Layer) -> Cell:
    kind, gates = CELLS[layer.kind]
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    after = kind != "gru" or bool(layer.config.get("reset_after"))
    biases = 2 if kind == "gru" and after else 1
    bias_shape = (biases, gates * units) if biases == 2 else (gates * units,)
    check_layer(stored.path, layer, (None, gates * units), (units, gates * units), *([bias_shape] if has_bias else []))
    bias = np.zeros((2, gates * units), np.float32)
    if has_bias:
        bias[:biases] = layer.weights[2]
    kernel, recurrent, biases_in_order = (tensor(_ordered(array, kind)) for array in (*layer.weights[:2], bias))
    squash, gate = (activation_of(layer, name, stored.is_old) for name in ("activation", "recurrent_activation"))
    return Cell(kind, kernel, recurrent, biases_in_order, squash or torch.tanh, gate or torch.sigmoid, after)


def _ordered(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """Gates in the order of torch: a GRU's update and reset change places."""
    if kind != "gru":
        return array
    update, reset, new = np.split(array, 3, axis=-1)
    return np.concatenate([reset, update, new], -1)


def dense_of(stored: StoredModel, layer: Layer) -> Dense:
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    check_layer(stored.path, layer, (None, units), *([(units,)] if has_bias else []))
    bias = layer.weights[1] if has_bias else np.zeros(units, np.float32)
    activation = activation_of(layer, "activation", stored.is_old)
    return tensor(layer.weights[0]), tensor(bias), activation or _ACTIVATIONS["linear"]


def tensor(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array, np.float32))
