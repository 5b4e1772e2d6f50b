"""A plain function from token lists to class probabilities as a stepwise classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.corpus import named_classes
from wfalens.corpus.encoder import TextEncoder
from wfalens.models.contract import checked_probabilities
from wfalens.models.prefixes import prefix_tree
from wfalens.ragged import Ragged


class CallableClassifier:
    """Wraps `predict_proba(list of token lists) -> (n, classes)`.

    A prefix is asked as a text of its own, so the function may look at its text in any order; prefixes that
    several texts share are asked once per call of `trace`. `queries` counts the prefixes asked so far.
    """

    def __init__(
        self,
        predict_proba: Callable[[list[list[str]]], object],
        encoder: TextEncoder,
        class_names: Sequence[str],
        *,
        batch_size: int = 1024,
        name: str | None = None,
    ) -> None:
        self.predict_tokens = predict_proba
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.batch_size = batch_size
        self.fingerprint = name or getattr(predict_proba, "__name__", type(predict_proba).__name__)
        self.queries = 0

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """Unknown without asking for an empty text, which many models refuse: uniform."""
        return np.full(len(self.class_names), 1 / len(self.class_names), np.float32)

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        tree = prefix_tree(ids)
        outputs = np.empty((len(tree), len(self.class_names)), np.float32)
        for numbers, sequences in tree.sequences(self.batch_size):
            tokens = [self.encoder.vocabulary.decode(sequence) for sequence in sequences]
            answer = self.predict_tokens(tokens)
            outputs[numbers] = checked_probabilities(
                answer, len(tokens), len(self.class_names), f"{self.fingerprint}()"
            )
        self.queries += len(tree)
        return Ragged(outputs[tree.of_token], ids.offsets)
