"""Embedding → recurrent layers → dense layers of a Keras file, read without Keras: it can be stepped.

Where such a network reads its padding, it is stepped from the state after some pads, or asked for every prefix with
exactly the pads of each text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfalens.errors import FormatError, InputError, ModelError, opening
from wfalens.messages import quoted
from wfalens.models.adapter_registry import WrapArguments
from wfalens.models.checks import READOUTS
from wfalens.models.contract import State, fingerprint_of
from wfalens.models.keras.keras_file import ACTIVATED_OUTPUTS, Layer, StoredModel
from wfalens.models.padded import PaddedForm, PaddedTextClassifier, StepClassifier, checked_classes
from wfalens.models.preprocessing import Preprocessing
from wfalens.models.preprocessing_options import BINARY, EXACT
from wfalens.models.rnn.gates import GATES, GridSteps, Parts, Squash, grid
from wfalens.text.encoder import LEFT
from wfalens.text.vocabulary import PADDING

Dense = tuple[Tensor, Tensor, Squash]  # (inputs, units), (units,), activation
_DROPOUT = ("Dropout", "SpatialDropout1D", "GaussianNoise", "GaussianDropout")
_WITHOUT_EFFECT = ("InputLayer", "ActivityRegularization", *_DROPOUT)
_CELLS = {"LSTM": ("lstm", 4), "GRU": ("gru", 3), "SimpleRNN": ("elman", 1)}
_ACTIVATIONS: dict[str, Squash] = {
    "linear": lambda values: values,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "softsign": torch.nn.functional.softsign,
    "elu": torch.nn.functional.elu,
    "hard_sigmoid": torch.nn.functional.hardsigmoid,
    "softmax": partial(torch.softmax, dim=-1),
}
_LIKELY_PADS = 0.75  # of the width: what stands before a short text


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

    def gates(self, by_word: Tensor, by_state: Tensor, parts: Parts) -> Parts:
        return GATES[self.kind](by_word, by_state, parts, self.squash, self.gate)

    def after(self, by_word: Tensor, state: Tensor) -> Tensor:
        # what the inputs give (batch, gates · units), (batch, size) -> the new state
        parts = state.chunk(self.parts, -1)
        if self.resets_after:
            return torch.cat(list(self.gates(by_word, self.by_state(parts[0]), parts)), -1)
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

    def grid(self, state: Tensor, ids: Tensor) -> Iterator[tuple[slice, Parts]]:
        (cell,) = self.cells
        parts = state.chunk(cell.parts, -1)
        return grid(cell.by_word(self.embedding[ids]), cell.by_state(parts[0]), parts, cell.gates)

    @torch.inference_mode()
    def batch_outputs(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """The outputs for whole padded batches, as Keras computes them: (batch, time) -> (batch, outputs)"""
        if ids.max() >= len(self.embedding):
            raise ModelError(f"there is no vector for the id {ids.max():,}", code="vocabulary-size")
        state = torch.zeros(len(ids), self.size)
        for column in torch.from_numpy(ids).T:
            state = self.step(state, column)
        return np.asarray(self.read_out(state).numpy())


def plain_network(stored: StoredModel) -> RecurrentNetwork | None:
    """The network of a file whose layers are all of the plain kinds, None for others."""
    known = _ACTIVATIONS | ({"hard_sigmoid": _old_hard_sigmoid} if stored.is_old else {})
    layers = _with_activations(layer for layer in stored.layers or () if layer.kind not in _WITHOUT_EFFECT)
    recurrent = [layer for layer in layers if layer.kind in _CELLS]
    head = layers[1 + len(recurrent) :]
    kinds = ["Embedding", *(layer.kind for layer in recurrent), *("Dense" for _ in head)]
    if not recurrent or not head or [layer.kind for layer in layers] != kinds:
        return None
    if not all(_is_plain(layer, layer is not recurrent[-1], known) for layer in recurrent):
        return None
    outputs = ACTIVATED_OUTPUTS.get(_name(head[-1]))
    if not all(_name(layer) in known for layer in head) or outputs is None:
        return None
    if outputs == BINARY and head[-1].config["units"] != 1:
        return None
    embedding = layers[0]
    _check_layer(stored, embedding, (embedding.config["input_dim"], embedding.config["output_dim"]))
    return RecurrentNetwork(
        _tensor(embedding.weights[0]),
        bool(embedding.config.get("mask_zero")),
        tuple(_cell_of(stored, layer, known) for layer in recurrent),
        tuple(_dense_of(stored, layer, known) for layer in head),
        stored.width,
        outputs,
    )


def _with_activations(layers: Iterable[Layer]) -> list[Layer]:
    """The layers, an activation that stands alone after a linear dense layer being part of that one."""
    merged: list[Layer] = []
    for layer in layers:
        if layer.kind == "Activation" and merged and merged[-1].kind == "Dense" and _name(merged[-1]) == "linear":
            config = {**merged[-1].config, "activation": layer.config.get("activation")}
            merged[-1] = replace(merged[-1], config=config)
        else:
            merged.append(layer)
    return merged


def _name(layer: Layer, which: str = "activation") -> str:
    return str(layer.config.get(which))


def _is_plain(layer: Layer, is_inner: bool, known: Mapping[str, Squash]) -> bool:
    """Whether a recurrent layer reads all texts alike from the zero state, forwards, with known activations."""
    names = ("activation",) if layer.kind == "SimpleRNN" else ("activation", "recurrent_activation")
    unusual = any(layer.config.get(name) for name in ("stateful", "time_major", "go_backwards"))
    is_known = all(_name(layer, which) in known for which in names)
    return is_known and not unusual and bool(layer.config.get("return_sequences")) == is_inner


def _old_hard_sigmoid(values: Tensor) -> Tensor:
    return (0.2 * values + 0.5).clamp(0, 1)


def _cell_of(stored: StoredModel, layer: Layer, known: Mapping[str, Squash]) -> Cell:
    kind, gates = _CELLS[layer.kind]
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    after = kind != "gru" or bool(layer.config.get("reset_after"))
    biases = 2 if kind == "gru" and after else 1
    bias_shape = (biases, gates * units) if biases == 2 else (gates * units,)
    _check_layer(stored, layer, (None, gates * units), (units, gates * units), *([bias_shape] if has_bias else []))
    bias = np.zeros((2, gates * units), np.float32)
    if has_bias:
        bias[:biases] = layer.weights[2]
    kernel, recurrent, biases_in_order = (_tensor(_ordered(array, kind)) for array in (*layer.weights[:2], bias))
    squash, gate = known[_name(layer)], known.get(_name(layer, "recurrent_activation"), torch.sigmoid)
    return Cell(kind, kernel, recurrent, biases_in_order, squash, gate, after)


def _ordered(array: NDArray[Any], kind: str) -> NDArray[Any]:
    """Gates in the order of torch: a GRU's update and reset change places."""
    if kind != "gru":
        return array
    update, reset, new = np.split(array, 3, axis=-1)
    return np.concatenate([reset, update, new], -1)


def _dense_of(stored: StoredModel, layer: Layer, known: Mapping[str, Squash]) -> Dense:
    units, has_bias = layer.config["units"], layer.config.get("use_bias", True)
    _check_layer(stored, layer, (None, units), *([(units,)] if has_bias else []))
    bias = layer.weights[1] if has_bias else np.zeros(units, np.float32)
    return _tensor(layer.weights[0]), _tensor(bias), known[_name(layer)]


def _check_layer(stored: StoredModel, layer: Layer, *shapes: tuple[int | None, ...]) -> None:
    """Refuse a layer whose weights are not of the given shapes (None: any size)."""
    real = [array.shape for array in layer.weights]
    fits = len(real) == len(shapes) and all(
        len(one) == len(other) and all(size in (None, length) for length, size in zip(one, other, strict=True))
        for one, other in zip(real, shapes, strict=True)
    )
    if not fits or not all(np.all(np.isfinite(array)) for array in layer.weights):
        raise FormatError(f"{stored.path}: the weights of the layer {quoted(layer.name)} do not fit its configuration")


def _tensor(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array, np.float32))


def recurrent_classifier(
    stored: StoredModel, read: Preprocessing
) -> KerasRecurrentClassifier | PaddedTextClassifier | None:
    """The classifier of a file whose network is plain; None for others.

    A network of fixed width that was padded on the left and does not mask its padding starts every text from the state
    after some pads; padded on the right, or with `"reading": "exact"`, every prefix is asked as a padded text.
    """
    with opening(stored.path, "a model whose layers are described as Keras does it"):
        network = plain_network(stored)
        if network is None:
            return None
        network.batch_outputs(np.zeros((1, network.width or 1), np.int64))  # do the layers fit one another?
    if read.outputs not in (None, network.outputs):
        raise InputError(
            f"{stored.path} gives {network.outputs}, but its preprocessing says {read.outputs}", code="outputs"
        )
    width = None if network.masks_zero else network.width  # pads are not read
    side = stored.checked_side(read, width)
    form = PaddedForm(read.word_ids, network.width, side, network.outputs)
    encoder, given, rows = form.read_by(read.encoder), WrapArguments(preprocessing=read), len(network.embedding)
    checked_classes(network.batch_outputs, given, encoder, form, str(stored.path), rows)
    about = f"{stored.fingerprint}{read.word_ids.tolist()}{side}{encoder.settings}"
    if width is None or (side == LEFT and read.reading != EXACT):
        pads = 0 if width is None else read.pads if read.pads is not None else round(_LIKELY_PADS * width)
        return KerasRecurrentClassifier(network, pads, read, form, fingerprint_of(f"{about}{pads}"))
    common: dict[str, Any] = {"fingerprint": fingerprint_of(f"{about}exact"), "initial_output": read.initial_output}
    return PaddedTextClassifier(network.batch_outputs, read.encoder, read.class_names, form=form, **common)


class KerasRecurrentClassifier(GridSteps, StepClassifier):
    """White box: continues from a state, which starts after a number of pads."""

    is_concurrent = True

    def __init__(
        self, network: RecurrentNetwork, pads: int, read: Preprocessing, form: PaddedForm, fingerprint: str
    ) -> None:
        self.network, self.pads = network, pads
        start, padding = np.zeros((1, network.size), np.float32), read.word_ids[[PADDING]]
        for _ in range(pads):
            start, _ = self._network_step(start, padding)
        rows = network.read_out(torch.from_numpy(start)).numpy()
        (prior,) = form.distributions(rows, (1, len(read.class_names)), "the network")
        common = {"form": form, "fingerprint": fingerprint, "initial_output": prior}
        super().__init__(self._network_step, start, read.encoder, read.class_names, **common)

    @torch.inference_mode()
    def _network_step(self, state: State, ids: NDArray[np.int64]) -> tuple[State, NDArray[Any]]:
        after = self.network.step(torch.from_numpy(state), torch.from_numpy(ids))
        return after.numpy(), self.network.read_out(after).numpy()

    @property
    def embedding(self) -> NDArray[np.float32]:
        """(vocabulary, inputs)"""
        ids = self.form.translated(np.arange(len(self.encoder.vocabulary), dtype=np.int32))
        return np.asarray(self.network.embedding[torch.from_numpy(ids)].numpy(), np.float32)

    @property
    def has_grid(self) -> bool:
        return self.network.has_grid

    def new_parts(self, state: State, ids: NDArray[np.int32]) -> Iterator[tuple[slice, Parts]]:
        return self.network.grid(torch.from_numpy(state), torch.from_numpy(self.form.translated(ids)))

    def read_out(self, hidden: Tensor) -> NDArray[np.float32]:
        return np.asarray(READOUTS[self.form.outputs](self.network.dense(hidden).numpy()), np.float32)

    def exact(self) -> PaddedTextClassifier:
        """The same network, asked for every prefix as a padded text with exactly the pads that it was made for."""
        return self.reread(self.form, self.encoder.truncation_side)

    def reread(self, form: PaddedForm, truncation_side: str) -> PaddedTextClassifier:
        """The same network read otherwise, every prefix as a padded batch of its own."""
        encoder = replace(self.encoder, truncation_side=truncation_side)
        run = self.network.batch_outputs
        return PaddedTextClassifier(run, encoder, self.class_names, form=form, fingerprint=self.fingerprint)
