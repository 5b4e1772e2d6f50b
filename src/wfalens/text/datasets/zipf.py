"""Words drawn as in natural text: few are frequent, many are rare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def draw_word(words: Sequence[str], rng: np.random.Generator) -> str:
    """A word with probability falling as 1 / (rank + 2), by inverting the harmonic sum's logarithm."""
    rank = int(np.expm1(rng.random() * np.log1p(len(words) / 2)) * 2)
    return words[min(rank, len(words) - 1)]
