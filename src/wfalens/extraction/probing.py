"""Probing: rows learned by asking the model what every word does in every state (SPEC §4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.abstraction import OutputStates
from wfalens.extraction.transitions import TransitionCounts
from wfalens.models.contract import State, SteppableClassifier, StepwiseClassifier, checked_probabilities
from wfalens.models.stepping import states_after, step_grid
from wfalens.progress import Progress
from wfalens.ragged import Ragged, offsets_of, positions

_WORDS_PER_BATCH = 256


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


def probe_rows(
    model: StepwiseClassifier,
    representatives: Representatives,
    states: OutputStates,
    words: NDArray[np.int32],
    progress: Progress,
) -> TransitionCounts:
    """`Qσ`: where each word leads from the representatives of each state. words: rising ids

    A steppable model is stepped once per representative and word from its saved state. A black box is asked
    for the prefix and the word as a text of its own, which costs a whole prefix each.
    """
    n, reps = len(states), len(representatives.state)
    saved = states_after(model, representatives.prefixes) if isinstance(model, SteppableClassifier) else None
    progress.start("probing the model", len(words))
    parts = []
    for start in range(0, len(words), _WORDS_PER_BATCH):
        batch = words[start : start + _WORDS_PER_BATCH]
        outputs = ask(model, representatives, saved, batch)
        after = states.assign(outputs)
        parts.append(TransitionCounts.of(n, np.tile(batch, reps), np.repeat(representatives.state, len(batch)), after))
        progress.advance(len(batch))
    progress.finish()
    # batches hold rising words, so their keys follow each other
    return TransitionCounts(
        n, np.concatenate([part.keys for part in parts]), np.concatenate([part.counts for part in parts])
    )


def ask(
    model: StepwiseClassifier, representatives: Representatives, saved: State | None, words: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Outputs after each word from each representative; -> (representatives · words, classes)"""
    classes = len(model.class_names)
    if saved is not None and isinstance(model, SteppableClassifier):
        outputs = step_grid(model, saved, words).reshape(-1, classes)
    else:
        prefixes = representatives.prefixes
        lengths = np.repeat(prefixes.lengths + 1, len(words))
        longer = Ragged.from_lengths(np.empty(int(lengths.sum()), np.int32), lengths)
        repeated = prefixes.take(np.repeat(np.arange(len(prefixes)), len(words)))
        longer.values[positions(longer.offsets[:-1], lengths - 1)] = repeated.values
        longer.values[longer.offsets[1:] - 1] = np.tile(words, len(prefixes))
        outputs = model.trace(longer).last()
    return checked_probabilities(outputs, len(representatives.state) * len(words), classes, "the model")
