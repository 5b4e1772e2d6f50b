"""Adapters: how `wrap` recognises and reads a kind of model. A new kind is one module with a class under `@adapter`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.messages import listed
from wfalens.models.preprocessing import Preprocessing, preprocessing_of
from wfalens.text.corpus import Corpus, as_texts, named_classes
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import Vocabulary
from wfalens.validation import check_known

WordIds = NDArray[np.int64]  # (V,): the model's own id of every word of a vocabulary


class Adapter(Protocol):
    """One kind of model.

    `kind` names it in messages. An adapter that accepts models of many kinds has an attribute `is_general = True` and
    is tried last; one of models that read word ids has `reads_ids = True`, and `given.ids` has the `IdOptions`.
    """

    kind: str

    def accepts(self, model: Any) -> bool:
        """Whether this is a model of its kind; must be quick and import nothing."""
        ...

    # `wrap(self, model, given: WrapArguments, **options) -> PrefixClassifier`; its keywords are the options of `wrap`
    wrap: Any


_Kind = TypeVar("_Kind", bound=type[Any])
_ADAPTERS: list[Adapter] = []


def adapter(kind: _Kind) -> _Kind:
    """Class decorator: make a kind of model known to `wrap`. What is registered later is tried earlier.

    Args:
        kind: a class with `kind`, `accepts(model)` and `wrap(model, given, **options)` (see `Adapter`).

    Examples:
        >>> from wfalens.models import adapter
        >>> @adapter
        ... class Constant:
        ...     kind = "a list of class probabilities"
        ...     def accepts(self, model):
        ...         return isinstance(model, list)
        ...     def wrap(self, model, given):
        ...         return wl.wrap(lambda texts: [model] * len(texts), vocab=given.encoder(), classes=given.classes)
        >>> wl.wrap([0.2, 0.8], texts=texts, classes=("bad", "good")).predict(["a film"]).tolist()
        ['good']
    """
    _ADAPTERS.insert(0, kind())
    return kind


def adapter_of(model: object) -> Adapter:
    """The adapter that accepts a model."""
    by_rank = sorted(_ADAPTERS, key=lambda each: getattr(each, "is_general", False))
    for each in by_rank:
        if each.accepts(model):
            return each
    kinds = ", ".join(each.kind for each in by_rank)
    raise InputError(f"cannot wrap {type(model).__name__}; a model is one of: {kinds}", code="unknown-model")


@dataclass(frozen=True)
class IdOptions:
    """How texts become the batches of ids that a model reads, and what it gives for them; None: as it says itself.

    Args:
        outputs: what the rows are: logits, probabilities, or of the second class alone: binary, binary_logits.
        width: words to which texts are padded.
        padding_side: where shorter texts are padded.
        truncation_side: where longer texts lose words.
        word_ids: the model's own id of every word.
    """

    outputs: str | None = None
    width: int | None = None
    padding_side: str | None = None
    truncation_side: str | None = None
    word_ids: Any = None


def split_options(which: Adapter, options: Mapping[str, Any]) -> tuple[dict[str, Any], IdOptions]:
    """The options of an adapter alone, and those that models that read ids share; others are refused."""
    shared = [each.name for each in fields(IdOptions)] if getattr(which, "reads_ids", False) else []
    own = [name for name, each in inspect.signature(which.wrap).parameters.items() if each.kind is each.KEYWORD_ONLY]
    check_known(which.kind, options, [*own, *shared])
    given = {name: value for name, value in options.items() if name in own}
    return given, IdOptions(**{name: value for name, value in options.items() if name not in own})


def packages_of(model: object) -> set[str]:
    """The packages that a model's class and its base classes come from, found without importing them."""
    return {base.__module__.partition(".")[0] for base in type(model).__mro__}


@dataclass(frozen=True)
class WrapArguments:
    """What `wrap` was given beside the model, as its adapter reads it.

    Args:
        texts: some texts, or a corpus.
        vocab: the model's words.
        tokenizer: how a text becomes words.
        classes: names of the classes.
        preprocessing: how the model was trained to read texts.
        max_length: words after which a text is cut.
        ids: how a model that reads ids is given texts.

    Examples:
        >>> from wfalens.models import WrapArguments
        >>> WrapArguments(texts=["a good film"], classes=["bad", "good"]).class_names()
        ('bad', 'good')
    """

    texts: Any = None
    vocab: Any = None
    tokenizer: Any = None
    classes: Any = None
    preprocessing: Preprocessing | None = None
    max_length: int | None = None
    ids: IdOptions = IdOptions()

    def encoder(self, tokenizer: str = "basic_english") -> TextEncoder:
        """The words of the automaton, for a model that reads words or texts; `tokenizer` is the default."""
        if self.vocab is not None or self.preprocessing is not None:
            return self.encoder_and_ids(tokenizer, closed=True)[0]
        if self.texts is None:
            raise InputError(
                "the words of the automaton are not known; give some texts (texts=…), or the words (vocab=…)",
                code="vocab-needed",
            )
        return TextEncoder.of_texts(as_texts(self.texts), **{"tokenizer": tokenizer, **self._reading})

    def encoder_and_ids(
        self, tokenizer: str = "basic_english", closed: bool = False
    ) -> tuple[TextEncoder, WordIds | None]:
        """The encoder for a model that reads ids, and its own id of every word (None: those of the encoder).

        closed: whether a dictionary may lack a word for unknown words
        """
        if self.vocab is None:
            if self.preprocessing is None:
                raise InputError(
                    "the model reads word ids; give its vocabulary (vocab={word: id} or the words in the order of "
                    "their ids)",
                    code="vocab-needed",
                )
            return replace(self.preprocessing.encoder, **self._reading), self.preprocessing.word_ids
        if isinstance(self.vocab, TextEncoder):
            return replace(self.vocab, **self._reading), None
        vocabulary, ids = self.vocab, None
        if not isinstance(vocabulary, Vocabulary):
            vocabulary, ids = Vocabulary.from_ids(self._own_ids(), closed=closed)
            ids = None if np.array_equal(ids, np.arange(len(ids))) else ids
        return TextEncoder(vocabulary, **{"tokenizer": tokenizer, **self._reading}), ids

    @property
    def _reading(self) -> dict[str, Any]:
        """What was said of tokenizer and length."""
        given = {"tokenizer": self.tokenizer, "max_length": self.max_length}
        return {name: value for name, value in given.items() if value is not None}

    def described(self, path: Path, stored: Callable[[Path], str | None] | None = None) -> Preprocessing:
        """How the model in a file reads texts: as is given, else as the file beside it or its own says."""
        read, ids = self.preprocessing or preprocessing_of(path, stored), self.ids
        return read.read_as(ids.padding_side, truncation_side=ids.truncation_side, outputs=ids.outputs)

    def class_names(self, own: Sequence[object] | None = None, outputs: int | None = None) -> tuple[str, ...]:
        """The names that were given, else the model's own, the corpus's, or numbers.

        own: as the model has them; outputs: the number of its outputs
        """
        if self.classes is not None:
            return named_classes(self.classes)
        if self.preprocessing is not None:
            return self.preprocessing.class_names
        if own is not None:
            return named_classes(own)
        of_corpus = self.texts.class_names if isinstance(self.texts, Corpus) else ()
        if of_corpus and outputs in (None, len(of_corpus)):
            progress.say(
                f"the model's classes are taken to be those of the texts, in their order: {listed(of_corpus)} "
                "(classes=[…] names others)"
            )
            return of_corpus
        if outputs is None or outputs < 2:
            raise InputError("the names of the classes are not known; give them (classes=[…])", code="classes-needed")
        names = tuple(map(str, range(outputs)))
        progress.say(
            f"the model does not name its classes; they are called {', '.join(names)} (classes=[…] names them)"
        )
        return names

    def _own_ids(self) -> dict[str, int]:
        """A dictionary as it is; words in a list have their positions as ids."""
        if isinstance(self.vocab, Mapping):
            return dict(self.vocab)
        if isinstance(self.vocab, str | bytes) or not hasattr(self.vocab, "__iter__"):
            raise InputError(
                f"vocab must be a dictionary of ids, a list of words, a Vocabulary or a TextEncoder, not "
                f"{type(self.vocab).__name__}",
                code="vocab",
            )
        words = list(self.vocab)
        if len(set(words)) < len(words):
            raise InputError("a word stands twice in the vocabulary", code="vocab")
        return {word: number for number, word in enumerate(words)}
