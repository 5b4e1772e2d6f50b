"""The texts that training leaves aside to measure itself on: found again by the seed alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wfalens.ragged import Ragged

_SHARE, _MOST = 0.1, 2000  # of the texts, and texts at most


class Division(NamedTuple):
    """Texts that are held out, and the others."""

    held: Ragged[np.int32]
    known: Ragged[np.int32]


def divided(ids: Ragged[np.int32], seed: int) -> Division:
    """A random tenth of the texts, 2,000 at most, and the rest."""
    order = np.random.default_rng(seed).permutation(len(ids))
    held = max(1, min(_MOST, round(_SHARE * len(ids))))
    return Division(ids.take(np.sort(order[:held])), ids.take(np.sort(order[held:])))
