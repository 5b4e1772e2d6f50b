"""Keras models in memory, and Keras files: plain recurrent ones are read without Keras, all others run by it."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import ModelError, naming_extras
from wfalens.messages import reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter, packages_of
from wfalens.models.contract import fingerprint_of
from wfalens.models.keras.keras_file import ENDINGS, last_activation, load_in_keras, read_keras, weight_parts
from wfalens.models.padded import IdClassifier, checked_classes, id_classifier, reading_of
from wfalens.models.preprocessing_options import PROBABILITIES

if TYPE_CHECKING:
    import keras


@adapter
class KerasAdapter:
    """A Keras model with one input `ids (batch, time)`, and outputs (batch, classes) or (batch, time, classes)."""

    kind, reads_ids = "a Keras model", True

    def accepts(self, model: Any) -> bool:
        return bool(packages_of(model) & {"keras", "tf_keras"})

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        batch_size: int = 1024,
        initial_output: ArrayLike | None = None,
    ) -> IdClassifier:
        """Options: texts in a call at most; the output before any word."""
        encoder, form = reading_of(given, PROBABILITIES, _width(model))
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

    kind, reads_ids = "a Keras file (.h5, .keras)", True

    def accepts(self, model: Any) -> bool:
        return isinstance(model, str | Path) and Path(model).suffix.lower() in ENDINGS

    def wrap(self, model: str | Path, given: WrapArguments) -> IdClassifier:
        from wfalens.models.keras.keras_recurrent import recurrent_classifier  # needs torch

        path = Path(model)
        stored = read_keras(path)
        read = given.described(path)
        recurrent = recurrent_classifier(stored, read)
        if recurrent is not None:
            return recurrent
        loaded = load_in_keras(stored)
        read = read.read_as(
            stored.checked_side(read, stored.width), outputs=read.outputs or last_activation(loaded, path)
        )
        return KerasAdapter().wrap(loaded, WrapArguments(preprocessing=read))


def _rows(model: keras.Model, rows: int | None, ids: NDArray[np.int64]) -> NDArray[Any]:
    """The model's output, as it is; rows: of its embedding, where they are known"""
    with naming_extras():
        from keras import ops
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
