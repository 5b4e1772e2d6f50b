"""Keras models in memory, and Keras files: plain recurrent ones are read without Keras, all others run by it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import MissingDependencyError, ModelError
from wfalens.messages import reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter, packages_of
from wfalens.models.checks import PROBABILITIES
from wfalens.models.contract import fingerprint_of
from wfalens.models.keras.keras_file import ENDINGS, last_activation, load_in_keras, read_keras, weight_parts
from wfalens.models.padded import IdClassifier, checked_classes, id_classifier, reading_of
from wfalens.models.preprocessing import preprocessing_of

if TYPE_CHECKING:
    import keras


@adapter
class KerasAdapter:
    """A Keras model with one input `ids (batch, time)`, and outputs (batch, classes) or (batch, time, classes)."""

    kind = "a Keras model"

    def accepts(self, model: Any) -> bool:
        return bool(packages_of(model) & {"keras", "tf_keras"})

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        outputs: str | None = None,
        width: int | None = None,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        word_ids: Sequence[int] | NDArray[np.integer] | None = None,
        batch_size: int = 1024,
        initial_output: ArrayLike | None = None,
    ) -> IdClassifier:
        """Options: what the last layer gives (probabilities, logits, or binary: the second class's probability); the
        number of words that the model reads, where that is fixed and it does not say so itself; the sides on which
        texts are padded and truncated to it; the model's own id of every word of the vocabulary."""
        encoder, form = reading_of(
            given,
            PROBABILITIES,
            outputs=outputs,
            width=width or _width(model),
            padding_side=padding_side,
            truncation_side=truncation_side,
            word_ids=word_ids,
        )
        if initial_output is None and given.preprocessing is not None:
            initial_output = given.preprocessing.initial_output
        rows = next((layer.input_dim for layer in getattr(model, "layers", ()) if hasattr(layer, "input_dim")), None)
        run = partial(_rows, model, rows)
        names, has_row_per_word = checked_classes(run, given, encoder, form, "the Keras model", rows)
        fingerprint = fingerprint_of(type(model).__name__, *weight_parts(model.get_weights()))
        common: dict[str, Any] = {"form": form, "fingerprint": fingerprint, "initial_output": initial_output}
        return id_classifier(run, encoder, names, has_row_per_word, batch_size=batch_size, **common)


@adapter
class KerasFileAdapter:
    """A Keras file (.h5 or .keras) and its preprocessing: the one given, else the JSON file beside it.

    Embedding → LSTM, GRU or SimpleRNN → Dense is read without Keras and can be stepped. All other models are run by
    Keras and asked for every prefix as a text of its own.
    """

    kind = "a Keras file (.h5, .keras)"

    def accepts(self, model: Any) -> bool:
        return isinstance(model, str | Path) and Path(model).suffix.lower() in ENDINGS

    def wrap(
        self,
        model: str | Path,
        given: WrapArguments,
        *,
        padding_side: str | None = None,
        truncation_side: str | None = None,
    ) -> IdClassifier:
        from wfalens.models.keras.keras_recurrent import recurrent_classifier  # needs torch

        path = Path(model)
        stored = read_keras(path)
        read = (given.preprocessing or preprocessing_of(path)).read_as(padding_side, truncation_side)
        recurrent = recurrent_classifier(stored, read)
        if recurrent is not None:
            return recurrent
        loaded = load_in_keras(stored)
        side = stored.checked_side(read, stored.width)
        outputs = read.outputs or last_activation(loaded, path)
        return KerasAdapter().wrap(loaded, WrapArguments(preprocessing=read), outputs=outputs, padding_side=side)


def _rows(model: keras.Model, rows: int | None, ids: NDArray[np.int64]) -> NDArray[Any]:
    """The model's output, as it is; rows: of its embedding, where they are known"""
    try:
        from keras import ops
    except ImportError:
        raise MissingDependencyError("keras", "keras") from None
    if rows is not None and ids.max() >= rows:  # not every backend says so
        raise ModelError(f"the Keras model cannot read the id {ids.max():,}", code="vocabulary-size")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The structure of `inputs`")  # an array for its one named input
            answer = model(ids, training=False)
    except Exception as error:  # each backend has its own
        raise ModelError(
            f"the Keras model cannot read texts of {ids.shape[1]} words ({reason_of(error)}); "
            "give the width that shorter texts are to be padded to (width)",
            code="cannot-read",
        ) from None
    if isinstance(answer, list | tuple | dict):
        raise ModelError(
            "the Keras model gives several outputs; wrap a model that gives the classes only", code="output-shape"
        )
    return np.asarray(ops.convert_to_numpy(answer))


def _width(model: keras.Model) -> int | None:
    """The number of words that the model reads, if it is fixed; a subclassed model does not say."""
    read = getattr(model, "input_shape", None)
    if read is not None and not (isinstance(read, tuple) and len(read) == 2):
        raise ModelError(
            f"the Keras model reads {read} where ids of one shape (batch, time) are expected; "
            "wrap a function that calls it instead",
            code="input-shape",
        )
    return None if read is None else read[1]
