"""Functions of token lists or of strings, and everything with `predict_proba` over texts, such as scikit-learn's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens import progress
from wfalens.errors import InputError, ModelError
from wfalens.messages import quoted, reason_of
from wfalens.models.adapter_registry import WrapArguments, adapter, packages_of
from wfalens.models.base import BlackBoxClassifier
from wfalens.models.contract import as_array, fingerprint_of
from wfalens.ragged import Ragged
from wfalens.text.corpus import as_texts, labels_of
from wfalens.text.encoder import TextEncoder
from wfalens.text.tokenizers import characters_each
from wfalens.text.vocabulary import UNKNOWN, Vocabulary
from wfalens.validation import check_choice

READS = TOKENS, TEXT = ("tokens", "text")
_PROBES = 16  # words whose outputs identify a model
_REJOINED = 200  # texts that are split into words and joined again
_TRIED = 5  # words of the text that a function is tried on: tokenizers take two for a pair of texts
_MOST_OWN_WORDS = 20_000  # of a pipeline, beyond those of the texts
_NETWORKS = {"torch", "keras", "transformers", "tokenizers"}  # packages whose objects are no functions of texts


class FunctionClassifier(BlackBoxClassifier):
    """Wraps `predict_proba(list of token lists) -> (n, classes)`."""

    def __init__(
        self,
        predict_proba: Callable[[list[list[str]]], object],
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        fingerprint: str | None = None,
        **common: Any,
    ) -> None:
        called = fingerprint or str(getattr(predict_proba, "__name__", type(predict_proba).__name__))
        super().__init__(encoder, class_names, fingerprint=called, **common)
        self.predict_tokens = predict_proba

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        return self.predict_tokens([self.encoder.vocabulary.decode(prefix) for prefix in prefixes])


class TextClassifier(BlackBoxClassifier):
    """Wraps `predict_proba(list of texts) -> (n, classes)`.

    The model reads texts as they stand: `predict_proba` passes them on, and `encode` numbers what is not written as in
    the vocabulary (other words, capitals, marks, blanks) from the size of the vocabulary on, so that `final` and
    `trace` put any choice of words together as they were written. Other word ids stand for the vocabulary's words, and
    that of `<unk>` for `unknown` ("": it is left out). The output for an empty text is the output before any word,
    unless an `initial_output` is given, for a model that cannot read one or answers it at random.
    """

    reads_texts = True  # with words of any spelling

    def __init__(
        self,
        predict_proba: Callable[[list[str]], object],
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        unknown: str = "",
        fingerprint: str | None = None,
        initial_output: ArrayLike | None = None,
        **common: Any,
    ) -> None:
        common |= {"fingerprint": fingerprint or "the model", "initial_output": initial_output}
        super().__init__(encoder, class_names, **common)
        self.has_prior = initial_output is not None  # else the empty text is asked
        self._reads_empty_texts = not self.has_prior  # until it has failed on one
        self.predict_texts = predict_proba
        self._known = list(encoder.vocabulary.words)
        self._known[UNKNOWN] = unknown
        self._gap = encoder.joined(("", ""))  # what stands between two words
        self._written: list[str] = []  # beyond the vocabulary
        self._number: dict[tuple[str, int], int] = {}
        self._word_of: list[int] = []  # as which word of the vocabulary each is read
        if fingerprint is None:
            self.fingerprint = self._output_hash()

    def answers(self, prefixes: Ragged[np.int32]) -> object:
        texts = [self.text_of(prefix) for prefix in prefixes]
        worded = [at for at, text in enumerate(texts) if text]
        if len(worded) == len(texts):
            return self.predict_texts(texts)
        outputs = np.tile(self.initial_output, (len(texts), 1))  # of unknown words that are left out
        if self._reads_empty_texts:
            return self.predict_texts(texts)
        if worded:
            outputs[worded] = as_array(self.predict_texts([texts[at] for at in worded]))
        return outputs

    def text_of(self, ids: NDArray[np.int32]) -> str:
        """The text that the model is given for word ids."""
        size = len(self._known)
        if not len(ids) or ids.max() < size:
            return self.encoder.joined([word for word in (self._known[word] for word in ids) if word])
        pieces = [self._written[number - size] if number >= size else self._gap + self._known[number] for number in ids]
        return "".join(pieces).strip() if self._gap else "".join(pieces)

    def encode(self, texts: Sequence[str]) -> Ragged[np.int32]:
        closed = self.encoder.encode(texts)
        if characters_each(self.encoder.tokenizer_name) not in (None, 1):
            return closed  # n-grams overlap: they are no pieces of a text
        values = closed.values.copy()
        for text, start in zip(as_texts(texts), closed.offsets.tolist(), strict=False):
            for place, piece in enumerate(self.encoder.pieces(text), start):
                word = self._known[values[place]]
                if piece != (word if place == start else self._gap + word):
                    values[place] = self._number_of(piece, int(values[place]))
        return Ragged(values, closed.offsets)

    def _number_of(self, piece: str, word: int) -> int:
        if (piece, word) not in self._number:
            self._number[piece, word] = len(self._known) + len(self._written)
            self._written.append(piece)
            self._word_of.append(word)
        return self._number[piece, word]

    def folded(self, ids: Ragged[np.int32]) -> Ragged[np.int32]:
        size, values = len(self._known), ids.values.copy()
        beyond = values >= size
        values[beyond] = np.array(self._word_of, np.int32)[values[beyond] - size]
        return Ragged(values, ids.offsets)

    def predict_proba(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's output for texts as they stand; equal ones are asked once. -> (texts, classes)

        Args:
            texts: a list of strings, a pandas Series, a numpy array or a Corpus
        """
        if self.encoder.max_length is not None:
            return super().predict_proba(texts)  # of which it shall read the beginning only
        strings = as_texts(texts)
        distinct = sorted(dict.fromkeys(strings), key=len)  # a model that pads reads texts of like length together
        outputs = np.empty((len(distinct), len(self.class_names)), np.float32)
        for first in range(0, len(distinct), self.batch_size):
            batch = distinct[first : first + self.batch_size]
            outputs[first : first + len(batch)] = self._ask_texts(batch)
        place = {text: at for at, text in enumerate(distinct)}
        return outputs[[place[text] for text in strings]]

    def say_rejoined(self, texts: object) -> None:
        """Say if some texts are others after they were split into words and joined again."""
        some = [] if texts is None else as_texts(texts)[:_REJOINED]
        words = [self.encoder.tokens(text) for text in some]
        shown = [self.text_of(ids) for ids in self.encode(some)] if self.encoder.max_length is None else some
        apart = [
            text
            for text, own, after in zip(some, words, shown, strict=True)
            if after.strip() != text.strip() or self.encoder.tokens(self.encoder.joined(own)) != own
        ]
        if apart:
            progress.say(
                f"{len(apart)} of {len(some)} texts are not the same after the tokenizer "
                f"({self.encoder.tokenizer_name}) has split them and their words are joined again, such as "
                f"{quoted(apart[0])}: where words are replaced, the model is shown other texts than were meant"
            )

    def _ask_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.paid(len(texts), texts.__getitem__, lambda items: self.predict_texts([texts[at] for at in items]))

    @cached_property
    def initial_output(self) -> NDArray[np.float32]:
        """As it was given, else the model's output for an empty text; (classes,)"""
        if self.has_prior:
            return self._prior
        try:
            return np.asarray(self._ask_texts([""])[0])
        except ModelError:
            self._ask_texts(self._known[-1:])  # fails, too, if it is not the empty text that the model cannot read
        self._reads_empty_texts = False
        progress.say(
            "the model cannot read an empty text; the output before any word is taken to be uniform "
            "(initial_output=[…] sets it)"
        )
        return self._prior

    def _output_hash(self) -> str:
        """A hash of the outputs for frequent words, alone and in pairs: equal after saving and loading."""
        words = [word for word in self._known[1 : _PROBES + 1] if word]
        pairs = [self.encoder.joined(pair) for pair in pairwise(words)]
        return fingerprint_of(np.round(self._ask_texts([*words, *pairs]), 6))


@adapter
class FunctionAdapter:
    """A function from n token lists, or from n strings, to class probabilities (n, classes).

    Anything with `predict_proba`, such as a fitted scikit-learn pipeline whose first step reads texts, is one of
    strings.
    """

    kind = "a function of token lists or of texts, or a scikit-learn pipeline"
    is_general = True

    def accepts(self, model: Any) -> bool:
        packages = packages_of(model)
        is_function = callable(model) or hasattr(model, "predict_proba") or "sklearn" in packages
        return is_function and not isinstance(model, type) and not packages & _NETWORKS

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
        labels: Sequence[str] | None = None,
    ) -> BlackBoxClassifier:
        """Options: what the function reads (tokens or text); what stands for unknown words; texts in a call; a name
        that identifies the model; the output before any word; labels, where it gives each a probability of its own."""
        if reads is not None:
            check_choice("reads", reads, READS)
        has_method = hasattr(model, "predict_proba") or not callable(model)
        owner = model if has_method else getattr(model, "__self__", None)  # of pipeline.predict_proba
        own, outputs = getattr(owner, "classes_", None), None
        if has_method:
            model, reads = _predict_proba(model), reads or TEXT
        if reads is None or (own is None and (has_method or given.classes is None)):
            reads, outputs = _tried(model, given, reads)
        labels = labels or labels_of(() if given.classes is None else given.class_names())
        if labels:
            from wfalens.models.adapters.multi_label import MultiLabelClassifier

            if reads == TOKENS:
                raise InputError("a model with labels reads strings, not lists of tokens", code="option-conflict")
            return MultiLabelClassifier(
                model, given.encoder(), labels, unknown=unknown, batch_size=batch_size, fingerprint=name
            )
        names = given.class_names(None if own is None else list(own), outputs)
        common: dict[str, Any] = {"batch_size": batch_size, "fingerprint": name, "initial_output": initial_output}
        if reads == TOKENS:
            return FunctionClassifier(model, given.encoder(), names, **common)
        encoder = given.encoder() if given.vocab is not None else _with_own_words(given.encoder(), owner)
        wrapped = TextClassifier(model, encoder, names, unknown=unknown, **common)
        wrapped.say_rejoined(given.texts)
        return wrapped


def _with_own_words(encoder: TextEncoder, pipeline: Any) -> TextEncoder:
    """The encoder with the words that a pipeline's vectorizers know beside those of the texts, the frequent ones."""
    rarity: dict[str, float] = {}
    for _, step in getattr(pipeline, "steps", ()):
        if getattr(step, "analyzer", None) == "word" and hasattr(step, "vocabulary_"):
            idf = getattr(step, "idf_", np.zeros(len(step.vocabulary_)))
            rarity |= {word: float(idf[column]) for word, column in step.vocabulary_.items()}
    known = encoder.vocabulary
    new = [word for word in rarity if known.id_of(word) == UNKNOWN and encoder.tokens(word) == [word]]
    new.sort(key=lambda word: (rarity[word], word))
    return replace(encoder, vocabulary=Vocabulary((*known.words, *new[:_MOST_OWN_WORDS]))) if new else encoder


def _predict_proba(model: Any) -> Callable[[list[str]], object]:
    function = getattr(model, "predict_proba", None)
    if not callable(function):
        raise ModelError(
            f"{type(model).__name__} has no predict_proba; end the pipeline with a classifier that has, "
            "or calibrate it (CalibratedClassifierCV)",
            code="no-probabilities",
        )
    found: Callable[[list[str]], object] = function
    return found


def _tried(function: Callable[[Any], object], given: WrapArguments, reads: str | None) -> tuple[str, int]:
    """What a function reads, and its number of outputs, from its annotation and its outputs for one text."""
    tried = READS if reads is None else (reads,)
    found: dict[str, int] = {}
    answers: dict[str, NDArray[np.float64]] = {}
    failure = ""
    for form in tried:
        encoder = given.encoder()
        texts = [] if given.texts is None else as_texts(given.texts)[:_TRIED]
        words = [token for text in texts for token in encoder.tokens(text)] or list(encoder.vocabulary.words[2:])
        words = (words * _TRIED)[:_TRIED]
        try:
            answer = as_array(function([words] if form == TOKENS else [encoder.joined(words)]))
        except Exception as error:  # it is somebody's code
            failure = reason_of(error)
            continue
        if answer.ndim == 2 and len(answer) == 1:
            found[form], answers[form] = answer.shape[1], answer
        else:
            failure = f"it returned an array of shape {answer.shape} for one text"
    if not found:
        raise ModelError(
            f"the function cannot score a text ({failure}); it must take a list of token lists, or of strings, and "
            "return probabilities (texts, classes)",
            code="function-failed",
        )
    if len(found) == 1:
        chosen = next(iter(found))
    else:  # a function that makes a string of whatever it is given reads strings
        formats = np.array_equal(as_array(function([str(words)])), answers[TOKENS])
        chosen = _annotated(function) or (TEXT if formats else TOKENS)
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
