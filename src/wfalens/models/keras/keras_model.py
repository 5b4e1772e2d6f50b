"""A Keras model as a stepwise classifier."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import MissingDependencyError, ModelError
from wfalens.models.padded import (
    TableForm,
    TextTableClassifier,
    TokenTableClassifier,
    check_told,
    checked_word_ids,
    token_classifier,
)
from wfalens.models.preprocessing_check import require_reading
from wfalens.text.encoder import RIGHT, TextEncoder

if TYPE_CHECKING:
    import keras

    from wfalens.text.corpus import Corpus


def wrap_keras(
    model: keras.Model,
    encoder: TextEncoder,
    class_names: Sequence[object],
    *,
    outputs: str = "probabilities",
    width: int | None = None,
    padding: str = RIGHT,
    cutting: str | None = None,
    word_ids: Sequence[int] | NDArray[np.integer] | None = None,
    batch_size: int = 1024,
    initial_output: ArrayLike | None = None,
    labelled: Corpus | None = None,
) -> TextTableClassifier | TokenTableClassifier:
    """A classifier from a model `ids (batch, time) -> (batch, classes)`, or `-> (batch, time, classes)`.

    Args:
        model: a Keras model with one input, ids of words.
        encoder: how a text becomes ids.
        class_names: in the order of the outputs.
        outputs: what the last layer gives: probabilities, logits, or binary (one number: the second class's
            probability).
        width: number of words that the model reads, where that is fixed (a functional model tells it).
        padding: "right" or "left", where the width is fixed; other tables are never padded.
        cutting: the side on which texts that are too long lose words, "right" or "left" (default: the encoder's).
        word_ids: (V,) the model's own id of every word of the vocabulary, if they are not the vocabulary's.
        batch_size: texts in a call at most.
        initial_output: class probabilities (classes,) before any word (default: uniform).
        labelled: texts with labels; the model is refused if it agrees with them much better when it is read
            otherwise.

    Examples:
        >>> import keras
        >>> from wfalens import wrap_keras
        >>> layers = [keras.layers.Embedding(len(encoder.vocabulary), 4), keras.layers.LSTM(4)]
        >>> network = keras.Sequential([*layers, keras.layers.Dense(1, activation="sigmoid")])
        >>> model = wrap_keras(network, encoder, ("bad", "good"), outputs="binary")
        >>> model.trace(encoder.encode(["a good film"])).values.shape
        (3, 2)
    """
    try:
        from keras import ops
    except ImportError:
        raise MissingDependencyError("keras", "keras") from None

    def run(table: NDArray[np.int64]) -> NDArray[Any]:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "The structure of `inputs`")  # a table for its one named input
                answer = model(table, training=False)
        except Exception as error:  # each backend has its own
            reason = str(error).strip().partition("\n")[0]
            raise ModelError(
                f"the Keras model cannot read a table of {table.shape[1]} words ({reason}); "
                "give the width that shorter texts are to be padded to (width)"
            ) from None
        if isinstance(answer, list | tuple | dict):
            raise ModelError("the Keras model gives several outputs; wrap a model that gives the classes only")
        return np.asarray(ops.convert_to_numpy(answer))

    ids = checked_word_ids(word_ids, encoder)
    if cutting is not None:
        encoder = replace(encoder, cutting_side=cutting)
    form = TableForm(ids, width or _width(model), padding)
    _check_rows(model, int(form.translated(np.arange(len(encoder.vocabulary), dtype=np.int32)).max()))
    axes = run(form.translated(np.full((1, form.width or 1), encoder.lowest_id, np.int32))).ndim
    check_told(run, encoder, form, outputs, len(class_names), "the Keras model")
    fingerprint = _fingerprint(model)
    wrapped: TextTableClassifier | TokenTableClassifier
    if axes == 3:
        wrapped = token_classifier(
            run,
            encoder,
            class_names,
            form=form,
            outputs=outputs,
            fingerprint=fingerprint,
            initial_output=initial_output,
        )
    else:
        wrapped = TextTableClassifier(
            run,
            encoder,
            class_names,
            form=form,
            outputs=outputs,
            batch_size=batch_size,
            fingerprint=fingerprint,
            initial_output=initial_output,
        )
    if labelled is not None:
        require_reading(wrapped, labelled)
    return wrapped


def _check_rows(model: keras.Model, highest: int) -> None:
    """Refuse ids that the first embedding layer has no vector for."""
    rows = next((layer.input_dim for layer in getattr(model, "layers", ()) if hasattr(layer, "input_dim")), None)
    if rows is not None and highest >= rows:
        raise ModelError(
            f"the vocabulary has ids up to {highest:,}, but the model's embedding has {rows:,} rows; "
            "give the words of the model, or its own ids of them (word_ids)"
        )


def _width(model: keras.Model) -> int | None:
    """The number of words that the model reads, if it is fixed; a subclassed model does not tell."""
    read = getattr(model, "input_shape", None)
    if read is not None and not (isinstance(read, tuple) and len(read) == 2):
        raise ModelError(
            f"the Keras model reads {read} where one table of ids (batch, time) is expected; "
            "wrap its prediction as a callable (CallableClassifier) instead"
        )
    return None if read is None else read[1]


def _fingerprint(model: keras.Model) -> str:
    """A hash of the weights in their order; their names count up within a process and are left out."""
    digest = hashlib.sha256(type(model).__name__.encode())
    for weight in model.get_weights():
        digest.update(f"{weight.shape}{weight.dtype}".encode())
        digest.update(np.ascontiguousarray(weight).tobytes())
    return digest.hexdigest()[:16]
