"""Whether a model's output for a prefix depends on what follows: a check, and what is said where it does."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from wfalens.errors import ModelError, WfalensWarning
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged, positions
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN

_TOLERANCE = 1e-3
_SEQUENCES, _LENGTH = 8, 12
_PROBED = ((6, 12), (2, 40), (1, 150))  # random texts: how many, of how many words


class LookAheadWarning(WfalensWarning):
    """A model looks ahead, so its prefixes are asked as texts of their own."""


@dataclass(frozen=True)
class Contradiction:
    """A prefix whose output changes when more words follow, and by how much."""

    prefix: str
    gap: float


def contradiction(model: PrefixClassifier, texts: Ragged[np.int32]) -> Contradiction | None:
    """Compare outputs on texts with outputs on their first halves: the first that differ, None if all agree.

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
            return Contradiction(" ".join(model.encoder.vocabulary.decode(halves[item])), gap)
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
        raise ModelError(
            f"the model is not causal: its output for the prefix {found.prefix!r} changes by {found.gap:.2g} when more "
            "words follow (a bidirectional network, or padding that leaks), so its trace does not tell what it says of "
            "prefixes; wrap its output for whole texts as a callable (CallableClassifier) instead"
        )


def looks_ahead(model: PrefixClassifier) -> bool:
    """Whether traces of random texts, some of them long, look ahead; if so, a warning says how the model is read."""
    found = next((each for texts in probes(model.encoder) if (each := _tried(model, texts)) is not None), None)
    if found is not None:
        warnings.warn(
            f"the model looks ahead: its output for a prefix changes by {found.gap:.2g} when more words follow, so "
            "every prefix is asked as a text of its own, and a text of t words costs t passes",
            LookAheadWarning,
            stacklevel=4,
        )
    return found is not None


def probes(encoder: TextEncoder) -> list[Ragged[np.int32]]:
    """Random texts of several lengths, the shortest first."""
    rng, words = np.random.default_rng(0), len(encoder.vocabulary)
    longest = encoder.max_length or max(length for _, length in _PROBED)
    lengths = [np.full(number, min(length, longest)) for number, length in _PROBED]
    lengths[0] -= np.arange(len(lengths[0])) % np.maximum(1, lengths[0] - 1)  # unequal ones are padded
    first = min(UNKNOWN + 1, words - 1)
    return [Ragged.from_lengths(rng.integers(first, words, each.sum()).astype(np.int32), each) for each in lengths]


def _tried(model: PrefixClassifier, texts: Ragged[np.int32]) -> Contradiction | None:
    try:
        return contradiction(model, texts)
    except (IndexError, RuntimeError, ValueError):
        if texts.lengths.max() <= _LENGTH:
            raise
        return None  # a model that cannot read so long a text will say so when it is given one
