"""Where fitting starts: states from the model's outputs, classes of words that have a like effect on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from wfalens.corpus.vocabulary import PADDING
from wfalens.extraction.completion.probing import (
    Representatives,
    affordable,
    ask,
    choose_representatives,
    probing_queries,
)
from wfalens.extraction.completion.queries import PROBING, Ledger
from wfalens.extraction.states.abstraction import TooFewOutputsError, cluster, state_centres
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
from wfalens.models.stepping import states_after
from wfalens.models.traces import output_traces, prior_of
from wfalens.progress import Progress
from wfalens.ragged import Ragged

_ANSWERS_AT_ONCE = 1 << 19
_MOST_FLOATS = 1 << 27  # of answers that are kept
_MOST_EFFECTS = 128  # numbers that tell the effect of a word
_WIDTH = 0.02  # squared distance between outputs at which a state has 1/e of the share of one that is hit
_NEVER_SEEN = 0.3  # occurrences that a word counts for which the texts do not have
_FARTHEST = 5.0  # standard deviations
_PER_STATE = 256  # outputs that k-means sees
_QUERY_SHARE = 0.5  # of what is left


@dataclass(frozen=True, eq=False)
class Effects:
    """What the model says of states and words before anything is fitted."""

    centres: NDArray[np.float64]  # (n, C)
    words: NDArray[np.int32]  # those that the model was asked about, rising
    representatives: Representatives
    answers: NDArray[np.float32]  # (words, representatives, C): the output after the word
    numbers: NDArray[np.float32]  # (V, ·): the effect of each word, standardised; 0 where the model was not asked
    counts: NDArray[np.int64]  # (V,)


def effects(
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    states: int,
    prefixes: int,
    rng: np.random.Generator,
    ledger: Ledger,
    progress: Progress,
) -> Effects:
    """Form the states of texts, and ask the model what every word does in each of them."""
    outputs = output_traces(model, ids, progress).values
    try:
        formed = cluster(outputs, states, _PER_STATE, rng)
    except TooFewOutputsError as error:
        formed = cluster(outputs, error.distinct, _PER_STATE, rng)
    formed, path = formed.visited(outputs)
    centres = state_centres(outputs, path, prior_of(model), len(formed))
    counts = np.bincount(ids.values, minlength=len(model.encoder.vocabulary))
    alphabet = np.arange(PADDING + 1, len(counts), dtype=np.int32)
    most = max(1, _MOST_FLOATS // (len(alphabet) * len(formed) * centres.shape[1]))
    wanted = choose_representatives(ids, path, min(prefixes, most), rng)
    words, chosen = affordable(model, alphabet, counts, wanted, ledger.left(_QUERY_SHARE))
    ledger.enter(PROBING, probing_queries(model, chosen, len(words)))
    answers = _answers(model, chosen, words, progress)
    visits = np.bincount(path, minlength=len(formed)).astype(np.float64)
    visits[0] = len(ids)
    return Effects(centres, words, chosen, answers, _numbers(answers, chosen, centres, visits, words, counts), counts)


def _answers(
    model: StepwiseClassifier, representatives: Representatives, words: NDArray[np.int32], progress: Progress
) -> NDArray[np.float32]:
    saved = states_after(model, representatives.prefixes) if isinstance(model, SteppableClassifier) else None
    reps, classes = len(representatives.state), len(model.class_names)
    answers = np.empty((len(words), reps, classes), np.float32)
    step = max(1, _ANSWERS_AT_ONCE // reps)
    progress.start("reading every word", len(words))
    for first in range(0, len(words), step):
        part = words[first : first + step]
        said = ask(model, representatives, saved, part).reshape(reps, len(part), classes)
        answers[first : first + step] = said.swapaxes(0, 1)
        progress.advance(len(part))
    progress.finish()
    return answers


def _numbers(
    answers: NDArray[np.float32],
    representatives: Representatives,
    centres: NDArray[np.float64],
    visits: NDArray[np.float64],
    words: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> NDArray[np.float32]:
    """The mean change of the output that a word makes in each state, weighted by √u of the state; (V, ·)"""
    n = len(centres)
    sizes = np.bincount(representatives.state, minlength=n)
    starts = np.searchsorted(representatives.state, np.arange(n))
    change = np.add.reduceat(answers, starts, axis=1) / sizes[:, None].astype(np.float32) - centres.astype(np.float32)
    change *= np.sqrt(visits / visits.sum()).astype(np.float32)[:, None]
    flat = change.reshape(len(words), -1)
    weights = _weights(counts)[words]
    flat = flat - np.average(flat, axis=0, weights=weights)
    if flat.shape[1] > _MOST_EFFECTS:
        with threadpool_limits(1):
            spread = (flat * weights[:, None]).T @ flat
            directions = np.linalg.eigh(spread.astype(np.float64))[1][:, ::-1][:, :_MOST_EFFECTS]
        flat = flat @ directions.astype(np.float32)
    table = np.zeros((len(counts), flat.shape[1]), np.float32)
    table[words] = flat
    return table


def _weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.sqrt(counts + _NEVER_SEEN)


def standardised(numbers: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns with standard deviation 1 over the words, and no word far off. (V, ·) -> (V, ·)"""
    spread = numbers.std(0)
    return np.asarray((numbers / np.where(spread > 0, spread, 1)).clip(-_FARTHEST, _FARTHEST), np.float32)


def first_classes(found: Effects, classes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Words of like effect in one class, by k-means; frequent words count more. -> (V,)"""
    seed = int(rng.integers(2**31))
    wanted = min(classes, len(found.words))
    with threadpool_limits(1):
        rule = KMeans(wanted, n_init=1, random_state=seed)
        rule.fit(found.numbers[found.words], sample_weight=_weights(found.counts)[found.words])
    return np.asarray(rule.predict(found.numbers), np.int64)


def first_matrices(found: Effects, of_word: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
    """Where the words of each class lead from each state: to states whose output is near; (classes, n, n)"""
    n = len(found.centres)
    sums = np.zeros((classes, n, n))
    weights = found.counts[found.words] + _NEVER_SEEN
    inner = found.centres[1:].astype(np.float32)
    for at, state in enumerate(found.representatives.state):
        distance = np.square(found.answers[:, at, None] - inner).sum(2)
        near = np.exp(-(distance - distance.min(1, keepdims=True)) / _WIDTH)
        near *= (weights / near.sum(1))[:, None]
        np.add.at(sums[:, state, 1:], of_word[found.words], near)
    total = sums.sum(2, keepdims=True)
    return np.asarray(np.where(total > 0, sums / np.where(total > 0, total, 1), 1 / n))
