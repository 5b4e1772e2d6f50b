"""Walking a steppable classifier: to the state after a prefix, and over all words from given states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.models.contract import GridSteppable, State, SteppableClassifier
from wfalens.ragged import Ragged


def states_after(model: SteppableClassifier, prefixes: Ragged[np.int32]) -> State:
    """The internal state after each prefix, empty ones included; one batched step per position."""
    # -> (prefixes, width)
    state = model.initial_state(len(prefixes))
    table, lengths = prefixes.padded(), prefixes.lengths
    for position in range(table.shape[1]):
        reading = np.flatnonzero(lengths > position)
        state[reading], _ = model.step(state[reading], table[reading, position])
    return state


def step_grid(model: SteppableClassifier, state: State, ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """Outputs after reading every word from every state: (states, width), (words,) -> (states, words, classes)."""
    if isinstance(model, GridSteppable):
        return model.step_grid(state, ids)
    _, outputs = model.step(np.repeat(state, len(ids), axis=0), np.tile(ids, len(state)))
    return outputs.reshape(len(state), len(ids), -1)
