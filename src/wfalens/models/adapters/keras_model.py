"""Keras models in memory, and Keras files: plain recurrent ones are read without Keras, all others run by it."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import MissingDependencyError, ModelError
from wfalens.models.checks import BINARY, PROBABILITIES
from wfalens.models.contract import PrefixClassifier
from wfalens.models.keras.keras_file import ENDINGS, read_keras
from wfalens.models.keras.legacy import last_activation, load_old
from wfalens.models.padded import (
    PaddedForm,
    PaddedTextClassifier,
    PaddedTokenClassifier,
    check_outputs,
    checked_word_ids,
    token_classifier,
)
from wfalens.models.preprocessing import preprocessing_of
from wfalens.models.registry import WrapArguments, adapter, packages_of
from wfalens.text.encoder import RIGHT, TextEncoder

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
    ) -> PaddedTextClassifier | PaddedTokenClassifier:
        """Options: what the last layer gives (probabilities, logits, or binary: the second class's probability); the
        number of words that the model reads, where that is fixed and it does not say so itself; the sides on which
        texts are padded and truncated to it; the model's own id of every word of the vocabulary."""
        encoder, ids = given.encoder_and_ids()
        if word_ids is not None:
            ids = checked_word_ids(word_ids, encoder)
        if truncation_side is not None:
            encoder = replace(encoder, truncation_side=truncation_side)
        stored = given.preprocessing
        if stored is not None:
            outputs, padding_side = outputs or stored.outputs, padding_side or stored.padding_side
            initial_output = stored.initial_output if initial_output is None else initial_output
        outputs = outputs or PROBABILITIES
        form = PaddedForm(ids, width or _width(model), padding_side or RIGHT)
        _check_rows(model, int(form.translated(np.arange(len(encoder.vocabulary), dtype=np.int32)).max()))
        tried = _rows(model, form.translated(np.full((1, form.width or 1), encoder.lowest_id, np.int32)))
        names = given.class_names(None, 2 if outputs == BINARY else tried.shape[-1])
        options = {"outputs": outputs, "form": form, "fingerprint": _fingerprint(model)}
        return _wrapped(model, encoder, names, tried.ndim, batch_size, {**options, "initial_output": initial_output})


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
    ) -> PrefixClassifier:
        from wfalens.models.keras.keras_recurrent import recurrent_classifier  # needs torch

        path = Path(model)
        stored = read_keras(path)
        read = (given.preprocessing or preprocessing_of(path)).read_as(padding_side, truncation_side)
        recurrent = recurrent_classifier(stored, read)
        if recurrent is not None:
            return recurrent
        loaded: Any = load_old(stored)
        stored.check_rows(read)
        side = stored.checked_side(read, stored.width)
        outputs = read.outputs or last_activation(loaded, path)
        return KerasAdapter().wrap(loaded, WrapArguments(preprocessing=read), outputs=outputs, padding_side=side)


def _wrapped(
    model: keras.Model,
    encoder: TextEncoder,
    class_names: tuple[str, ...],
    axes: int,
    batch_size: int,
    options: dict[str, Any],
) -> PaddedTextClassifier | PaddedTokenClassifier:
    """axes: of the model's output, 3 where it has a row for every word"""

    def run(ids: NDArray[np.int64]) -> NDArray[Any]:
        return _rows(model, ids)

    check_outputs(run, encoder, options["form"], options["outputs"], len(class_names), "the Keras model")
    if axes == 3:
        return token_classifier(run, encoder, class_names, **options)
    return PaddedTextClassifier(run, encoder, class_names, batch_size=batch_size, **options)


def _rows(model: keras.Model, ids: NDArray[np.int64]) -> NDArray[Any]:
    """The model's output, as it is."""
    try:
        from keras import ops
    except ImportError:
        raise MissingDependencyError("keras", "keras") from None
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The structure of `inputs`")  # an array for its one named input
            answer = model(ids, training=False)
    except Exception as error:  # each backend has its own
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"the Keras model cannot read texts of {ids.shape[1]} words ({reason}); "
            "give the width that shorter texts are to be padded to (width)",
            code="cannot-read",
        ) from None
    if isinstance(answer, list | tuple | dict):
        raise ModelError(
            "the Keras model gives several outputs; wrap a model that gives the classes only", code="output-shape"
        )
    return np.asarray(ops.convert_to_numpy(answer))


def _check_rows(model: keras.Model, highest: int) -> None:
    """Refuse ids that the first embedding layer has no vector for."""
    rows = next((layer.input_dim for layer in getattr(model, "layers", ()) if hasattr(layer, "input_dim")), None)
    if rows is not None and highest >= rows:
        raise ModelError(
            f"the vocabulary has ids up to {highest:,}, but the model's embedding has {rows:,} rows; "
            "give the words of the model, or its own ids of them (word_ids)"
        )


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


def _fingerprint(model: keras.Model) -> str:
    """A hash of the weights in their order; their names count up within a process and are left out."""
    digest = hashlib.sha256(type(model).__name__.encode())
    for weight in model.get_weights():
        digest.update(f"{weight.shape}{weight.dtype}".encode())
        digest.update(np.ascontiguousarray(weight).tobytes())
    return digest.hexdigest()[:16]
