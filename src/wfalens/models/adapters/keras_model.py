"""A Keras model as a stepwise classifier."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.errors import MissingDependencyError, ModelError
from wfalens.models.adapters.tables import TableForm, TextTableClassifier, TokenTableClassifier

if TYPE_CHECKING:
    import keras


def wrap_keras(
    model: keras.Model,
    encoder: TextEncoder,
    class_names: Sequence[object],
    *,
    outputs: str = "probabilities",
    width: int | None = None,
    padding: str = "right",
    word_ids: Sequence[int] | NDArray[np.integer] | None = None,
    batch_size: int = 1024,
    initial_output: ArrayLike | None = None,
) -> TextTableClassifier | TokenTableClassifier:
    """A classifier from a model `ids (batch, time) -> (batch, classes)`, or `-> (batch, time, classes)`.

    outputs     what the last layer gives: probabilities, logits, or binary (one number: the second class's probability)
    width       number of words that the model reads, where that is fixed (a functional model tells it)
    padding     right or left, where the width is fixed; other tables are never padded
    word_ids    the model's own id of every word of the vocabulary, if they are not the vocabulary's
    initial_output  the class probabilities before any word (default: uniform)
    """
    try:
        from keras import ops
    except ImportError:
        raise MissingDependencyError("keras", "keras") from None

    def run(table: NDArray[np.int64]) -> NDArray[Any]:
        try:
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

    ids = None if word_ids is None else np.asarray(word_ids, np.int64)
    if ids is not None and ids.shape != (len(encoder.vocabulary),):
        raise ModelError(f"word_ids must give one id for each of the {len(encoder.vocabulary)} words")
    form = TableForm(ids, width or _width(model), padding)
    axes = run(form.translated(np.full((1, form.width or 1), UNKNOWN, np.int32))).ndim
    fingerprint = _fingerprint(model)
    if axes == 3:
        return TokenTableClassifier(
            run,
            encoder,
            class_names,
            form=form,
            outputs=outputs,
            fingerprint=fingerprint,
            initial_output=initial_output,
        )
    return TextTableClassifier(
        run,
        encoder,
        class_names,
        form=form,
        outputs=outputs,
        batch_size=batch_size,
        fingerprint=fingerprint,
        initial_output=initial_output,
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
