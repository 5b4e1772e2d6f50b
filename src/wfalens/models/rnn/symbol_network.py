"""Recurrent networks over symbols, stored as plain numbers: those of the TAYSIR competition.

A folder holds `net.json` (cell, layers, width, symbols, the layers behind the last state) and `net.safetensors`. A word
is read as start, letters, end, each as a one-hot vector. A classifier gives the class of the whole word, so each prefix
is closed by the end symbol; a language model predicts the next symbol, and its classes are the symbols and `END`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from wfalens.errors import InputError
from wfalens.models.adapters.torch_module import weights_fingerprint, wrapped_module
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import END, PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING, UNKNOWN, Vocabulary

SETTINGS, WEIGHTS = "net.json", "net.safetensors"
REJECTED, ACCEPTED = CLASSES = ("no", "yes")
_CELLS = {"srn": nn.RNN, "rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
_TASKS = ("binary", "lm")
_ACTIVATIONS: dict[str, type[nn.Module]] = {
    "Sigmoid": nn.Sigmoid,
    "Tanh": nn.Tanh,
    "ReLU": nn.ReLU,
    "Identity": nn.Identity,
    "Dropout": nn.Identity,
}


def is_symbol_network(path: Path) -> bool:
    return (path / SETTINGS).is_file() and (path / WEIGHTS).is_file()


def load_symbol_network(path: str | Path) -> PrefixClassifier:
    """The network in a folder; one that reads in both directions is asked for every prefix as a word of its own."""
    from safetensors.numpy import load_file

    folder = Path(path)
    try:
        settings = json.loads((folder / SETTINGS).read_text("utf-8"))
        weights = load_file(folder / WEIGHTS)
        network = SymbolNetwork(settings, weights)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise InputError(f"{folder}: not a network over symbols ({error})") from None
    if network.recurrent.bidirectional:
        return BothWays(network)
    return wrapped_module(network, network.encoder, network.class_names)


class SymbolNetwork(nn.Module):
    """ids (batch, time) -> logits (batch, time, classes), and a state that can be stepped."""

    def __init__(self, settings: Mapping[str, Any], weights: Mapping[str, np.ndarray[Any, Any]]) -> None:
        super().__init__()
        self.start, self.end, symbols = (int(settings[name]) for name in ("start", "end", "symbols"))
        if settings["cell"] not in _CELLS:
            raise ValueError(f"unknown cell {settings['cell']!r}; known: {', '.join(_CELLS)}")
        if settings["task"] not in _TASKS:
            raise ValueError(f"unknown task {settings['task']!r}; known: {', '.join(_TASKS)}")
        if not (0 <= self.start < symbols and 0 <= self.end < symbols and self.start != self.end):
            raise ValueError("the start or the end symbol is none of its symbols")
        self.closes = settings["task"] == "binary"
        self.recurrent = _CELLS[settings["cell"]](
            symbols,
            int(settings["hidden"]),
            int(settings["layers"]),
            batch_first=True,
            bidirectional=bool(settings["bidirectional"]),
        )
        self.recurrent.load_state_dict({_torch_name(name): tensor for name, tensor in _tensors(weights, "rnn.")})
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
        with torch.inference_mode():
            logits: Tensor = self.logits(self.initial_state(1))[0]
        return logits

    def forward(self, ids: Tensor) -> Tensor:
        state, states = self.initial_state(len(ids)), []
        for position in range(ids.shape[1]):
            state = self.read(state, self.codes[ids[:, position]])  # type: ignore[index]
            states.append(state)
        return self.logits(torch.stack(states, 1))

    def initial_state(self, batch: int) -> Tensor:
        parts = 2 if isinstance(self.recurrent, nn.LSTM) else 1
        nothing = torch.zeros(1, parts * self.recurrent.num_layers * self.recurrent.hidden_size)
        return self.read(nothing, self.marks[:1]).expand(batch, -1)  # type: ignore[index]

    def step(self, state: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        after = self.read(state, self.codes[ids])  # type: ignore[index]
        return after, self.logits(after)

    def read(self, state: Tensor, codes: Tensor) -> Tensor:
        """(…, width), (…, symbols) -> (…, width)"""
        flat = state.reshape(-1, state.shape[-1])
        parts = flat.view(len(flat), -1, self.recurrent.num_layers, self.recurrent.hidden_size).permute(1, 2, 0, 3)
        inputs = codes.expand(*state.shape[:-1], codes.shape[-1]).reshape(len(flat), 1, -1)
        lstm = isinstance(self.recurrent, nn.LSTM)
        before = tuple(part.contiguous() for part in parts)
        _, after = self.recurrent(inputs, before if lstm else before[0])
        stacked = torch.stack(after if lstm else (after,))  # (parts, layers, N, hidden)
        return stacked.permute(2, 0, 1, 3).reshape(state.shape)

    def logits(self, state: Tensor) -> Tensor:
        """Of the hidden state of the last layer, for a classifier after the end symbol; (…, width) -> (…, classes)"""
        closed = self.read(state, self.marks[1:]) if self.closes else state  # type: ignore[index]
        first, hidden = self.recurrent.num_layers - 1, self.recurrent.hidden_size
        logits: Tensor = self.readout(closed[..., first * hidden : (first + 1) * hidden])
        return logits

    def whole(self, ids: Tensor) -> Tensor:
        """Logits of words of one length, read in both directions; (batch, time) -> (batch, classes)"""
        marks = [mark.expand(len(ids), 1, -1) for mark in self.marks]  # type: ignore[union-attr]
        codes = torch.cat([marks[0], self.codes[ids], *marks[1 : 1 + self.closes]], 1)  # type: ignore[index]
        _, after = self.recurrent(codes)
        hidden = after[0] if isinstance(self.recurrent, nn.LSTM) else after
        logits: Tensor = self.readout(torch.cat([hidden[-2], hidden[-1]], -1))
        return logits


class BothWays(BlackBoxClassifier):
    """A network that reads words in both directions."""

    def __init__(self, network: SymbolNetwork) -> None:
        self.network = network.eval()
        nothing = Ragged(np.empty(0, np.int32), np.zeros(2, np.int64))
        super().__init__(
            network.encoder,
            network.class_names,
            fingerprint=weights_fingerprint(network),
            initial_output=self.answers(nothing)[0],
        )

    @torch.inference_mode()
    def answers(self, prefixes: Ragged[np.int32]) -> np.ndarray[Any, Any]:
        order = np.argsort(prefixes.lengths, kind="stable")
        outputs = np.empty((len(prefixes), len(self.network.class_names)), np.float32)
        for _, same in groupby(order.tolist(), key=prefixes.lengths.__getitem__):
            items = np.array(list(same))
            table = torch.from_numpy(prefixes.take(items).padded(PADDING).astype(np.int64))
            outputs[items] = self.network.whole(table).softmax(-1).numpy()
        return outputs


def _tensors(weights: Mapping[str, np.ndarray[Any, Any]], prefix: str) -> list[tuple[str, Tensor]]:
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
    if not layers or layers[-1] != "Softmax":
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
