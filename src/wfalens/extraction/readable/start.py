"""Where fitting starts: states from the model's outputs, classes of words that have a like effect on it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from wfalens import progress
from wfalens.extraction.completion.probing import (
    Representatives,
    affordable,
    choose_representatives,
    points_after,
    probing_queries,
    words_per_call,
)
from wfalens.extraction.query_budget import PROBING, QueryBudget
from wfalens.extraction.states.abstraction import States, TooFewOutputsError, cluster, state_centres
from wfalens.extraction.states.views import LookAhead, Outputs, View, continuations_of, make_view, trace_prefixes
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.inference import initial_output, states_after
from wfalens.ragged import Ragged
from wfalens.threads import passes_of_model

_MOST_FLOATS = 1 << 27  # of points that are kept
_MOST_NUMBERS = 128  # that tell the effect of a word
_HARDNESS = 0.5  # of the assignment of points to near states
NEVER_SEEN = 0.3  # occurrences that a word counts for which the texts do not have
_FARTHEST = 5.0  # standard deviations
_PER_STATE = 256  # outputs that k-means sees
_QUERY_SHARE = 0.5  # of what is left


def views(model: PrefixClassifier, budget: QueryBudget) -> tuple[str, ...]:
    """In which prefixes may be compared: looking ahead needs a model that can be stepped, and free queries."""
    looks = isinstance(model, StatefulClassifier) and budget.limit is None
    return (Outputs.name, LookAhead.name) if looks else (Outputs.name,)


@dataclass(frozen=True, eq=False)
class Effects:
    """What the model shows of states and words before anything is fitted."""

    states: States
    centres: NDArray[np.float64]  # (n, C)
    words: NDArray[np.int32]  # those that the model was asked about, rising
    representatives: Representatives
    points: NDArray[np.float32]  # (words, representatives, D): where the word leads
    numbers: NDArray[np.float32]  # (V, ·): the effect of each word; 0 where the model was not asked
    counts: NDArray[np.int64]  # (V,)


def effects(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    states: int,
    view_name: str,
    prefixes: int,
    rng: np.random.Generator,
    budget: QueryBudget,
) -> Effects:
    """Form the states of texts in a view, and ask the model where every word leads from each of them."""
    view = make_view(view_name, model, ids, rng, budget)
    seen = trace_prefixes(model, ids, view)
    try:
        formed = cluster(seen.points, states, _PER_STATE, rng)
    except TooFewOutputsError as error:
        formed = cluster(seen.points, error.distinct, _PER_STATE, rng)
    formed, path = formed.visited(seen.points)
    centres = state_centres(seen.outputs, path, initial_output(model), len(formed))
    counts = np.bincount(ids.values, minlength=len(model.encoder.vocabulary))
    alphabet = np.arange(model.encoder.lowest_id, len(counts), dtype=np.int32)
    asked = continuations_of(view)
    most = max(1, _MOST_FLOATS // (len(alphabet) * len(formed) * seen.points.shape[1]))
    representatives = choose_representatives(ids, path, min(prefixes, most), rng)
    words, chosen = affordable(model, alphabet, counts, representatives, budget.left(_QUERY_SHARE), asked)
    budget.enter(PROBING, probing_queries(model, chosen, len(words), asked))
    points = _points(model, chosen, view, words)
    visits = np.bincount(path, minlength=len(formed)).astype(np.float64)
    visits[0] = len(ids)
    numbers = _numbers(points, chosen, visits, words, counts)
    return Effects(formed, centres, words, chosen, points, numbers, counts)


def _points(
    model: PrefixClassifier,
    representatives: Representatives,
    view: View,
    words: NDArray[np.int32],
) -> NDArray[np.float32]:
    """Where each word leads from each representative; -> (words, representatives, D)"""
    saved = states_after(model, representatives.prefixes) if isinstance(model, StatefulClassifier) else None
    size, reps = words_per_call(representatives), len(representatives.state)
    parts = [words[first : first + size] for first in range(0, len(words), size)]
    found = []
    progress.start("reading every word", len(words))
    for points in passes_of_model(model, lambda part: points_after(model, representatives, saved, view, part), parts):
        found.append(points.reshape(reps, -1, points.shape[1]).swapaxes(0, 1))
        progress.advance(len(found[-1]))
    progress.finish()
    return np.concatenate(found)


def _numbers(
    points: NDArray[np.float32],
    representatives: Representatives,
    visits: NDArray[np.float64],
    words: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Where a word leads from each state beside where others lead, weighted by √u of the state; (V, ·)"""
    n = len(visits)
    sizes = np.bincount(representatives.state, minlength=n)
    starts = np.searchsorted(representatives.state, np.arange(n))
    weight = np.sqrt(visits / visits.sum()) / sizes
    flat = (np.add.reduceat(points, starts, axis=1) * weight.astype(np.float32)[:, None]).reshape(len(words), -1)
    frequency = _weights(counts)[words].astype(np.float32)
    flat -= np.average(flat, axis=0, weights=frequency)
    if flat.shape[1] > _MOST_NUMBERS:
        with threadpool_limits(1):
            spread = (flat * frequency[:, None]).T @ flat
            directions = np.linalg.eigh(spread.astype(np.float64))[1][:, ::-1][:, :_MOST_NUMBERS]
            flat = flat @ directions.astype(np.float32)
    table = np.zeros((len(counts), flat.shape[1]), np.float32)
    table[words] = flat
    return table


def _weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(counts + NEVER_SEEN))


def standardised(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns with standard deviation 1 over the words, and no word far off. (V, ·) -> (V, ·)"""
    spread = numbers.std(0)
    return np.asarray((numbers / np.where(spread > 0, spread, 1)).clip(-_FARTHEST, _FARTHEST), np.float32)


def first_classes(found: Effects, classes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Words of like effect in one class; frequent words count more. -> (V,)"""
    asked = found.numbers[found.words]
    rule = alike(asked, classes, _weights(found.counts)[found.words], rng)
    return np.asarray(rule.predict(found.numbers), np.int64)


def alike(points: NDArray[Any], groups: int, weights: NDArray[np.float64], rng: np.random.Generator) -> KMeans:
    """At most so many groups of near points, by k-means. points: (N, ·), weights: (N,)"""
    rule = KMeans(min(groups, len(points)), n_init=1, random_state=int(rng.integers(2**31)))
    # sums over threads come in any order; fewer different points than groups are no harm
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return rule.fit(points, sample_weight=weights)


def first_matrices(found: Effects, of_word: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """Where the words of each class lead from each state, to near states in shares; (classes, n, n)"""
    n = len(found.states)
    sums = np.zeros((classes, n, n))
    weights = found.counts[found.words] + NEVER_SEEN
    for at, state in enumerate(found.representatives.state):
        near, shares = found.states.mixtures(np.ascontiguousarray(found.points[:, at]), _HARDNESS)
        np.add.at(sums, (of_word[found.words][:, None], state, near), shares * weights[:, None])
    return distributions(sums)


def distributions(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows that sum to 1; even ones where there is nothing. (…, n) -> (…, n)"""
    total = sums.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, sums / np.where(total > 0, total, 1), 1 / sums.shape[-1]))
