"""Strings drawn from a language model or its automaton."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.language.continuation import stepper
from wfalens.language.probability import Language, NextSymbolModel
from wfalens.ragged import Ragged
from wfalens.validation import Bounds, whole

_COUNTS = Bounds(whole, 1, 10**7)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Strings, and whether each has ended: one that has not was cut at the longest length."""

    ids: Ragged[np.int32]
    ended: NDArray[np.bool_]
    texts: tuple[str, ...]


def sample(model: NextSymbolModel, number: int, *, seed: int = 0, longest: int = 1000) -> Drawn:
    """Draw strings at random, symbol by symbol, all side by side.

    Args:
        model: a language model or its automaton.
        number: of strings.
        seed: equal seeds give equal strings.
        longest: symbols after which a string that goes on is cut.

    Examples:
        >>> from wfalens.language import sample
        >>> len(sample(letters, 3, seed=1, longest=10).texts)
        3
    """
    language = Language.of(model)
    number, longest = _COUNTS.checked("number", number), _COUNTS.checked("longest", longest)
    rng, steps = np.random.default_rng(seed), stepper(model, longest)
    table = np.zeros((number, longest), np.int32)
    lengths, ended = np.zeros(number, np.int64), np.zeros(number, bool)
    going, state = np.arange(number), steps.initial_state(number)
    outputs = np.tile(language.prior, (number, 1))
    for position in range(longest + 1):
        drawn = _drawn(outputs, rng)
        goes_on = drawn != language.end
        ended[going[~goes_on]] = True
        going, state = going[goes_on], state[goes_on]
        if len(going) == 0 or position == longest:
            break
        words = language.symbols[drawn[goes_on]]
        table[going, position] = words
        lengths[going] += 1
        state, outputs = steps.step(state, words)
    ids = Ragged.from_lengths(table[np.arange(longest) < lengths[:, None]], lengths)
    return Drawn(ids, ended, tuple(map(language.spelled, ids)))


def _drawn(outputs: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.int64]:
    """A class for every row, by its probability; (N, classes) -> (N,)"""
    sums = np.cumsum(outputs, axis=1, dtype=np.float64)
    return np.asarray((sums <= rng.random((len(sums), 1)) * sums[:, -1:]).sum(1))
