"""One stream of random numbers per step, all from one seed: a step's draws do not depend on whether another one ran."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Step(IntEnum):
    """The steps of an extraction that draw."""

    STATES = 0
    AUGMENTATION = 1
    PROBING = 2  # goes on in fitting
    SEARCH = 3
    VIEW = 4


def stream_of(seed: int, step: Step) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(step + 1)[step])
