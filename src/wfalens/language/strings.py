"""Strings of a language model or its automaton: drawn at random, and the most likely ones by best-first search.

No string is more likely than any of its prefixes. The search opens prefixes in falling order of their probability, a
batch at a time, until enough whole strings are known and no open prefix is as likely as the last of them: it is exact.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.language.probability import Language, NextSymbolModel, Stepper
from wfalens.ragged import Ragged
from wfalens.validation import Bounds, whole

_BATCH = 256
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
        longest: symbols after which a string that has not ended is cut.

    Examples:
        >>> from wfalens.language import sample
        >>> len(sample(letters, 3, seed=1, longest=10).texts)
        3
    """
    language = Language.of(model)
    number, longest = _COUNTS.checked("number", number), _COUNTS.checked("longest", longest)
    rng, steps = np.random.default_rng(seed), Stepper(model, longest)
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


class Likely(NamedTuple):
    """A string and the logarithm of its probability."""

    text: str
    ids: tuple[int, ...]
    log_probability: float


class _Open(NamedTuple):
    """A prefix that may be continued: sorted by falling probability, then by age."""

    cost: float  # −ln P of the prefix
    age: int
    ids: tuple[int, ...]
    before: NDArray[np.floating]  # the model's state before the last symbol


def most_likely(model: NextSymbolModel, number: int, *, most: int = 100_000, longest: int = 1000) -> list[Likely]:
    """The most likely strings, most likely first; the search is exact.

    Args:
        model: a language model or its automaton.
        number: of strings.
        most: prefixes after which the search gives up.
        longest: symbols of a prefix at which it gives up.

    Examples:
        >>> from wfalens.language import most_likely
        >>> best, second = most_likely(letters, 2)
        >>> best.log_probability >= second.log_probability
        True
    """
    language = Language.of(model)
    number, most, longest = (
        _COUNTS.checked(name, value) for name, value in (("number", number), ("most", most), ("longest", longest))
    )
    steps = Stepper(model, longest)
    found: list[tuple[float, tuple[int, ...]]] = []  # a heap with the least likely on top: (ln P, ids)
    frontier: list[_Open] = []
    age = opened = 0
    state, outputs = steps.initial_state(1), language.prior[None]
    batch = [_Open(0.0, 0, (), state[0])]
    while batch:
        with np.errstate(divide="ignore"):
            costs = np.array([each.cost for each in batch])[:, None] - np.log(outputs)
        for at, each in enumerate(batch):
            _keep(found, number, -costs[at, language.end], each.ids)
        least = _least(found, number)
        for at, label in zip(*np.nonzero(-costs > least), strict=True):
            if label != language.end:
                age += 1
                ids = (*batch[at].ids, int(language.symbols[label]))
                heapq.heappush(frontier, _Open(float(costs[at, label]), age, ids, state[at]))
        batch = []
        while frontier and len(batch) < _BATCH and -frontier[0].cost > _least(found, number):
            batch.append(heapq.heappop(frontier))
        opened += len(batch)
        if opened > most or any(len(each.ids) > longest for each in batch):
            raise InputError(
                f"the {number:,} most likely strings are not certain after {opened:,} prefixes of up to {longest:,} "
                "symbols; ask for fewer strings, or allow more prefixes"
            )
        if batch:
            words = np.array([each.ids[-1] for each in batch], np.int32)
            state, outputs = steps.step(np.array([each.before for each in batch]), words)
    return [
        Likely(language.spelled(np.array(ids, np.int32)), ids, score)
        for score, ids in sorted(found, key=lambda each: (-each[0], each[1]))
    ]


def _keep(found: list[tuple[float, tuple[int, ...]]], number: int, score: float, ids: tuple[int, ...]) -> None:
    if np.isfinite(score):
        heapq.heappush(found, (float(score), ids))
        if len(found) > number:
            heapq.heappop(found)


def _least(found: list[tuple[float, tuple[int, ...]]], number: int) -> float:
    """ln P that a string must exceed to be kept."""
    return found[0][0] if len(found) == number else -np.inf
