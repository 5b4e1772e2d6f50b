"""Does a model know the words of some texts? If not, its tokenizer may be another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wfalens.errors import InputError, WfalensWarning
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN

_SOME = 500  # texts that are looked at
_MANY = 1 / 3  # of their words


class UnknownWordsWarning(WfalensWarning):
    """A large share of the words of some texts is unknown to a model."""


def unknown_words(encoder: TextEncoder, texts: Sequence[str], seed: int = 0) -> str | None:
    """A sentence, if more than a third of the words of some texts are unknown; else None."""
    chosen = np.random.default_rng(seed).permutation(len(texts))[:_SOME]
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
