"""Base classes of wrapped models: scikit-learn's methods over texts, and models that are asked prefix by prefix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.html import table_html
from wfalens.messages import printable
from wfalens.models.contract import PrefixClassifier, checked_prior, checked_probabilities
from wfalens.models.inference import last_outputs, prefix_tree
from wfalens.ragged import Ragged
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import TextEncoder
from wfalens.validation import Bounds, whole

_BATCHES = Bounds(whole, 1, 1 << 30)  # prefixes asked at once


class Classifier:
    """Gives a model with `trace` what users of scikit-learn expect: `predict_proba`, `predict` and `classes_`.

    Examples:
        >>> model.predict(["a good film"]).tolist()[0] in model.classes_
        True
    """

    @property
    def classes_(self: PrefixClassifier) -> NDArray[Any]:
        """The class names, in the order of the columns; (classes,)"""
        return np.array(self.class_names)

    def final(self: PrefixClassifier, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """The output after the last word of every text, the initial output for one without words. -> (texts, classes)

        Args:
            texts: word ids of texts

        Examples:
            >>> model.final(encoder.encode(["a good film", ""])).shape
            (2, 2)
        """
        return last_outputs(self, texts)

    def predict_proba(self: PrefixClassifier, texts: Sequence[str]) -> NDArray[np.float32]:
        """Class probabilities of whole texts; one without words gets the initial output. -> (texts, classes)

        Args:
            texts: a list of strings, a pandas Series, a numpy array or a Corpus

        Examples:
            >>> model.predict_proba(["a good film", ""]).shape
            (2, 2)
        """
        return last_outputs(self, self.encoder.encode(texts))

    def predict(self: PrefixClassifier, texts: Sequence[str]) -> NDArray[Any]:
        """The name of the most probable class of every text; (texts,)

        Args:
            texts: as for `predict_proba`

        Examples:
            >>> model.predict(["a good film"]).shape
            (1,)
        """
        chosen = last_outputs(self, self.encoder.encode(texts)).argmax(1)
        return np.asarray(np.array(self.class_names)[chosen])

    def __repr__(self: PrefixClassifier) -> str:
        words, classes = f"{len(self.encoder.vocabulary):,} words", printable(", ".join(self.class_names))
        return f"<{type(self).__name__}: {words}, tokenizer {self.encoder.tokenizer_name}, classes {classes}>"

    def _repr_html_(self: PrefixClassifier) -> str:
        encoder = self.encoder
        rows = [
            ["classes", ", ".join(self.class_names)],
            ["words", f"{len(encoder.vocabulary):,}"],
            ["tokenizer", encoder.tokenizer_name],
            ["reads", encoder.reads],
            ["fingerprint", self.fingerprint],
        ]
        return table_html(type(self).__name__, ["", ""], rows)


class BlackBoxClassifier(Classifier, ABC):
    """A model that is asked for every prefix as a text of its own, so it may read its text in any order.

    Prefixes that several texts share are asked once per call of `trace`, and `final` asks for whole texts only, equal
    ones once. `queries` counts the texts asked so far.

    Args:
        encoder: how a text becomes word ids.
        class_names: in the order of the outputs.
        batch_size: texts in a call at most.
        fingerprint: identifies the model.
        initial_output: probabilities (classes,) before any word (default: uniform).

    Examples:
        >>> from wfalens.models import BlackBoxClassifier
        >>> isinstance(model, BlackBoxClassifier)
        True
    """

    asks_every_prefix = True

    def __init__(
        self,
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        batch_size: int = 1024,
        fingerprint: str,
        initial_output: ArrayLike | None = None,
    ) -> None:
        self.encoder = encoder
        self.class_names = named_classes(class_names)
        self.batch_size: int = _BATCHES.checked("batch_size", batch_size)
        self.fingerprint = fingerprint
        self.queries = 0
        self._prior = checked_prior(initial_output, len(self.class_names))

    @abstractmethod
    def answers(self, prefixes: Ragged[np.int32]) -> object:
        """The model's output for each prefix as a text of its own; -> (prefixes, classes)"""

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """As it was given, else uniform: many models refuse an empty text. (classes,)"""
        return self._prior

    def ask(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """Checked outputs for texts, in one call; -> (texts, classes)"""
        answer = self.answers(texts)
        self.queries += len(texts)
        return checked_probabilities(answer, len(texts), len(self.class_names), f"{self.fingerprint}()")

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """One probability row per token, each prefix asked as a text of its own. -> (tokens, classes)

        Args:
            ids: word ids of texts
        """
        tree = prefix_tree(ids)
        outputs = np.empty((len(tree), len(self.class_names)), np.float32)
        for numbers, sequences in tree.sequences(self.batch_size):
            outputs[numbers] = self.ask(sequences)
        return Ragged(outputs[tree.of_token], ids.offsets)

    def final(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """The output for every whole text; equal texts are asked once. -> (texts, classes)

        Args:
            texts: word ids of texts
        """
        tree = prefix_tree(texts)
        worded = np.flatnonzero(texts.lengths)
        ends, of_text = np.unique(tree.of_token[texts.offsets[worded + 1] - 1], return_inverse=True)
        outputs = np.empty((len(ends), len(self.class_names)), np.float32)
        for start in range(0, len(ends), self.batch_size):
            outputs[start : start + self.batch_size] = self.ask(tree.spelled(ends[start : start + self.batch_size]))
        filled = np.empty((len(texts), len(self.class_names)), np.float32)
        if len(worded) < len(texts):
            filled[:] = self.initial_output
        filled[worded] = outputs[of_text]
        return filled
