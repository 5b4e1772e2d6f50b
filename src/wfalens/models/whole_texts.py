"""A model that reads whole texts: words are joined to the text that it would have been given."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import checked_probabilities
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN

_PROBES = 256  # words that tell one model from another by its answers


class TextClassifier(BlackBoxClassifier):
    """Wraps `predict_proba(list of texts) -> (n, classes)`.

    The words of a prefix are joined to a text (`TextEncoder.joined`); `unknown` takes the place of words that the
    vocabulary does not have ("": they are left out). Its answer for an empty text is the output before any word, unless
    an `initial_output` is given, for a model that cannot read one or answers it at random.
    """

    def __init__(
        self,
        predict_proba: Callable[[list[str]], object],
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        unknown: str = "",
        batch_size: int = 1024,
        fingerprint: str | None = None,
        initial_output: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            encoder,
            class_names,
            batch_size=batch_size,
            fingerprint=fingerprint or "the model",
            initial_output=initial_output,
        )
        self._knows_prior = initial_output is not None
        self.predict_texts = predict_proba
        self._spelled = list(encoder.vocabulary.words)
        self._spelled[UNKNOWN] = unknown
        if fingerprint is None:
            self.fingerprint = self._fingerprint_of_answers()

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        return self.predict_texts([self.text_of(prefix) for prefix in prefixes])

    def text_of(self, ids: NDArray[np.int32]) -> str:
        return self.encoder.joined([word for word in (self._spelled[word] for word in ids) if word])

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """As it was given, else what the model says of an empty text; (classes,)"""
        if self._knows_prior:
            return self._prior
        answer = self.predict_texts([""])
        (prior,) = checked_probabilities(answer, 1, len(self.class_names), f"{self.fingerprint}()")
        return np.array(prior)

    def _fingerprint_of_answers(self) -> str:
        """A hash of what the model says of frequent words, alone and in pairs: equal after saving and loading."""
        words = [word for word in self._spelled[1 : _PROBES + 1] if word]
        pairs = [self.encoder.joined(pair) for pair in pairwise(words)]
        texts = ["", *words, *pairs]
        answers = checked_probabilities(self.predict_texts(texts), len(texts), len(self.class_names), "the model")
        return hashlib.sha256(np.round(answers, 6).tobytes()).hexdigest()[:16]
