"""Probing: rows learned by asking the model what every word does in every state, as far as the queries pay for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.query_budget import FITTING_SHARE, SEARCH, SEARCH_SHARE, QueryBudget, TooFewQueriesError
from wfalens.extraction.states import EMPTY_TEXT, Continuations, States, View, appended, continuations_of, prefixes_to
from wfalens.extraction.transitions import TransitionCounts
from wfalens.models.contract import PrefixClassifier, State, StatefulClassifier, checked_probabilities
from wfalens.models.inference import (
    asks_every_prefix,
    last_outputs,
    prefix_tree,
    state_grid,
    states_after,
    step_grid,
    tokens_per_call,
)
from wfalens.ragged import Ragged, concatenate, offsets_of
from wfalens.text.vocabulary import UNKNOWN, UNKNOWN_WORD
from wfalens.threads import passes_of_model

_CALLS = 2  # of a model that traces texts, by their size, for as many answers as are kept at a time
_TIMED_PARTS = 16  # of a call: where time is limited, the clock is looked at after each
_MOST_NUMBERS = 1 << 21  # of the internal states after the words of a call
_GRAIN = 64  # units that an answer is divided into among near states


@dataclass(frozen=True, eq=False)
class Representatives:
    """Prefixes that stand for the states: up to r for each, the empty one for state 0."""

    prefixes: Ragged[np.int32]
    state: NDArray[np.int32]  # (prefixes,), rising
    per_state: int  # r

    def first(self, per_state: int) -> Representatives:
        """Fewer for each state."""
        rank = np.arange(len(self.state)) - np.searchsorted(self.state, self.state)
        kept = np.flatnonzero(rank < per_state)
        return Representatives(self.prefixes.take(kept), self.state[kept], per_state)


def choose_representatives(
    ids: Ragged[np.int32], path: NDArray[np.int32], per_state: int, rng: np.random.Generator
) -> Representatives:
    """A random choice among the occurrences of each state. path: (tokens,)"""
    shuffled = rng.permutation(len(path))
    tokens = shuffled[np.argsort(path[shuffled], kind="stable")]  # by state, in random order within
    sizes = np.bincount(path, minlength=1)
    rank = np.arange(len(tokens)) - offsets_of(sizes)[path[tokens]]
    chosen = tokens[rank < per_state]
    prefixes = concatenate([EMPTY_TEXT, prefixes_to(ids, chosen)])
    return Representatives(prefixes, np.concatenate([np.zeros(1, np.int32), path[chosen]]), per_state)


def probing_queries(
    model: PrefixClassifier, representatives: Representatives, words: int, asked: Continuations | None = None
) -> int:
    """What `probe_rows` asks at most: prefixes that the model scores, equal ones of a call once.

    With continuations, each of them behind every word.
    """
    if isinstance(model, StatefulClassifier):
        return len(representatives.prefixes.values) + len(representatives.state) * words
    lengths = representatives.prefixes.lengths[_first_ones(representatives)[0]]
    further = 0 if asked is None else words * asked.queries(model, lengths + 1)
    if asks_every_prefix(model):
        return len(lengths) * words + further
    calls = -(-words // words_in_a_call(model, len(representatives.state)))
    return calls * len(prefix_tree(representatives.prefixes)) + len(lengths) * words + further


def affordable(
    model: PrefixClassifier,
    words: NDArray[np.int32],
    counts: NDArray[np.int64],
    representatives: Representatives,
    queries: int | None,
    asked: Continuations | None = None,
) -> tuple[NDArray[np.int32], Representatives]:
    """The words and the representatives that a number of model queries pays for.

    Representatives are given up first, then words, the rarest first; `<unk>`, if it is among them, stays. counts: (V,)
    """
    if queries is None:
        return words, representatives
    per_state = bisect_right(
        range(1, representatives.per_state + 1),
        queries,
        key=lambda number: probing_queries(model, representatives.first(number), len(words), asked),
    )
    if per_state:
        return words, representatives.first(per_state)
    single = representatives.first(1)
    paid = bisect_right(
        range(1, len(words) + 1), queries, key=lambda number: probing_queries(model, single, number, asked)
    )
    if not paid:
        raise TooFewQueriesError(
            f"{queries:,} queries do not pay for a single word from each of {int(single.state[-1]) + 1} states, which "
            f"takes {probing_queries(model, single, 1, asked):,}; allow more, or fewer states"
        )
    unknown, known = words[words == UNKNOWN], words[words != UNKNOWN]
    frequent = known[np.argsort(-counts[known], kind="stable")][: paid - len(unknown)]
    return np.sort(np.append(frequent, unknown)), single


def words_in_a_call(model: PrefixClassifier, prefixes: int) -> int:
    """How many words are read after so many prefixes at once."""
    answers = _CALLS * tokens_per_call(model)
    if isinstance(model, StatefulClassifier):
        answers = min(answers, _MOST_NUMBERS // model.initial_state(1).shape[1])
    return max(1, answers // prefixes)


def probe_rows(
    model: PrefixClassifier,
    representatives: Representatives,
    states: States,
    view: View,
    words: NDArray[np.int32],
    hardness: float | None,
) -> TransitionCounts:
    """`Qσ`: where each word leads from the representatives of each state. words: rising ids

    A steppable model is stepped once per representative and word from its saved state. A black box is asked
    for the prefix and the word as a text of its own, which costs a whole prefix each. With a `hardness`, an answer
    counts for several near states in shares, in units of 1/64; without, for the nearest one.
    """
    n, reps = len(states), len(representatives.state)
    saved = states_after(model, representatives.prefixes) if isinstance(model, StatefulClassifier) else None

    def probed(batch: NDArray[np.int32]) -> TransitionCounts:
        points = points_after(model, representatives, saved, view, batch)
        word, before = np.tile(batch, reps), np.repeat(representatives.state, len(batch))
        if hardness is None:
            return TransitionCounts.of(n, word, before, states.assign(points))
        near, weights = states.mixtures(points, hardness)
        shares = np.rint(weights * _GRAIN).astype(np.int64)
        answer, slot = np.nonzero(shares)
        return TransitionCounts.of(n, word[answer], before[answer], near[answer, slot], shares[answer, slot])

    size = words_in_a_call(model, reps)
    batches = [words[start : start + size] for start in range(0, len(words), size)]
    return TransitionCounts.in_order(n, list(passes_of_model(model, probed, batches)))  # of rising words


def read_words(
    model: PrefixClassifier,
    representatives: Representatives,
    view: View,
    words: NDArray[np.int32],
    deadline: Deadline = NEVER,
) -> Iterator[NDArray[np.float32]]:
    """Where words lead from each representative, as far as there is time, some words after others; (·, reps, D)"""
    saved = states_after(model, representatives.prefixes) if isinstance(model, StatefulClassifier) else None
    reps = len(representatives.state)
    size = words_in_a_call(model, reps)
    if deadline.left is not None:
        size = -(-min(size, len(words)) // _TIMED_PARTS)
    parts = [words[first : first + size] for first in range(0, len(words), size)]

    def read(part: NDArray[np.int32]) -> NDArray[np.float32] | None:
        if part is not parts[0] and deadline.is_over:
            return None
        points = points_after(model, representatives, saved, view, part)
        return points.reshape(reps, len(part), -1).swapaxes(0, 1)

    progress.start("reading every word", len(words))
    for points in passes_of_model(model, read, parts):
        if points is None:
            break
        yield points
        progress.advance(len(points))
    progress.finish()


def points_after(
    model: PrefixClassifier,
    representatives: Representatives,
    saved: State | None,
    view: View,
    words: NDArray[np.int32],
) -> NDArray[np.float32]:
    """Points after each word from each representative; -> (representatives · words, D)"""
    if view.needs_states and saved is not None and isinstance(model, StatefulClassifier):
        states, outputs = (grid.reshape(-1, grid.shape[-1]) for grid in state_grid(model, saved, words))
        return view.points(checked_probabilities(outputs, len(states), len(model.class_names), "the model"), states)
    outputs, asked = ask(model, representatives, saved, words), continuations_of(view)
    if asked is None:
        return view.points(outputs, None)
    longer, inverse = _longer(representatives, words)
    answers = asked.answers(model, longer).reshape(-1, len(words), len(asked) * outputs.shape[1])[inverse]
    return view.points(outputs, answers.reshape(len(outputs), -1))


def ask(
    model: PrefixClassifier, representatives: Representatives, saved: State | None, words: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Outputs after each word from each representative; -> (representatives · words, classes)"""
    classes = len(model.class_names)
    if saved is not None and isinstance(model, StatefulClassifier):
        outputs = step_grid(model, saved, words).reshape(-1, classes)
    else:
        longer, inverse = _longer(representatives, words)
        outputs = last_outputs(model, longer).reshape(-1, len(words), classes)[inverse].reshape(-1, classes)
    return checked_probabilities(outputs, len(representatives.state) * len(words), classes, "the model")


def _longer(representatives: Representatives, words: NDArray[np.int32]) -> tuple[Ragged[np.int32], NDArray[np.int64]]:
    """Every word behind every distinct prefix, and the prefix of each representative: equal ones are asked once."""
    first, inverse = _first_ones(representatives)
    behind = np.tile(words, len(first))
    each = Ragged(behind, np.arange(len(behind) + 1))
    return appended(representatives.prefixes.take(np.repeat(first, len(words))), each), inverse


def _first_ones(representatives: Representatives) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of equal prefixes, and for every representative which of these it equals."""
    _, first, inverse = np.unique(representatives.prefixes.padded(), axis=0, return_index=True, return_inverse=True)
    return first, inverse.ravel()


@dataclass(frozen=True, eq=False)
class Attempt:
    """What an automaton that is only tried in a search has: rows for some words, none of them fitted."""

    words: NDArray[np.int32]  # rising
    share: float  # of the query budget, that it may cost


def affordable_questions(
    model: PrefixClassifier,
    word_counts: NDArray[np.int64],
    candidates: Representatives,
    budget: QueryBudget,
    asked: Continuations | None,
    attempt: Attempt | None,
    *,
    fits: bool,
) -> tuple[NDArray[np.int32], Representatives]:
    """The words and representatives that the queries of a budget pay for; what is fitted later has a part of them.

    An attempt asks about its own words, from what the whole automaton could afford. word_counts: (V,)
    """
    rest = 1 - FITTING_SHARE if fits else 1.0
    queries = budget.left(rest) if attempt is None else budget.share((1 - SEARCH_SHARE) * rest)
    everything = np.arange(model.encoder.lowest_id, len(word_counts), dtype=np.int32)
    words, found = affordable(model, everything, word_counts, candidates, queries, asked)
    if len(words) < len(everything):
        instead = "if they were not there" if model.encoder.closed else UNKNOWN_WORD
        paid = f"{queries:,} queries pay for {len(words):,} of {len(everything):,} words"
        progress.say(f"{paid}; the others act as {instead}")
    elif found.per_state < candidates.per_state:
        progress.say(
            f"{queries:,} queries pay for {found.per_state} of {candidates.per_state} representatives per state"
        )
    if attempt is None:
        return words, found
    tried = attempt.words
    if len(words) < len(everything):
        tried = np.union1d(np.intersect1d(tried, words), words[words == UNKNOWN]).astype(np.int32)
    allowed = budget.share(attempt.share)
    if allowed is not None and allowed < probing_queries(model, found.first(1), 1, asked):
        allowed = budget.unspent(SEARCH, SEARCH_SHARE)  # a small budget tries fewer numbers of states
    return affordable(model, tried, word_counts, found, allowed, asked)
