"""Probing: rows learned by asking the model what every word does in every state (SPEC §4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.extraction.abstraction import States
from wfalens.extraction.soft import mixtures
from wfalens.extraction.transitions import TransitionCounts
from wfalens.extraction.views import View
from wfalens.models.contract import State, SteppableClassifier, StepwiseClassifier, checked_probabilities
from wfalens.models.stepping import states_after, step_grid
from wfalens.progress import Progress
from wfalens.ragged import Ragged, offsets_of, positions

ANSWERS_PER_BATCH = 100_000
_GRAIN = 64  # units that an answer is divided into among near states


@dataclass(frozen=True, eq=False)
class Representatives:
    """Prefixes that stand for the states: up to r for each, the empty one for state 0."""

    prefixes: Ragged[np.int32]
    state: NDArray[np.int32]  # (prefixes,)


def choose_representatives(
    ids: Ragged[np.int32], path: NDArray[np.int32], per_state: int, rng: np.random.Generator
) -> Representatives:
    """A random choice among the occurrences of each state. path: (tokens,)"""
    shuffled = rng.permutation(len(path))
    tokens = shuffled[np.argsort(path[shuffled], kind="stable")]  # by state, in random order within
    sizes = np.bincount(path, minlength=1)
    rank = np.arange(len(tokens)) - offsets_of(sizes)[path[tokens]]
    chosen = tokens[rank < per_state]
    starts = ids.offsets[ids.item_of_value()[chosen]]
    lengths = np.concatenate([[0], chosen + 1 - starts])
    words = ids.values[positions(np.concatenate([[0], starts]), lengths)]
    return Representatives(Ragged.from_lengths(words, lengths), np.concatenate([np.zeros(1, np.int32), path[chosen]]))


def affordable(
    words: NDArray[np.int32], counts: NDArray[np.int64], states: int, per_state: int, queries: int | None
) -> tuple[NDArray[np.int32], int]:
    """The words and the representatives per state that a number of model queries pays for.

    Representatives are given up first, then words, the rarest first; `<unk>` stays. counts: (V,)
    """
    if queries is None:
        return words, per_state
    per_state = min(per_state, max(1, queries // (len(words) * states)))
    most = max(1, queries // (states * per_state))
    if most >= len(words):
        return words, per_state
    known = words[words != UNKNOWN]
    frequent = known[np.argsort(-counts[known], kind="stable")][: most - 1]
    return np.sort(np.append(frequent, np.int32(UNKNOWN))), per_state


def probe_rows(
    model: StepwiseClassifier,
    representatives: Representatives,
    states: States,
    view: View,
    words: NDArray[np.int32],
    hardness: float | None,
    progress: Progress,
) -> TransitionCounts:
    """`Qσ`: where each word leads from the representatives of each state. words: rising ids

    A steppable model is stepped once per representative and word from its saved state. A black box is asked
    for the prefix and the word as a text of its own, which costs a whole prefix each. With a `hardness`, an answer
    counts for several near states in shares, in units of 1/64; without, for the nearest one.
    """
    n, reps = len(states), len(representatives.state)
    saved = states_after(model, representatives.prefixes) if isinstance(model, SteppableClassifier) else None
    progress.start("probing the model", len(words))
    parts = []
    batch_size = max(1, ANSWERS_PER_BATCH // reps)
    for start in range(0, len(words), batch_size):
        batch = words[start : start + batch_size]
        points = _answers(model, representatives, saved, view, batch)
        word, before = np.tile(batch, reps), np.repeat(representatives.state, len(batch))
        if hardness is None:
            parts.append(TransitionCounts.of(n, word, before, states.assign(points)))
        else:
            near, weights = mixtures(points, states.seeds, hardness)
            shares = np.rint(weights * _GRAIN).astype(np.int64)
            answer, place = np.nonzero(shares)
            after = near[answer, place]
            parts.append(TransitionCounts.of(n, word[answer], before[answer], after, shares[answer, place]))
        progress.advance(len(batch))
    progress.finish()
    # batches hold rising words, so their keys follow each other
    return TransitionCounts(
        n, np.concatenate([part.keys for part in parts]), np.concatenate([part.counts for part in parts])
    )


def _answers(
    model: StepwiseClassifier,
    representatives: Representatives,
    saved: State | None,
    view: View,
    words: NDArray[np.int32],
) -> NDArray[np.float32]:
    """Points after each word from each representative; -> (representatives · words, D)"""
    if view.needs_states and saved is not None and isinstance(model, SteppableClassifier):
        states, outputs = model.step(np.repeat(saved, len(words), axis=0), np.tile(words, len(saved)))
        return view.points(checked_probabilities(outputs, len(states), len(model.class_names), "the model"), states)
    return view.points(ask(model, representatives, saved, words), None)


def ask(
    model: StepwiseClassifier, representatives: Representatives, saved: State | None, words: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Outputs after each word from each representative; -> (representatives · words, classes)"""
    classes = len(model.class_names)
    if saved is not None and isinstance(model, SteppableClassifier):
        outputs = step_grid(model, saved, words).reshape(-1, classes)
    else:
        # equal prefixes are asked once
        _, first, place = np.unique(representatives.prefixes.padded(), axis=0, return_index=True, return_inverse=True)
        prefixes = representatives.prefixes.take(first)
        lengths = np.repeat(prefixes.lengths + 1, len(words))
        longer = Ragged.from_lengths(np.empty(int(lengths.sum()), np.int32), lengths)
        repeated = prefixes.take(np.repeat(np.arange(len(prefixes)), len(words)))
        longer.values[positions(longer.offsets[:-1], lengths - 1)] = repeated.values
        longer.values[longer.offsets[1:] - 1] = np.tile(words, len(prefixes))
        outputs = model.trace(longer).last().reshape(len(prefixes), len(words), -1)[place.ravel()].reshape(-1, classes)
    return checked_probabilities(outputs, len(representatives.state) * len(words), classes, "the model")
