"""A plain function from token lists to class probabilities as a stepwise classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from wfalens.models.base import BlackBoxClassifier
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder


class CallableClassifier(BlackBoxClassifier):
    """Any function that scores lists of tokens; every prefix of a text is asked as a list of its own.

    Args:
        predict_proba: a function from n lists of tokens to probabilities (n, classes); rows sum to 1.
        encoder: how a text becomes tokens.
        class_names: in the order of the columns.
        batch_size: token lists in a call at most.
        name: tells this model from others in files (default: a hash of what it answers).
        initial_output: probabilities (classes,) before any word, such as the shares of the classes in training
            (default: uniform); what the first word of a text does is measured from there.

    Examples:
        >>> model = CallableClassifier(predict_proba, encoder, ("neg", "pos"))
        >>> model.trace(encoder.encode(["a good film"])).values.shape  # a row for each of the three prefixes
        (3, 2)
    """

    def __init__(
        self,
        predict_proba: Callable[[list[list[str]]], object],
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        batch_size: int = 1024,
        name: str | None = None,
        initial_output: ArrayLike | None = None,
    ) -> None:
        called = name or str(getattr(predict_proba, "__name__", type(predict_proba).__name__))
        super().__init__(encoder, class_names, batch_size=batch_size, fingerprint=called, initial_output=initial_output)
        self.predict_tokens = predict_proba

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        return self.predict_tokens([self.encoder.vocabulary.decode(prefix) for prefix in prefixes])
