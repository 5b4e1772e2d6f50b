"""Recurrent networks over symbols, stored as plain numbers: those of the TAYSIR competition.

A folder holds `net.json` (cell, layers, width, symbols, the layers behind the last state) and `net.safetensors`. A word
is read as start, letters, end, each as a one-hot vector. A classifier gives the class of the whole word, so each prefix
is closed by the end symbol; a language model predicts the next symbol, and its classes are the symbols and `END`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.errors import opening
from wfalens.memory import check_in_use
from wfalens.models.adapter_registry import WrapArguments
from wfalens.models.adapters.torch_module import TorchAdapter
from wfalens.models.contract import END
from wfalens.models.padded import IdClassifier
from wfalens.models.rnn.gates import last_hidden, recurrent_step, zero_state
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN, Vocabulary

SETTINGS, WEIGHTS = "net.json", "net.safetensors"
CLASSES = ("no", "yes")
_CELLS = {"srn": nn.RNN, "rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
_TASKS = ("binary", "lm")
_MOST = {"start": 1 << 16, "end": 1 << 16, "symbols": 1 << 16, "hidden": 1 << 16, "layers": 64}
_MOST_LAYERS = 64  # behind the last state
_LARGEST_WEIGHT = 1e9
_ACTIVATIONS: dict[str, type[nn.Module]] = {
    "Sigmoid": nn.Sigmoid,
    "Tanh": nn.Tanh,
    "ReLU": nn.ReLU,
    "Identity": nn.Identity,
    "Dropout": nn.Identity,
}


def is_symbol_network(path: Path) -> bool:
    return (path / SETTINGS).is_file() and (path / WEIGHTS).is_file()


def load_symbol_network(path: str | Path) -> IdClassifier:
    """The network in a folder; one that reads in both directions is asked for every prefix as a word of its own."""
    from safetensors.numpy import load_file

    folder = Path(path)
    with opening(folder, "a network over symbols"):
        settings = json.loads((folder / SETTINGS).read_text("utf-8"))
        weights = load_file(folder / WEIGHTS)
        if not all(np.all(np.abs(array) <= _LARGEST_WEIGHT) for array in weights.values()):  # NaN is not, either
            raise ValueError("its weights are out of range")
        kind = SymbolNetwork if settings["bidirectional"] else SteppableSymbolNetwork
        network = kind(settings, weights)
        if len(network.initial_logits) != len(network.class_names):
            raise ValueError(f"it has {len(network.class_names)} classes, but {len(network.initial_logits)} outputs")
        return TorchAdapter().wrap(network, WrapArguments(vocab=network.encoder, classes=network.class_names))


class SymbolNetwork(nn.Module):
    """ids (batch, time) -> logits (batch, classes) of whole words, which may be read in both directions."""

    def __init__(self, settings: Mapping[str, Any], weights: Mapping[str, NDArray[Any]]) -> None:
        super().__init__()
        for name, most in _MOST.items():
            if type(settings[name]) is not int or not 0 <= settings[name] <= most:
                raise ValueError(f"{name!r} is not a whole number up to {most}")
        self.start, self.end, symbols = (settings[name] for name in ("start", "end", "symbols"))
        if settings["cell"] not in _CELLS:
            raise ValueError(f"unknown cell {settings['cell']!r}; known: {', '.join(_CELLS)}")
        if settings["task"] not in _TASKS:
            raise ValueError(f"unknown task {settings['task']!r}; known: {', '.join(_TASKS)}")
        if not (0 <= self.start < symbols and 0 <= self.end < symbols and self.start != self.end):
            raise ValueError("the start or the end symbol is none of its symbols")
        self.closes = settings["task"] == "binary"
        stored = {_torch_name(name): tensor for name, tensor in _tensors(weights, "rnn.")}
        check_in_use(8 * symbols**2, sum(tensor.nbytes for tensor in stored.values()), "a table of its symbols")
        with torch.device("meta"):  # nothing is allocated before the weights have the shapes that are claimed
            self.recurrent = _CELLS[settings["cell"]](
                symbols,
                settings["hidden"],
                settings["layers"],
                batch_first=True,
                bidirectional=bool(settings["bidirectional"]),
            )
        self.recurrent.load_state_dict(stored, assign=True)
        self.readout = _readout(settings["dense"], dict(_tensors(weights, "dense.")))
        letters = [symbol for symbol in range(symbols) if symbol not in (self.start, self.end)]
        # the start symbol, too, has a probability in a language model, and may be read again
        read = letters if self.closes else [*letters, self.start]
        announced = tuple(END if symbol == self.end else str(symbol) for symbol in range(symbols))
        self.class_names: tuple[str, ...] = CLASSES if self.closes else announced
        self.encoder = TextEncoder(Vocabulary.of_words(map(str, read)), "whitespace")
        codes = torch.zeros(UNKNOWN + 1 + len(read), symbols)  # padding and <unk> are no symbol: all zero
        codes[torch.arange(len(read)) + UNKNOWN + 1, torch.tensor(read)] = 1
        self.register_buffer("codes", codes)
        self.register_buffer("marks", torch.eye(symbols)[[self.start, self.end]])

    @property
    def initial_logits(self) -> Tensor:
        return self(torch.empty((1, 0), dtype=torch.int64))[0].detach()  # type: ignore[no-any-return]

    def forward(self, ids: Tensor) -> Tensor:
        marks = [mark.expand(len(ids), 1, -1) for mark in self.marks]  # type: ignore[union-attr]
        codes = torch.cat([marks[0], self.codes[ids], *marks[1 : 1 + self.closes]], 1)  # type: ignore[index]
        _, after = self.recurrent(codes)
        hidden = after[0] if isinstance(self.recurrent, nn.LSTM) else after
        logits: Tensor = self.readout(torch.cat([hidden[-2], hidden[-1]], -1))
        return logits


class SteppableSymbolNetwork(SymbolNetwork):
    """ids (batch, time) -> logits (batch, time, classes), and a state that can be stepped."""

    @property
    def initial_logits(self) -> Tensor:
        return self.logits(self.initial_state(1))[0].detach()

    def forward(self, ids: Tensor) -> Tensor:
        state, states = self.initial_state(len(ids)), []
        for position in range(ids.shape[1]):
            state = self.read(state, self.codes[ids[:, position]])  # type: ignore[index]
            states.append(state)
        return self.logits(torch.stack(states, 1))

    def initial_state(self, batch: int) -> Tensor:
        return self.read(zero_state(self.recurrent, 1), self.marks[:1]).expand(batch, -1)  # type: ignore[index]

    def step(self, state: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        after = self.read(state, self.codes[ids])  # type: ignore[index]
        return after, self.logits(after)

    def read(self, state: Tensor, codes: Tensor) -> Tensor:
        """(…, width), (…, symbols) -> (…, width)"""
        flat = state.reshape(-1, state.shape[-1])
        inputs = codes.expand(*state.shape[:-1], codes.shape[-1]).reshape(len(flat), -1)
        return recurrent_step(self.recurrent, inputs, flat).reshape(state.shape)

    def logits(self, state: Tensor) -> Tensor:
        """Of the hidden state of the last layer, for a classifier after the end symbol; (…, width) -> (…, classes)"""
        closed = self.read(state, self.marks[1:]) if self.closes else state  # type: ignore[index]
        logits: Tensor = self.readout(last_hidden(self.recurrent, closed))
        return logits


def _tensors(weights: Mapping[str, NDArray[Any]], prefix: str) -> list[tuple[str, Tensor]]:
    return [
        (name.removeprefix(prefix), torch.from_numpy(np.asarray(array, np.float32)))
        for name, array in weights.items()
        if name.startswith(prefix)
    ]


def _torch_name(name: str) -> str:
    """`LAYER.fw.weight_ih` as torch calls it."""
    layer, direction, kind = name.split(".")
    return f"{kind}_l{layer}{'_reverse' if direction == 'bw' else ''}"


def _readout(layers: list[str], weights: Mapping[str, Tensor]) -> nn.Sequential:
    """The layers behind the last state, with the softmax at their end as logarithms: they are logits of themselves."""
    if not 0 < len(layers) <= _MOST_LAYERS or layers[-1] != "Softmax":
        raise ValueError("its last layer is no Softmax")
    found: list[nn.Module] = []
    linear = 0
    for name in layers[:-1]:
        if name == "Linear":
            weight, bias = weights[f"{linear}.weight"], weights[f"{linear}.bias"]
            layer = nn.Linear(weight.shape[1], weight.shape[0])
            layer.load_state_dict({"weight": weight, "bias": bias})
            found.append(layer)
            linear += 1
        elif name in _ACTIVATIONS:
            found.append(_ACTIVATIONS[name]())
        else:
            raise ValueError(f"unknown layer {name!r}; known: Linear, {', '.join(_ACTIVATIONS)}, Softmax")
    return nn.Sequential(*found, nn.LogSoftmax(-1))
