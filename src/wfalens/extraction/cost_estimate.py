"""What extraction will ask of a model that pays per call, and about how long that takes: announced beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.extraction.completion.probing import words_in_a_call
from wfalens.extraction.deadline import Deadline
from wfalens.extraction.method import AnsweredTexts
from wfalens.extraction.query_budget import HELD_OUT, QueryBudget, TooFewQueriesError
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.inference import asks_every_prefix, initial_output, last_outputs, outputs_in_time
from wfalens.ragged import Ragged

_FAST = 10  # prefixes a second that are shown without decimals
_TIMED, _TIMED_TEXTS = 256, 32  # prefixes, or whole texts, of the batch that is timed
ASKING = 0.5  # share of the time for asking a model that pays for every call; the rest is for training
_HELD_OUT_SHARE = 0.2  # of its queries and of the time at most
_LEAST_CALLS = 8
_ON_TOP = "fitting to its answers comes on top"
_MINUTE = 60
_UNITS = ((86400, "days"), (3600, "hours"), (_MINUTE, "minutes"))
Clock = Callable[[], float]


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
    if not isinstance(model, StatefulClassifier):
        batch = timed_texts(ids)
        began = clock()
        model.trace(batch)
        rate = len(batch.values) / max(clock() - began, 1e-9)
        progress.say(_sentence("prefixes", texts + beyond, rate, limits=beyond > 0))


def say_time(seconds: float, passes: int, deadline: Deadline) -> None:
    """Say how long training takes if every pass takes as many seconds as the first; a limit of time is known."""
    if deadline.seconds is None and passes > 1:
        progress.say(f"training takes {_duration(passes * seconds)}, if all {passes} passes are needed")


def outputs_within(model: PrefixClassifier, texts: Ragged[np.int32], deadline: Deadline) -> NDArray[np.float32]:
    """The model's outputs for texts with words; where time is limited, for the first that it answers in time."""
    if deadline.left is None:
        return last_outputs(model, texts)
    return outputs_in_time(model, texts, lambda: deadline.left or 0.0)


def ask_held_out(
    model: Any,
    held: Ragged[np.int32],
    budget: QueryBudget,
    deadline: Deadline,
    seed: int,
) -> AnsweredTexts:
    """Ask a model that pays for every call for the held-out texts, or a random part of them.

    By its pace on a few of them, it is said how many calls will be made at most; the limit falls to what time allows.
    No more texts are asked than a share of queries and time pays for.
    """
    texts = held.take(np.random.default_rng(seed).permutation(len(held)))
    limit = budget.limit or 0
    if limit <= _LEAST_CALLS:
        raise TooFewQueriesError(f"{limit:,} queries do not pay for an extraction; allow more")
    most, asking = max(1, min(len(texts), int(_HELD_OUT_SHARE * limit))), deadline.part(_HELD_OUT_SHARE)
    initial_output(model)  # which may be a call, too
    began, before = deadline.clock(), model.queries
    outputs = outputs_within(model, texts.take(np.arange(min(most, _TIMED_TEXTS))), asking)
    seconds, calls = max(deadline.clock() - began, 1e-9), model.queries - before
    rate = calls / seconds if calls else None  # unknown if all answers came from the cache
    if deadline.left is not None and rate is not None:
        affordable = int(ASKING * deadline.left * rate)
        if affordable <= _LEAST_CALLS:
            raise InputError(
                f"the model answers {_pace(rate)} texts a second, too slow for an extraction in the time given; "
                "allow more time",
                code="too-slow",
            )
        budget.limit = min(limit, budget.total + affordable)
    progress.say(_sentence("texts", budget.limit or 0, rate, limits=True))
    if len(outputs) < most and not asking.is_over:
        rest = outputs_within(model, texts.take(np.arange(len(outputs), most)), asking)
        outputs = np.concatenate([outputs, rest])
    budget.record(HELD_OUT, len(outputs))
    return AnsweredTexts(model.folded(texts.take(np.arange(len(outputs)))), outputs)


def most_probing(model: PrefixClassifier, prefixes: int, words: int, longest: int) -> int:
    """What reading so many words after so many prefixes asks at most; `longest` is the length of a prefix at most."""
    if asks_every_prefix(model):
        return prefixes * words
    calls = -(-words // words_in_a_call(model, prefixes))
    return prefixes * (words + calls * longest)


def most_training(passes: int, tokens: int, ids: Ragged[np.int32]) -> int:
    """What passes over texts of at most so many tokens ask, of which the last is a whole one."""
    return passes * (min(tokens, len(ids.values)) + int(ids.lengths.max()))


def timed_texts(ids: Ragged[np.int32]) -> Ragged[np.int32]:
    """The small batch of texts whose prefixes are timed, from all over the corpus."""
    most = max(1, round(_TIMED / ids.lengths.mean()))
    return ids.take(np.unique(np.linspace(0, len(ids) - 1, min(most, len(ids))).astype(np.int64)))


def _pace(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= _FAST else f"{rate:.2g}"


def _sentence(what: str, queries: int, rate: float | None, *, limits: bool) -> str:
    sentence = f"asks the model for up to {queries:,} {what}"
    if rate is None:
        return f"{sentence} that are not in its cache; {_ON_TOP}"
    shorter = "; a lower limit of queries shortens it" if limits else ""
    return f"{sentence}; at {_pace(rate)} a second that takes {_duration(queries / rate)}{shorter}; {_ON_TOP}"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return "less than a minute"
    unit, name = next(each for each in _UNITS if seconds >= 2 * each[0] or each is _UNITS[-1])
    return f"about {max(2, round(seconds / unit)):,} {name}"
