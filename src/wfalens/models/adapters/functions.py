"""Functions of token lists or of strings, and everything with `predict_proba` over texts, such as scikit-learn's."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens import progress
from wfalens.errors import ModelError
from wfalens.messages import reason_of
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import checked_probabilities
from wfalens.models.registry import WrapArguments, adapter, packages_of
from wfalens.ragged import Ragged
from wfalens.text.corpus import as_texts
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN
from wfalens.validation import check_choice

READS = TOKENS, TEXT = ("tokens", "text")
_PROBES = 256  # words whose outputs identify a model
_TRIED = 5  # words of the text that a function is tried on: tokenizers take two for a pair of texts
_NETWORKS = {"torch", "keras", "transformers", "tokenizers"}  # packages whose objects are no functions of texts


class FunctionClassifier(BlackBoxClassifier):
    """Wraps `predict_proba(list of token lists) -> (n, classes)`."""

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


class TextClassifier(BlackBoxClassifier):
    """Wraps `predict_proba(list of texts) -> (n, classes)`.

    The words of a prefix are joined to a text (`TextEncoder.joined`); `unknown` takes the place of words that the
    vocabulary does not have ("": they are left out). Its output for an empty text is the output before any word, unless
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
        self._has_prior = initial_output is not None
        self.predict_texts = predict_proba
        self._spelled = list(encoder.vocabulary.words)
        self._spelled[UNKNOWN] = unknown
        if fingerprint is None:
            self.fingerprint = self._output_hash()

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        return self.predict_texts([self.text_of(prefix) for prefix in prefixes])

    def text_of(self, ids: NDArray[np.int32]) -> str:
        """The text that the model is given for word ids."""
        return self.encoder.joined([word for word in (self._spelled[word] for word in ids) if word])

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """As it was given, else the model's output for an empty text; (classes,)"""
        if self._has_prior:
            return self._prior
        answer = self.predict_texts([""])
        (prior,) = checked_probabilities(answer, 1, len(self.class_names), f"{self.fingerprint}()")
        return np.array(prior)

    def _output_hash(self) -> str:
        """A hash of the outputs for frequent words, alone and in pairs: equal after saving and loading."""
        words = [word for word in self._spelled[1 : _PROBES + 1] if word]
        pairs = [self.encoder.joined(pair) for pair in pairwise(words)]
        texts = ["", *words, *pairs]
        answers = checked_probabilities(self.predict_texts(texts), len(texts), len(self.class_names), "the model")
        return hashlib.sha256(np.round(answers, 6).tobytes()).hexdigest()[:16]


@adapter
class PipelineAdapter:
    """A fitted scikit-learn pipeline whose first step reads texts, or anything else with `predict_proba`."""

    kind = "a scikit-learn pipeline"

    def accepts(self, model: Any) -> bool:
        is_classifier = callable(getattr(model, "predict_proba", None)) or "sklearn" in packages_of(model)
        return is_classifier and not isinstance(model, type) and not packages_of(model) & _NETWORKS

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        unknown: str = "",
        batch_size: int = 1024,
        name: str | None = None,
        initial_output: ArrayLike | None = None,
    ) -> TextClassifier:
        if not callable(getattr(model, "predict_proba", None)):
            raise ModelError(
                f"{type(model).__name__} has no predict_proba; end the pipeline with a classifier that has, "
                "or calibrate it (CalibratedClassifierCV)",
                code="no-probabilities",
            )
        own = getattr(model, "classes_", None)
        return TextClassifier(
            model.predict_proba,
            given.encoder("whitespace"),
            given.class_names(None if own is None else list(own)),
            unknown=unknown,
            batch_size=batch_size,
            fingerprint=name,
            initial_output=initial_output,
        )


@adapter
class FunctionAdapter:
    """A function from n token lists, or from n strings, to class probabilities (n, classes)."""

    kind = "a function of token lists or of texts"
    is_general = True

    def accepts(self, model: Any) -> bool:
        return callable(model) and not isinstance(model, type) and not packages_of(model) & _NETWORKS

    def wrap(
        self,
        model: Any,
        given: WrapArguments,
        *,
        reads: str | None = None,
        unknown: str = "",
        batch_size: int = 1024,
        name: str | None = None,
        initial_output: ArrayLike | None = None,
    ) -> BlackBoxClassifier:
        owner = getattr(model, "__self__", None)  # of a bound method, such as pipeline.predict_proba
        own = getattr(owner, "classes_", None)
        if reads is not None:
            check_choice("reads", reads, READS)
        outputs = None
        if reads is None or (own is None and given.classes is None):
            reads, outputs = _tried(model, given, reads)
        names = given.class_names(None if own is None else list(own), outputs)
        if reads == TOKENS:
            return FunctionClassifier(
                model, given.encoder(), names, batch_size=batch_size, name=name, initial_output=initial_output
            )
        return TextClassifier(
            model,
            given.encoder("whitespace"),
            names,
            unknown=unknown,
            batch_size=batch_size,
            fingerprint=name,
            initial_output=initial_output,
        )


def _tried(function: Callable[[Any], object], given: WrapArguments, reads: str | None) -> tuple[str, int]:
    """What a function reads, and its number of outputs, from its annotation and its outputs for one text."""
    tried = READS if reads is None else (reads,)
    found: dict[str, int] = {}
    failure = ""
    for form in tried:
        encoder = given.encoder() if form == TOKENS else given.encoder("whitespace")
        texts = [] if given.texts is None else as_texts(given.texts)[:_TRIED]
        words = [token for text in texts for token in encoder.tokens(text)] or list(encoder.vocabulary.words[2:])
        words = (words * _TRIED)[:_TRIED]
        try:
            answer = np.asarray(function([words] if form == TOKENS else [encoder.joined(words)]))
        except Exception as error:  # it is somebody's code
            failure = reason_of(error)
            continue
        if answer.ndim == 2 and len(answer) == 1:
            found[form] = answer.shape[1]
        else:
            failure = f"it returned an array of shape {answer.shape} for one text"
    if not found:
        raise ModelError(
            f"the function cannot score a text ({failure}); it must take a list of token lists, or of strings, and "
            "return probabilities (texts, classes)",
            code="function-failed",
        )
    chosen = next(iter(found)) if len(found) == 1 else _annotated(function) or TOKENS
    if reads is None:
        form, other = ("lists of tokens", TEXT) if chosen == TOKENS else ("strings", TOKENS)
        progress.say(f'the function is given {form} (reads="{chosen}"; reads="{other}" changes that)')
    return chosen, found[chosen]


def _annotated(function: Callable[[Any], object]) -> str | None:
    """What the annotation of a function's first parameter says that it reads."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()))
    except (ValueError, TypeError, StopIteration):
        return None
    named = "" if first.annotation is first.empty else str(first.annotation)
    if named.count("[") >= 2:
        return TOKENS
    return TEXT if named.endswith("[str]") else None
