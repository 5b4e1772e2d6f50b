"""What extraction will ask of a model that pays per call, and about how long that takes: announced beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from wfalens import progress
from wfalens.extraction.completion.probing import words_in_a_call
from wfalens.extraction.deadline import Deadline
from wfalens.extraction.query_budget import QueryBudget
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.inference import asks_every_prefix, last_outputs
from wfalens.ragged import Ragged

_FAST = 10  # prefixes a second that are shown without decimals
_TIMED, _TIMED_TEXTS = 256, 32  # prefixes, or whole texts, of the batch that is timed
_ASKING = 0.5  # share of the time for asking a model that pays for every call; the rest is for training
_MINUTE = 60
_UNITS = ((86400, "days"), (3600, "hours"), (_MINUTE, "minutes"))
Clock = Callable[[], float]


_announced: ContextVar[bool] = ContextVar("wfalens.announced", default=False)


@contextmanager
def announced() -> Iterator[None]:
    """The cost of the whole work was announced: those of its parts are left out."""
    token = _announced.set(True)
    try:
        yield
    finally:
        _announced.reset(token)


def is_announced() -> bool:
    """Whether this is a part of work whose cost was announced."""
    return _announced.get()


def say_cost(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    texts: int,
    beyond: int,
    clock: Clock = time.perf_counter,
) -> None:
    """Say how many prefixes a model that cannot be stepped is asked for at most, and how long a small batch foretells.

    `texts` are prefixes of the extraction texts, `beyond` those that a limit of queries bounds.
    """
    if not isinstance(model, StatefulClassifier) and not _announced.get():
        progress.say(_sentence("prefixes", texts + beyond, _rate(model, ids, clock), limits=beyond > 0))


def limit_calls(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    budget: QueryBudget,
    deadline: Deadline,
    clock: Clock = time.perf_counter,
) -> None:
    """Say how many calls a model that pays for each is asked for at most, and lower the limit to what time allows."""
    batch = _some_texts(ids, _TIMED_TEXTS)
    began = clock()
    last_outputs(model, batch)
    rate = len(batch) / max(clock() - began, 1e-9)
    if deadline.left is not None and budget.limit is not None:
        budget.limit = min(budget.limit, budget.total + max(1, int(_ASKING * deadline.left * rate)))
    if not _announced.get():
        progress.say(_sentence("texts", budget.limit or 0, rate, limits=True))


def most_probing(model: PrefixClassifier, prefixes: int, words: int, longest: int) -> int:
    """What reading so many words after so many prefixes asks at most; `longest` is the length of a prefix at most."""
    if asks_every_prefix(model):
        return prefixes * words
    calls = -(-words // words_in_a_call(prefixes))
    return prefixes * (words + calls * longest)


def most_training(passes: int, tokens: int, ids: Ragged[np.int32]) -> int:
    """What passes over texts of at most so many tokens ask, of which the last is a whole one."""
    return passes * (min(tokens, len(ids.values)) + int(ids.lengths.max()))


def within(budget: QueryBudget, queries: int) -> int:
    """So many queries, or as many as are allowed."""
    left = budget.left()
    return queries if left is None else min(left, queries)


def _rate(model: PrefixClassifier, ids: Ragged[np.int32], clock: Clock) -> float:
    """Prefixes a second, by one small batch of texts from all over the corpus."""
    batch = _some_texts(ids, max(1, round(_TIMED / ids.lengths.mean())))
    began = clock()
    model.trace(batch)
    return len(batch.values) / max(clock() - began, 1e-9)


def _some_texts(ids: Ragged[np.int32], most: int) -> Ragged[np.int32]:
    """At most so many texts from all over the corpus."""
    return ids.take(np.unique(np.linspace(0, len(ids) - 1, min(most, len(ids))).astype(np.int64)))


def _sentence(what: str, queries: int, rate: float, *, limits: bool) -> str:
    pace = f"{rate:,.0f}" if rate >= _FAST else f"{rate:.2g}"
    sentence = f"asks the model for up to {queries:,} {what}; at {pace} a second that takes {_duration(queries / rate)}"
    return f"{sentence}; a lower limit of queries shortens it" if limits else sentence


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return "less than a minute"
    unit, name = next(each for each in _UNITS if seconds >= 2 * each[0] or each is _UNITS[-1])
    return f"about {max(2, round(seconds / unit)):,} {name}"
