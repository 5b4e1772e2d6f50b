"""Checks of a model: look-ahead (its output for a prefix depends on what follows), logits or probabilities, words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, ModelError, WfalensWarning
from wfalens.models.contract import PrefixClassifier
from wfalens.models.preprocessing_options import BINARY, BINARY_LOGITS, LOGITS, PROBABILITIES
from wfalens.ragged import Ragged, positions
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN

_TOLERANCE = 1e-3
_SEQUENCES, _LENGTH = 8, 12
_PROBED = ((6, 12), (2, 40), (1, 150))  # random texts: how many, of how many words
_SUM_TOLERANCE = 1e-4
_SAMPLE = 500  # texts whose words are looked up
_MANY = 1 / 3  # of their words
Readout = Callable[[NDArray[np.floating]], NDArray[np.floating]]


class LookAheadWarning(WfalensWarning):
    """A model looks ahead, so its prefixes are asked as texts of their own."""


def contradiction(model: PrefixClassifier, texts: Ragged[np.int32]) -> tuple[str, float] | None:
    """Compare outputs on texts with those on their first halves: the first half that differs, and by how much, or None.

    A bidirectional network, attention without a mask, or padding that leaks into the outputs all differ here.
    """
    whole = texts.take(np.flatnonzero(texts.lengths >= 2))
    if len(whole) == 0:
        return None
    lengths = np.maximum(1, whole.lengths // 2)
    halves = Ragged.from_lengths(whole.values[positions(whole.offsets[:-1], lengths)], lengths)
    on_whole, on_halves = model.trace(whole), model.trace(halves)
    for item in range(len(halves)):
        gap = float(np.abs(on_halves[item] - on_whole[item][: lengths[item]]).max())
        if gap > _TOLERANCE:
            return " ".join(model.encoder.vocabulary.decode(halves[item])), gap
    return None


def check_causal(model: PrefixClassifier, ids: Ragged[np.int32]) -> None:
    """Refuse a model whose traces look ahead, by a few texts of a corpus.

    Args:
        model: to try.
        ids: texts as word ids; a few of them are tried.

    Examples:
        >>> from wfalens.models import check_causal
        >>> check_causal(model, encoder.encode(corpus.texts))  # raises a ModelError if it looks ahead
    """
    found = contradiction(model, ids.take(np.flatnonzero(ids.lengths >= 2)[:_SEQUENCES]).cut(_LENGTH))
    if found is not None:
        prefix, gap = found
        raise ModelError(
            f"the model is not causal: its output for the prefix {prefix!r} changes by {gap:.2g} when more "
            "words follow (a bidirectional network, or padding that leaks), so its trace does not hold its outputs for "
            "prefixes; wrap a function that returns its outputs for whole texts instead",
            code="looks-ahead",
        )


def looks_ahead(model: PrefixClassifier) -> bool:
    """Whether traces of random texts, some of them long, look ahead; if so, a warning says how the model is read."""
    for texts in probes(model.encoder):
        try:
            found = contradiction(model, texts)
        except (IndexError, RuntimeError, ValueError):
            if texts.lengths.max() <= _LENGTH:
                raise
            continue  # a model that cannot read so long a text will say so when it is given one
        if found is not None:
            warnings.warn(
                f"the model looks ahead: its output for a prefix changes by {found[1]:.2g} when more words follow, so "
                "it is asked text by text, a prefix as a text of its own",
                LookAheadWarning,
                stacklevel=5,
            )
            return True
    return False


def probes(encoder: TextEncoder) -> list[Ragged[np.int32]]:
    """Random texts of several lengths, the shortest first."""
    rng, words = np.random.default_rng(0), len(encoder.vocabulary)
    longest = encoder.max_length or max(length for _, length in _PROBED)
    lengths = [np.full(number, min(length, longest)) for number, length in _PROBED]
    lengths[0] -= np.arange(len(lengths[0])) % np.maximum(1, lengths[0] - 1)  # unequal ones are padded
    first = min(UNKNOWN + 1, words - 1)
    return [Ragged.from_lengths(rng.integers(first, words, each.sum()).astype(np.int32), each) for each in lengths]


def softmax(logits: NDArray[np.floating]) -> NDArray[np.floating]:
    # (…, classes) -> (…, classes)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    shares: NDArray[np.floating] = powers / powers.sum(-1, keepdims=True)
    return shares


ONE_COLUMN = (BINARY, BINARY_LOGITS)  # of the second of two classes: its probability, or its log-odds
READOUTS: dict[str, Readout] = {
    PROBABILITIES: lambda values: values,
    LOGITS: softmax,
    BINARY: lambda values: np.concatenate([1 - values, values], -1),
    BINARY_LOGITS: lambda values: softmax(np.concatenate([np.zeros_like(values), values], -1)),
}


def check_logits(rows: NDArray[np.floating], source: str) -> None:
    """Refuse rows that are distributions already: a softmax over them would blur them. rows: (…, classes)"""
    if rows.shape[-1] > 1 and np.all(rows >= 0) and np.allclose(rows.sum(-1), 1, atol=_SUM_TOLERANCE):
        raise ModelError(
            f'{source} gives probabilities, not logits; give outputs="probabilities" (in the preprocessing: "outputs")',
            code="not-logits",
        )


class UnknownWordsWarning(WfalensWarning):
    """A large share of the words of some texts is unknown to a model."""


def unknown_words(encoder: TextEncoder, texts: Sequence[str], seed: int = 0) -> str | None:
    """A sentence, if more than a third of the words of some texts are unknown; else None."""
    chosen = np.random.default_rng(seed).permutation(len(texts))[:_SAMPLE]
    try:
        ids = encoder.encode([texts[item] for item in chosen]).values
    except InputError:  # whoever reads the texts says it
        return None
    share = float(np.mean(ids == UNKNOWN)) if len(ids) else 0.0
    if share <= _MANY:
        return None
    return (
        f"{share:.0%} of the words of these texts are unknown to the model: is the tokenizer "
        f"({encoder.tokenizer_name}) the one that it was trained with?"
    )
