"""Options of the built-in networks and of their training; importing them loads neither numpy nor torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from wfalens.errors import InputError
from wfalens.text.tokenizers import CUSTOM, KNOWN, LENGTHS, Tokenizer
from wfalens.validation import Bounds, Options, option, real, whole

CELL_NAMES = ("lstm", "gru", "elman")
CLASS, NEXT = TASKS = ("class", "next")


@dataclass(frozen=True, kw_only=True)
class RNNConfig(Options):
    """Shape of the network; the defaults are the paper's.

    Examples:
        >>> from wfalens import RNNConfig
        >>> RNNConfig(cell="gru", hidden=32).embedding
        100
    """

    cell: str = option("lstm", "lstm, gru or elman", CELL_NAMES)
    embedding: int = option(100, "numbers in a word's vector", Bounds(whole, 1, 1 << 16))
    hidden: int = option(64, "numbers in a layer's state", Bounds(whole, 1, 1 << 16))
    layers: int = option(1, "recurrent layers, one above the other", Bounds(whole, 1, 64))
    dropout: float = option(0.5, "share of numbers that training leaves out", Bounds(real, 0, 1, excluded=(1,)))


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(Options):
    """How a network is trained: the options of `Trainer`."""

    task: str = option(
        "class", "class, or next: a language model, whose classes are the words and the end of the text", TASKS
    )
    epochs: int = option(25, "passes over the texts at most", Bounds(whole, 1, 10**6))
    batch_size: int = option(64, "texts in a step of Adam", Bounds(whole, 1, 10**6))
    learning_rate: float = option(2e-3, "of Adam", Bounds(real, 0, 10, excluded=(0,)))
    weight_decay: float = option(0.0, "of Adam", Bounds(real, 0, 10))
    word_dropout: float = option(
        0.02, "share of words that become <unk> in training, to learn unknown words", Bounds(real, 0, 1, excluded=(1,))
    )
    clip: float = option(1.0, "largest norm of the gradient", Bounds(real, 0, math.inf, excluded=(0,)))
    validation: float = option(
        0.1, "share of the texts that is held out to choose the best epoch", Bounds(real, 0, 1, excluded=(0, 1))
    )
    patience: int = option(4, "epochs without improvement before training ends", Bounds(whole, 1, 10**6))
    balance_classes: bool = option(False, "weight classes by their size, so that small ones count as much")
    min_count: int = option(1, "occurrences that a word needs to be in the vocabulary", Bounds(whole, 1, 10**9))
    max_words: int | None = option(None, "most frequent words to keep (default: all)", Bounds(whole, 1, 10**9, (None,)))
    max_length: int | None = option(None, "words after which texts are cut (default: never)", LENGTHS)
    tokenizer: str | Tokenizer = option("basic_english", "how a text becomes words: a name or a function")
    seed: int = option(0, "of everything random", Bounds(whole, 0, (1 << 64) - 1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.task == NEXT and self.balance_classes:
            raise InputError("balance_classes weights the classes of texts, which a language model has none of")
        if self.tokenizer == CUSTOM:
            raise InputError(f"unknown tokenizer {CUSTOM!r}; choose one of {KNOWN}, or give a callable")
