"""The contracts of models: a row of class probabilities per prefix, a state that can be stepped, language models."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import InputError, ModelError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING_WORD, UNKNOWN, Vocabulary
from wfalens.text.word_vectors import WordVectors

State = NDArray[np.float32]  # (batch, width): one row holds all that the model remembers of a prefix
END = "<end>"  # the class of a language model that ends a text
_SUM_TOLERANCE = 1e-3


class Named(Protocol):
    """Anything with words and classes: a model or an automaton."""

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of the output's columns."""
        ...

    @property
    def encoder(self) -> TextEncoder:
        """How texts become word ids."""
        ...


@runtime_checkable
class PrefixClassifier(Named, Protocol):
    """Maps a token sequence to one class distribution per prefix (black box).

    A model that several threads may call at a time has an attribute `is_concurrent = True`; one whose `trace` costs a
    query for every prefix has `asks_every_prefix = True` and a method `final`, which costs one query per text.

    Examples:
        >>> from wfalens.models import PrefixClassifier
        >>> isinstance(model, PrefixClassifier)
        True
    """

    @property
    def fingerprint(self) -> str:
        """Identifies the model: a hash of its weights, or a name."""
        ...

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """One probability row per token: row t scores the prefix that ends there. -> (tokens, classes)

        Args:
            ids: word ids of texts
        """
        ...


@runtime_checkable
class StatefulClassifier(PrefixClassifier, Protocol):
    """A classifier that can also continue from a saved internal state (white box).

    One with a quicker way to read every word from every state has `has_grid = True`, and `step_grid` and `state_grid`
    (see `wfalens.models.inference`).

    Examples:
        >>> state, row = network.step(network.initial_state(1), encoder.encode(["good"]).values)
        >>> row.shape  # the network's output after "good"; `state` continues from there
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


def model_vectors(model: EmbeddingClassifier) -> WordVectors:
    """A model's embedding layer, one row per word of its vocabulary except padding.

    Args:
        model: with an embedding layer.

    Examples:
        >>> from wfalens.models import model_vectors
        >>> model_vectors(network)["good"].shape
        (8,)
    """
    return WordVectors(model.encoder.vocabulary.words[1:], model.embedding[1:], "model embedding")


def fingerprint_of(*parts: str | bytes | NDArray[Any]) -> str:
    """A hash of names and weights, in their order."""
    digest = hashlib.sha256()
    for part in parts:
        plain = part.tobytes() if isinstance(part, np.ndarray) else part
        digest.update(plain.encode() if isinstance(plain, str) else plain)
    return digest.hexdigest()[:16]


def uniform(classes: int) -> NDArray[np.float32]:
    """The initial output of a model that has none of its own; (classes,)"""
    return np.full(classes, 1 / classes, np.float32)


def checked_prior(given: ArrayLike | None, classes: int) -> NDArray[np.float32]:
    """A given output before any word, refused if it is no distribution; uniform if none is given. -> (classes,)"""
    if given is None:
        return uniform(classes)
    (prior,) = checked_probabilities(np.asarray(given)[None], 1, classes, "initial_output")
    return np.asarray(prior / prior.sum(), np.float32)


def as_array(values: Any) -> NDArray[Any]:
    """What a model gives as an array, also a tensor with gradients, on any device and of any type."""
    return np.asarray(values.detach().cpu().float() if hasattr(values, "detach") else values)


def checked_probabilities(values: object, rows: int, classes: int, source: str) -> NDArray[np.float32]:
    """Refuse outputs of a model that are not `rows` distributions over `classes`, in one sentence."""
    array = as_array(values)
    if array.shape != (rows, classes):
        hint = "; give both of two classes: np.stack([1 - p, p], 1)" if array.size == rows and classes == 2 else ""
        raise ModelError(
            f"{source} returned an array of shape {array.shape} where ({rows}, {classes}) was expected: "
            f"one row per text and one column per class ({classes} class names were given){hint}",
            code="output-shape",
        )
    if array.dtype.kind not in "fiu":
        raise ModelError(f"{source} returned {array.dtype} values; probabilities must be numbers", code="output-type")
    lowest = array.min(initial=0)
    if not (lowest >= -_SUM_TOLERANCE and _largest_sum_error(array) <= _SUM_TOLERANCE):  # NaN is neither
        if not np.all(np.isfinite(array)):
            raise ModelError(f"{source} returned NaN or infinite values", code="output-not-finite")
        worst = array[np.argmax(np.abs(array.sum(1) - 1))]
        raise ModelError(
            f"{source} returned rows that are not probabilities (one sums to {worst.sum():.4g}); apply a softmax",
            code="not-probabilities",
        )
    checked: NDArray[np.float32] = array.astype(np.float32, copy=False)
    return np.maximum(checked, 0) if lowest < 0 else checked  # what rounding made negative


def _largest_sum_error(rows: NDArray[Any]) -> float:
    """How far the sum of a row is from 1 at most."""
    sums = np.einsum("ij->i", rows)  # five times as fast as `sum` on a few columns
    return float(max(sums.max(initial=1) - 1, 1 - sums.min(initial=1)))


# Language models are classifiers whose classes are the symbols that may come next, and the end of the text. After every
# prefix such a model gives the distribution of the next symbol, and its `initial_output` that of the first. So every
# string has a probability: the product over its symbols and its end.


def symbol_classes(vocabulary: Vocabulary) -> tuple[str, ...]:
    """The classes of a language model over all words of a vocabulary; padding and `<unk>` never come next."""
    if END in vocabulary:
        raise InputError(f"{END!r} stands for the end of a text and cannot be a word of it")
    return (*vocabulary.words[UNKNOWN + 1 :], END)


def is_language_model(model: Named) -> bool:
    """Whether the classes are the end and words that the model reads."""
    return END in model.class_names and _unread_classes(model.class_names, model.encoder.vocabulary) == []


def classes_of_symbols(model: Named) -> NDArray[np.int64]:
    """For every word its class as the next symbol, -1 where it cannot come next; (V,)"""
    check_next_symbol(model)
    number = {name: at for at, name in enumerate(model.class_names)}
    return np.array([number.get(word, -1) for word in model.encoder.vocabulary.words])


def end_class(model: Named) -> int:
    """The number of the class that ends a text."""
    check_next_symbol(model)
    return model.class_names.index(END)


def check_next_symbol(model: Named) -> None:
    """Refuse a model that is no language model, in one sentence."""
    if END not in model.class_names:
        raise InputError(
            f"this is no language model: none of its classes is the end symbol {END!r}, without which strings have no "
            "probability",
            code="no-language-model",
        )
    unread = _unread_classes(model.class_names, model.encoder.vocabulary)
    if unread:
        raise InputError(
            f"this is no language model: its class {unread[0]!r} is no symbol that it reads", code="no-language-model"
        )


def _unread_classes(names: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Classes that are neither the end nor a word."""
    return [name for name in names if name != END and (name not in vocabulary or name == PADDING_WORD)]
