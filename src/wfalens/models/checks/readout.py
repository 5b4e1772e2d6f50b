"""What a model's last layer gives, as class probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.validation import check_choice

_SUM_TOLERANCE = 1e-4
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


def check_logits(rows: NDArray[np.floating], who: str) -> None:
    """Refuse rows that are distributions already: a softmax over them would blur them. rows: (…, classes)"""
    if rows.shape[-1] > 1 and np.all(rows >= 0) and np.allclose(rows.sum(-1), 1, atol=_SUM_TOLERANCE):
        raise ModelError(
            f'{who} gives probabilities, and was said to give logits; give outputs="probabilities" (in a card: '
            '"outputs")'
        )
