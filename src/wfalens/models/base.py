"""Base classes of models: scikit-learn's methods over texts, and models that are asked whole texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wfalens.errors import ModelError
from wfalens.html import table_html
from wfalens.messages import listed, quoted, reason_of
from wfalens.models.answer_cache import AnswerCache
from wfalens.models.contract import checked_prior, checked_probabilities
from wfalens.models.inference import PrefixTree, last_outputs, prefix_tree, with_initial_output
from wfalens.ragged import Ragged
from wfalens.text.corpus import named_classes
from wfalens.text.encoder import TextEncoder
from wfalens.validation import Bounds, whole

_BATCHES = Bounds(whole, 1, 1 << 30)  # texts asked at once


class Classifier(ABC):
    """Gives a model with `trace` what users of scikit-learn expect: `predict_proba`, `predict` and `classes_`.

    Args:
        encoder: how a text becomes word ids.
        class_names: in the order of the outputs.
        fingerprint: identifies the model.
        initial_output: probabilities (classes,) before any word (default: uniform).

    Examples:
        >>> model.predict(["a good film"]).tolist()[0] in model.classes_
        True
    """

    encoder: TextEncoder
    class_names: tuple[str, ...]
    fingerprint: str

    def __init__(
        self,
        encoder: TextEncoder,
        class_names: Sequence[object],
        *,
        fingerprint: str,
        initial_output: ArrayLike | None = None,
    ) -> None:
        self.encoder, self.class_names, self.fingerprint = encoder, named_classes(class_names), fingerprint
        self._prior = checked_prior(initial_output, len(self.class_names))

    @abstractmethod
    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """One probability row per token: row t scores the prefix that ends there. -> (tokens, classes)

        Args:
            ids: word ids of texts
        """

    @property
    def initial_output(self) -> NDArray[np.float32]:
        """The distribution before any word: as it was given, else uniform; (classes,)"""
        return self._prior

    @property
    def classes_(self) -> NDArray[Any]:
        """The class names, in the order of the columns; (classes,)"""
        return np.array(self.class_names)

    def final(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """The output after the last word of every text, the initial output for one without words. -> (texts, classes)

        Args:
            texts: word ids of texts

        Examples:
            >>> model.final(encoder.encode(["a good film", ""])).shape
            (2, 2)
        """
        return last_outputs(self, texts)

    def predict_proba(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Class probabilities of whole texts; one without words gets the initial output. -> (texts, classes)

        Args:
            texts: a list of strings, a pandas Series, a numpy array or a Corpus

        Examples:
            >>> model.predict_proba(["a good film", ""]).shape
            (2, 2)
        """
        return last_outputs(self, self.encode(texts))

    def encode(self, texts: Sequence[str]) -> Ragged[np.int32]:
        """Word ids of texts, as `trace` and `final` read them.

        Args:
            texts: as for `predict_proba`

        Examples:
            >>> model.encode(["a good film", ""]).lengths
            array([3, 0])
        """
        return self.encoder.encode(texts)

    def folded(self, ids: Ragged[np.int32]) -> Ragged[np.int32]:
        """Word ids of the vocabulary, as an automaton reads them, for those that `encode` gave.

        Args:
            ids: word ids of texts
        """
        return ids

    def predict(self, texts: Sequence[str]) -> NDArray[Any]:
        """The name of the most probable class of every text; (texts,)

        Args:
            texts: as for `predict_proba`

        Examples:
            >>> model.predict(["a good film"]).shape
            (1,)
        """
        return np.asarray(self.classes_[self.predict_proba(texts).argmax(1)])

    def __repr__(self) -> str:
        words, classes = f"{len(self.encoder.vocabulary):,} words", listed(self.class_names)
        return f"<{type(self).__name__}: {words}, tokenizer {self.encoder.tokenizer_name}, classes {classes}>"

    def _repr_html_(self) -> str:
        encoder = self.encoder
        rows = [
            ["classes", listed(self.class_names)],
            ["words", f"{len(encoder.vocabulary):,}"],
            ["tokenizer", encoder.tokenizer_name],
            ["reads", encoder.reads],
            ["fingerprint", self.fingerprint],
        ]
        return table_html(type(self).__name__, ["", ""], rows)


class BlackBoxClassifier(Classifier):
    """A model that is asked for whole texts, every prefix as a text of its own, so it may read a text in any order.

    All questions go through `paid`, in batches: it checks the outputs, and counts the texts in `queries`, also those
    that are asked again after a failure. Prefixes that several texts share are asked once per call of `trace`, and
    `final` asks for whole texts only, equal ones once. With a `cache`, no text is asked twice.

    Args:
        encoder: how a text becomes word ids.
        class_names: in the order of the outputs.
        batch_size: texts in a call at most.
        common: `fingerprint` and `initial_output`, as of `Classifier`.

    Examples:
        >>> from wfalens.models import BlackBoxClassifier
        >>> isinstance(model, BlackBoxClassifier)
        True
    """

    asks_every_prefix = True
    reads_texts = False  # as they stand; else words of the vocabulary

    def __init__(
        self, encoder: TextEncoder, class_names: Sequence[object], *, batch_size: int = 1024, **common: Any
    ) -> None:
        super().__init__(encoder, class_names, **common)
        self.batch_size: int = _BATCHES.checked("batch_size", batch_size)
        self.queries, self.cached = 0, 0  # texts that it was asked for, and those whose answers the cache had
        self.cache: AnswerCache | None = None

    @abstractmethod
    def answers(self, prefixes: Ragged[np.int32]) -> object:
        """The model's output for each prefix as a text of its own; -> (prefixes, classes)"""

    def text_of(self, ids: NDArray[np.int32]) -> str:
        """What the model is given for word ids, as a text."""
        return " ".join(self.encoder.vocabulary.decode(ids))

    def ask(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """Checked outputs for texts, in one call unless the model fails; -> (texts, classes)"""
        return self.paid(
            len(texts), lambda item: self.text_of(texts[item]), lambda items: self.answers(texts.take(items))
        )

    def paid(
        self, texts: int, text_of: Callable[[int], str], answers: Callable[[NDArray[np.int64]], object]
    ) -> NDArray[np.float32]:
        """Outputs for so many texts: those of the cache, and for the others the model's answers, which are kept.

        Where the model fails it is asked again in halves, down to the text that it fails on. -> (texts, classes)
        """
        outputs, missing = np.empty((texts, len(self.class_names)), np.float32), np.arange(texts)
        if self.cache is not None:
            spelled = [text_of(item) for item in range(texts)]
            known, outputs = self.cache.find(self.fingerprint, spelled, len(self.class_names))
            missing = np.flatnonzero(~known)
            self.cached += len(spelled) - len(missing)
        pending = [missing] if len(missing) else []
        while pending:
            items = pending.pop()
            self.queries += len(items)  # also where the model fails: each of them may have to be paid
            try:
                answer = checked_probabilities(answers(items), len(items), len(self.class_names), "the model")
            except Exception as error:
                if len(items) == 1:
                    raise failure_on(error, text_of(int(items[0]))) from error
                pending += [items[len(items) // 2 :], items[: len(items) // 2]]
                continue
            outputs[items] = answer
            if self.cache is not None:
                self.cache.store(self.fingerprint, [spelled[item] for item in items], answer)
        return outputs

    def _ask_prefixes(self, tree: PrefixTree, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Outputs for some prefixes of a tree, in batches; -> (prefixes, classes)"""
        outputs = np.empty((len(numbers), len(self.class_names)), np.float32)
        for start in range(0, len(numbers), self.batch_size):
            batch = slice(start, start + self.batch_size)
            outputs[batch] = self.ask(tree.spelled(numbers[batch]))
        return outputs

    def trace(self, ids: Ragged[np.int32]) -> Ragged[np.float32]:
        """One probability row per token, each prefix asked as a text of its own. -> (tokens, classes)

        Args:
            ids: word ids of texts
        """
        tree = prefix_tree(ids)
        return Ragged(self._ask_prefixes(tree, np.arange(len(tree)))[tree.of_token], ids.offsets)

    def final(self, texts: Ragged[np.int32]) -> NDArray[np.float32]:
        """The output for every whole text; equal texts are asked once. -> (texts, classes)

        Args:
            texts: word ids of texts
        """
        worded, ids = texts.nonempty()
        tree = prefix_tree(ids)
        ends, of_text = np.unique(tree.of_token[ids.offsets[1:] - 1], return_inverse=True)
        return with_initial_output(self, self._ask_prefixes(tree, ends)[of_text], worded, len(texts))


def failure_on(error: Exception, text: str) -> ModelError:
    """One sentence about the text on which a model fails."""
    if isinstance(error, ModelError):
        return ModelError(f"{error}; asked about the text {quoted(text)}", code=error.code)
    return ModelError(f"the model fails on the text {quoted(text)} ({reason_of(error)})", code="model-fails")
