"""Walking a steppable classifier: to the state after a prefix, and over all words from given states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wfalens.models.contract import BatchSteppable, State, StatefulClassifier
from wfalens.ragged import Ragged

_TEXTS_PER_BATCH = 1024


def states_after(model: StatefulClassifier, prefixes: Ragged[np.int32]) -> State:
    """The internal state after each prefix, empty ones included; one batched step per position."""
    # -> (prefixes, width)
    state = model.initial_state(len(prefixes))
    table, lengths = prefixes.padded(), prefixes.lengths
    for position in range(table.shape[1]):
        reading = np.flatnonzero(lengths > position)
        state[reading], _ = model.step(state[reading], table[reading, position])
    return state


def step_grid(model: StatefulClassifier, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """Outputs after reading every word from every state: (states, width), (words,) -> (states, words, classes)."""
    if isinstance(model, BatchSteppable) and model.has_grid:
        return model.step_grid(state, ids)
    return state_grid(model, state, ids)[1]


def state_grid(model: StatefulClassifier, state: State, ids: NDArray[np.int32]) -> tuple[State, NDArray[np.float32]]:
    """The new states, (states, words, width), and the outputs as `step_grid` gives them."""
    if isinstance(model, BatchSteppable) and model.has_grid:
        return model.state_grid(state, ids)
    states, outputs = model.step(np.repeat(state, len(ids), axis=0), np.tile(ids, len(state)))
    shape = len(state), len(ids), -1
    return states.reshape(shape), outputs.reshape(shape)


def state_traces(
    model: StatefulClassifier, ids: Ragged[np.int32]
) -> Iterator[tuple[NDArray[np.int64], State, NDArray[np.float32]]]:
    """Internal states and outputs after every word: for batches of tokens, their positions, states and outputs."""
    order = np.argsort(-ids.lengths, kind="stable")
    for first in range(0, len(order), _TEXTS_PER_BATCH):
        texts = order[first : first + _TEXTS_PER_BATCH]  # the longest first: the texts that go on are the first ones
        starts, lengths = ids.offsets[texts], ids.lengths[texts]
        state = model.initial_state(len(texts))
        for position in range(int(lengths[0])):
            reading = int(np.searchsorted(-lengths, -position))
            tokens = starts[:reading] + position
            state, outputs = model.step(state[:reading], ids.values[tokens])
            yield tokens, state, outputs
