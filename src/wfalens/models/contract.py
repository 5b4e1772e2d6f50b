"""What can be studied: anything that scores every prefix of a token sequence."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import ModelError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder

State = NDArray[np.float32]  # (batch, width): one row holds all that the model remembers of a prefix
_SUM_TOLERANCE = 1e-3


@runtime_checkable
class PrefixClassifier(Protocol):
    """Maps a token sequence to one class distribution per prefix (black box).

    A model that several threads may ask at a time says so by an attribute `is_concurrent = True`.

    Examples:
        >>> from wfalens.models import PrefixClassifier
        >>> isinstance(model, PrefixClassifier)
        True
    """

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of the output's columns."""
        ...

    @property
    def encoder(self) -> TextEncoder:
        """How texts become word ids."""
        ...

    @property
    def fingerprint(self) -> str:
        """Tells this model from others: a hash of its weights, or a name."""
        ...

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """One probability row per token: row t scores the prefix that ends there. -> (tokens, classes)

        Args:
            ids: word ids of texts; no text may be empty
        """
        ...


@runtime_checkable
class WholeTextClassifier(PrefixClassifier, Protocol):
    """A classifier that pays for every prefix of a trace: where only the ends of texts matter, they alone are asked."""

    def final(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """The output after the last word of every text, as `trace` has it; no text may be empty. -> (texts, classes)"""
        ...


@runtime_checkable
class StatefulClassifier(PrefixClassifier, Protocol):
    """A classifier that can also go on from a saved internal state (white box).

    Examples:
        >>> state, row = network.step(network.initial_state(1), encoder.encode(["good"]).values)
        >>> row.shape  # the network's output after "good"; `state` goes on from there
        (1, 2)
    """

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """The distribution before any word; (classes,)."""
        ...

    def initial_state(self, batch: int) -> State:
        """Internal states before any word; (batch, width).

        Args:
            batch: how many
        """
        ...

    def step(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        """Read one word per row: new states, and outputs (batch, classes).

        Args:
            state: internal states, (batch, width)
            ids: a word for each, (batch,)
        """
        ...


@runtime_checkable
class BatchSteppable(Protocol):
    """A steppable classifier with a quicker way to read every word from every state."""

    @property
    def has_grid(self) -> bool:
        """Whether this one has it."""
        ...

    def step_grid(self, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """(states, width), (words,) -> (states, words, classes)."""
        ...

    def state_grid(self, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
        """The new states too: (states, width), (words,) -> (states, words, width), (states, words, classes)."""
        ...


@runtime_checkable
class EmbeddingClassifier(PrefixClassifier, Protocol):
    """A classifier that reads words through an embedding layer.

    Examples:
        >>> from wfalens.models import EmbeddingClassifier
        >>> isinstance(network, EmbeddingClassifier), isinstance(model, EmbeddingClassifier)
        (True, False)
    """

    @property
    def embedding(self) -> NDArray[np.float32]:
        """(vocabulary, width)"""
        ...


def uniform(classes: int) -> NDArray[np.float32]:
    """The prior of a model that does not tell one; (classes,)"""
    return np.full(classes, 1 / classes, np.float32)


def checked_prior(given: ArrayLike | None, classes: int) -> NDArray[np.float32]:
    """The output before any word that somebody gave, refused if it is no distribution; uniform if none is given.

    -> (classes,)
    """
    if given is None:
        return uniform(classes)
    (prior,) = checked_probabilities(np.asarray(given)[None], 1, classes, "initial_output")
    return np.asarray(prior / prior.sum(), np.float32)


def checked_probabilities(values: object, rows: int, classes: int, who: str) -> NDArray[np.float32]:
    """Refuse answers of a model that are not `rows` distributions over `classes`, in one sentence."""
    array = np.asarray(values)
    if array.shape != (rows, classes):
        raise ModelError(
            f"{who} returned an array of shape {array.shape} where ({rows}, {classes}) was expected: "
            f"one row per prefix and one column per class ({classes} class names were given)"
        )
    if array.dtype.kind not in "fiu":
        raise ModelError(f"{who} returned {array.dtype} values; probabilities must be numbers")
    lowest = array.min(initial=0)
    if not (lowest >= -_SUM_TOLERANCE and _most_amiss(array) <= _SUM_TOLERANCE):  # NaN is neither
        if not np.all(np.isfinite(array)):
            raise ModelError(f"{who} returned NaN or infinite values")
        worst = array[np.argmax(np.abs(array.sum(1) - 1))]
        raise ModelError(
            f"{who} returned rows that are not probabilities (one sums to {worst.sum():.4g}); apply a softmax"
        )
    checked: NDArray[np.float32] = array.astype(np.float32, copy=False)
    return np.maximum(checked, 0) if lowest < 0 else checked  # what rounding made negative


def _most_amiss(rows: NDArray[Any]) -> float:
    """How far the sum of a row is from 1 at most."""
    sums = np.einsum("ij->i", rows)  # five times as fast as `sum` on a few columns
    return float(max(sums.max(initial=1) - 1, 1 - sums.min(initial=1)))
