"""The texts that training leaves aside to measure itself on: found again by the seed alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.balance import balanced
from wfalens.models.contract import Named, is_language_model
from wfalens.ragged import Ragged, positions

_SHARE, _MOST = 0.1, 2000  # of the texts, and texts at most


class Division(NamedTuple):
    """Texts that are held out, and the others."""

    held: Ragged[np.int32]
    known: Ragged[np.int32]


def divided(ids: Ragged[np.int32], seed: int, groups: NDArray[np.int64] | None = None) -> Division:
    """A random tenth of the texts, 2,000 at most, and the rest, balanced by its classes if these are given. (texts,)"""
    held, known = split(len(ids), seed)
    return Division(ids.take(held), balanced(ids.take(known), None if groups is None else groups[known]))


def split(texts: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers of the texts that are held out, and of the others."""
    order = np.random.default_rng(seed).permutation(texts)
    held = max(1, min(_MOST, round(_SHARE * texts)))
    return np.sort(order[:held]), np.sort(order[held:])


def comparison_prefixes(model: Named, texts: Ragged[np.int32]) -> Ragged[np.int32]:
    """The texts after which automata are compared with their model: of a language model, prefixes of random length.

    A language model says something of every prefix, and the end of a text is only one of them.
    """
    lengths = comparison_lengths(model, texts)
    return Ragged.from_lengths(texts.values[positions(texts.offsets[:-1], lengths)], lengths)


def comparison_lengths(model: Named, texts: Ragged[np.int32]) -> NDArray[np.int64]:
    """After how many words of each text automata are compared with their model; no text may be empty. -> (texts,)"""
    if not is_language_model(model):
        return texts.lengths
    return np.random.default_rng(0).integers(1, texts.lengths + 1)
