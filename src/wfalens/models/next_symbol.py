"""Language models: classifiers whose classes are the symbols that may come next, and the end.

After every prefix such a model says which symbol comes next, and its `initial_output` says which comes first. So it
gives every string a probability: the product over its symbols and its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import PADDING_WORD, UNKNOWN, Vocabulary

END = "<end>"


class Named(Protocol):
    """Anything with words and classes: a model or an automaton."""

    @property
    def class_names(self) -> tuple[str, ...]: ...

    @property
    def encoder(self) -> TextEncoder: ...


def symbol_classes(vocabulary: Vocabulary) -> tuple[str, ...]:
    """The classes of a language model over all words of a vocabulary; padding and `<unk>` never come next."""
    if END in vocabulary:
        raise InputError(f"{END!r} stands for the end of a text and cannot be a word of it")
    return (*vocabulary.words[UNKNOWN + 1 :], END)


def is_language_model(model: Named) -> bool:
    """Whether the classes are the end and words that the model reads."""
    return END in model.class_names and _strangers(model.class_names, model.encoder.vocabulary) == []


def classes_of_symbols(model: Named) -> NDArray[np.int64]:
    """For every word the class that announces it, -1 where it cannot come next; (V,)"""
    check_next_symbol(model)
    number = {name: at for at, name in enumerate(model.class_names)}
    return np.array([number.get(word, -1) for word in model.encoder.vocabulary.words])


def end_class(model: Named) -> int:
    check_next_symbol(model)
    return model.class_names.index(END)


def check_next_symbol(model: Named) -> None:
    """Refuse a model that is no language model, in one sentence."""
    if END not in model.class_names:
        raise InputError(
            f"this is no language model: none of its classes is the end symbol {END!r}, without which strings have no "
            "probability"
        )
    strangers = _strangers(model.class_names, model.encoder.vocabulary)
    if strangers:
        raise InputError(f"this is no language model: it announces {strangers[0]!r}, a symbol that it does not read")


def _strangers(names: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    """Classes that are neither the end nor a word."""
    return [name for name in names if name != END and (name not in vocabulary or name == PADDING_WORD)]
