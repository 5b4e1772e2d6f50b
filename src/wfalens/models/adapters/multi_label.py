"""Models that give a text several labels, each with a probability of its own.

One automaton copies all labels: a row has the two columns `not x` and `x` of every label, each pair summing to 1/L, so
it is a distribution, and the difference of the two class weights of a linear automaton is the label's logit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import ModelError
from wfalens.models.adapters.functions import TextClassifier
from wfalens.models.contract import as_array
from wfalens.text.corpus import check_label, label_classes, labels_of, likely_labels
from wfalens.text.encoder import TextEncoder


class MultiLabelClassifier(TextClassifier):
    """Wraps `predict_proba(list of texts) -> (n, labels)`; one call asks for all labels.

    Args:
        predict_proba: independent probabilities of the labels.
        labels: their names, in the order of the columns.
        common: as of `TextClassifier`.

    Examples:
        >>> import wfalens as wl
        >>> scores = lambda texts: [["fool" in text, "kill" in text] for text in texts]
        >>> several = wl.wrap(scores, texts, labels=("insult", "threat"), reads="text")
        >>> several.label("insult").predict(["you fool"]).tolist(), several.label_probabilities(["you fool"]).tolist()
        (['insult'], [[1.0, 0.0]])
    """

    def __init__(
        self,
        predict_proba: Callable[[list[str]], object],
        encoder: TextEncoder,
        labels: Sequence[str],
        **common: Any,
    ) -> None:
        names = label_classes(labels)

        def all_columns(texts: list[str]) -> NDArray[np.float64]:
            shares = _checked_shares(predict_proba(texts), len(texts), len(labels))
            return np.stack([1 - shares, shares], -1).reshape(len(texts), -1) / len(labels)

        self._common = {name: value for name, value in common.items() if name != "initial_output"}
        super().__init__(all_columns, encoder, names, **common)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels."""
        return labels_of(self.class_names)

    def label(self, name: str) -> TextClassifier:
        """One label against the rest, as a model with two classes; it asks this model, and shares its cache.

        Args:
            name: one of `labels`
        """
        first = 2 * check_label(self.labels, name)

        def columns(texts: list[str]) -> NDArray[np.float64]:
            return np.asarray(self._ask_texts(texts)[:, first : first + 2] * np.float64(len(self.labels)))

        about = self._common | {"fingerprint": f"{self.fingerprint}:{name}"}
        return TextClassifier(columns, self.encoder, self.class_names[first : first + 2], **about)

    def predict(self, texts: Sequence[str]) -> NDArray[np.object_]:
        """The labels of every text that are likelier than not, as a tuple; (texts,)"""
        return likely_labels(self.labels, self.label_probabilities(texts))

    def label_probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The probability of every label, independent of the others. -> (texts, labels)

        Args:
            texts: as for `predict_proba`
        """
        return self.predict_proba(texts)[:, 1::2] * np.float32(len(self.labels))


def _checked_shares(given: Any, texts: int, labels: int) -> NDArray[np.float64]:
    """Refuse what is not a number from 0 to 1 for every label of every text."""
    shares = as_array(given).astype(np.float64)
    if shares.shape != (texts, labels) or not np.all((shares >= 0) & (shares <= 1)):
        raise ModelError(
            f"the model must give {labels} probabilities from 0 to 1 for each text, one for every label, not an array "
            f"of shape {shares.shape} for {texts} texts",
            code="not-probabilities",
        )
    return shares
