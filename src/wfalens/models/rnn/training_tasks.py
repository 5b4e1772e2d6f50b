"""What a built-in network is taught: the class after the last word of a text, or the next symbol after every prefix."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.models.contract import classes_of_symbols, end_class
from wfalens.models.rnn.classifier import RNNClassifier, RNNNetwork
from wfalens.ragged import Ragged, positions

CLASS, NEXT = TASKS = ("class", "next")
_LEAST = 1e-12  # probability
_IGNORED = -1  # no class: <unk> never comes next


class TrainingBatches(Protocol):
    """Texts and the right answers."""

    ids: Ragged[np.int32]

    @property
    def loss(self) -> nn.Module: ...

    def asked(self, network: RNNNetwork, table: Tensor, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Logits and right classes for some of the texts, given as ids; (batch, time) -> (N, classes), (N,)"""
        ...

    def measured(self, model: RNNClassifier) -> tuple[float, float]:
        """Mean loss and accuracy."""
        ...


class TextClasses:
    """The class of every text, after its last word. `balanced`: the number of classes, to weight them by their size."""

    def __init__(self, ids: Ragged[np.int32], labels: NDArray[np.int64], balanced: int | None) -> None:
        self.ids, self.labels = ids, labels
        self.loss = nn.CrossEntropyLoss(None if balanced is None else _class_weights(labels, balanced))

    def asked(self, network: RNNNetwork, table: Tensor, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        logits = network.last_logits(table, torch.from_numpy(self.ids.lengths[batch]))
        return logits, torch.from_numpy(self.labels[batch])

    def measured(self, model: RNNClassifier) -> tuple[float, float]:
        return _scores(model.trace(self.ids).last(), self.labels)


class NextSymbols:
    """The next symbol, or the end, after every prefix of every text, the empty one included."""

    def __init__(self, ids: Ragged[np.int32], model: RNNClassifier) -> None:
        self.ids, self.loss = ids, nn.CrossEntropyLoss()
        symbols = classes_of_symbols(model)[ids.values]
        self.first = symbols[ids.offsets[:-1]]  # (texts,): what comes before any symbol was read
        self.later = np.append(symbols[1:], _IGNORED)  # (tokens,): what comes after each symbol
        self.later[ids.offsets[1:] - 1] = end_class(model)

    def asked(self, network: RNNNetwork, table: Tensor, batch: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        lengths = self.ids.lengths[batch]
        real = torch.from_numpy(np.arange(table.shape[1]) < lengths[:, None])
        logits = network.begun(table)
        right = np.concatenate([self.first[batch], self.later[positions(self.ids.offsets[batch], lengths)]])
        known = torch.from_numpy(np.flatnonzero(right != _IGNORED))
        return torch.cat([logits[:, 0], logits[:, 1:][real]])[known], torch.from_numpy(right)[known]

    def measured(self, model: RNNClassifier) -> tuple[float, float]:
        first = np.tile(model.initial_output, (len(self.ids), 1))
        right = np.concatenate([self.later, self.first])
        known = right != _IGNORED
        return _scores(np.concatenate([model.trace(self.ids).values, first])[known], right[known])


def _scores(outputs: NDArray[np.float32], right: NDArray[np.int64]) -> tuple[float, float]:
    """Mean loss and accuracy; (N, classes), (N,)"""
    chosen = outputs[np.arange(len(right)), right]
    return float(-np.log(np.maximum(chosen, _LEAST)).mean()), float(np.mean(outputs.argmax(1) == right))


def _class_weights(labels: NDArray[np.int64], classes: int) -> Tensor:
    counts = np.maximum(np.bincount(labels, minlength=classes), 1)
    return torch.from_numpy((len(labels) / (classes * counts)).astype(np.float32))
