"""A plain function from token lists to class probabilities as a stepwise classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.models.contract import checked_prior, checked_probabilities
from wfalens.models.prefixes import prefix_tree
from wfalens.models.shown import Shown
from wfalens.ragged import Ragged
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import TextEncoder
from wfalens.validation import Bounds, whole

_BATCHES = Bounds(whole, 1, 1 << 30)  # prefixes asked at once


class BlackBoxClassifier(Shown, ABC):
    """A black box that is asked for every prefix as a text of its own, so it may look at its text in any order.

    Prefixes that several texts share are asked once per call of `trace`, and `final` asks for whole texts only, equal
    ones once. `queries` counts the prefixes asked so far.
    """

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
        """What the model says of each prefix as it stands; -> (prefixes, classes)"""

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """As it was given, else uniform: many models refuse an empty text. (classes,)"""
        return self._prior

    def ask(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """Checked answers for texts as they stand, in one call; -> (texts, classes)"""
        answer = self.answers(texts)
        self.queries += len(texts)
        return checked_probabilities(answer, len(texts), len(self.class_names), f"{self.fingerprint}()")

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        tree = prefix_tree(ids)
        outputs = np.empty((len(tree), len(self.class_names)), np.float32)
        for numbers, sequences in tree.sequences(self.batch_size):
            outputs[numbers] = self.ask(sequences)
        return Ragged(outputs[tree.of_token], ids.offsets)

    def final(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        tree = prefix_tree(texts)
        wanted, of_text = np.unique(tree.of_token[texts.offsets[1:] - 1], return_inverse=True)
        outputs = np.empty((len(wanted), len(self.class_names)), np.float32)
        for start in range(0, len(wanted), self.batch_size):
            outputs[start : start + self.batch_size] = self.ask(tree.spelled(wanted[start : start + self.batch_size]))
        return np.asarray(outputs[of_text])


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
