"""Which words the model is asked about, from which prefixes: as much as the queries pay for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.extraction.completion.probing import Representatives, affordable, choose_representatives, probing_queries
from wfalens.extraction.query_budget import FITTING_SHARE, SEARCH, SEARCH_SHARE, QueryBudget
from wfalens.extraction.states.continuations import Continuations
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN, UNKNOWN_WORD


@dataclass(frozen=True, eq=False)
class Attempt:
    """What an automaton that is only tried in a search has: rows for some words, none of them fitted."""

    words: NDArray[np.int32]  # rising
    share: float  # of the query budget, that it may cost


@dataclass(frozen=True, eq=False)
class Questions:
    """What probing asks, and how it takes the answers."""

    words: NDArray[np.int32]  # rising
    representatives: Representatives
    hardness: float | None  # of the assignment of answers to near states; None: to the nearest one
    asked: Continuations | None = None  # behind every word

    @classmethod
    def chosen(
        cls,
        per_state: int,
        hardness: float | None,
        model: PrefixClassifier,
        ids: Ragged[np.int32],
        path: NDArray[np.int32],
        word_counts: NDArray[np.int64],
        rng: np.random.Generator,
        budget: QueryBudget,
        attempt: Attempt | None = None,
        asked: Continuations | None = None,
    ) -> Questions:
        """What the queries pay for; representatives, `per_state` at most, come from `ids`.

        A `hardness` says that the answers will be fitted; with continuations that are asked behind every word, each
        word costs more. path: (tokens,); word_counts: (V,)
        """
        candidates = choose_representatives(ids, path, per_state, rng)
        rest = 1.0 if hardness is None else 1 - FITTING_SHARE
        queries = budget.left(rest) if attempt is None else budget.share((1 - SEARCH_SHARE) * rest)
        words, representatives = _paid(model, word_counts, candidates, queries, asked)
        if attempt is not None:
            words, representatives = _tried(attempt, model, word_counts, words, representatives, asked, budget)
        return cls(words, representatives, hardness, asked)

    def queries(self, model: PrefixClassifier) -> int:
        """What they ask at most."""
        return probing_queries(model, self.representatives, len(self.words), self.asked)


def _paid(
    model: PrefixClassifier,
    word_counts: NDArray[np.int64],
    candidates: Representatives,
    queries: int | None,
    asked: Continuations | None,
) -> tuple[NDArray[np.int32], Representatives]:
    """What the queries pay for, of all words and of the given representatives."""
    everything = np.arange(model.encoder.lowest_id, len(word_counts), dtype=np.int32)
    words, found = affordable(model, everything, word_counts, candidates, queries, asked)
    if len(words) < len(everything):
        paid = f"{queries:,} queries pay for {len(words):,} of {len(everything):,} words"
        progress.say(f"{paid}; the others act as {_instead(model)}")
    elif found.per_state < candidates.per_state:
        progress.say(
            f"{queries:,} queries pay for {found.per_state} of {candidates.per_state} representatives per state"
        )
    return words, found


def _instead(model: PrefixClassifier) -> str:
    return "if they were not there" if model.encoder.closed else UNKNOWN_WORD


def _tried(
    attempt: Attempt,
    model: PrefixClassifier,
    word_counts: NDArray[np.int64],
    words: NDArray[np.int32],
    representatives: Representatives,
    asked: Continuations | None,
    budget: QueryBudget,
) -> tuple[NDArray[np.int32], Representatives]:
    """What an attempt may ask, of the words and representatives that the whole automaton could afford."""
    tried = attempt.words
    lowest = model.encoder.lowest_id
    if len(words) < len(word_counts) - lowest:
        tried = np.union1d(np.intersect1d(tried, words), words[words == UNKNOWN]).astype(np.int32)
    allowed = budget.share(attempt.share)
    if allowed is not None and allowed < probing_queries(model, representatives.first(1), 1, asked):
        allowed = budget.unspent(SEARCH, SEARCH_SHARE)  # a small budget tries fewer numbers of states
    return affordable(model, tried, word_counts, representatives, allowed, asked)
