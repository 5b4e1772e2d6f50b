"""What a model's last layer gives, as class probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wfalens.bounds import check_choice

Readout = Callable[[NDArray[np.floating]], NDArray[np.floating]]


def softmax(logits: NDArray[np.floating]) -> NDArray[np.floating]:
    # (…, classes) -> (…, classes)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: NDArray[np.floating] = powers / powers.sum(-1, keepdims=True)
    return shares


def two_sided(second: NDArray[np.floating]) -> NDArray[np.floating]:
    """The probability of the second of two classes, beside that of the first: (…, 1) -> (…, 2)."""
    return np.concatenate([1 - second, second], -1)


PROBABILITIES, LOGITS, BINARY = "probabilities", "logits", "binary"
READOUTS: dict[str, Readout] = {
    PROBABILITIES: lambda values: values,
    LOGITS: softmax,
    BINARY: two_sided,
}


def readout_named(name: str) -> Readout:
    check_choice("outputs", name, READOUTS)
    return READOUTS[name]
