"""Going on from a prefix: by the saved state of a model that can be stepped, else by reading the prefix again."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wfalens.language.probability import NextSymbolModel
from wfalens.models.contract import checked_probabilities
from wfalens.ragged import Ragged


class Stepper(Protocol):
    """Goes on from states, one row per prefix."""

    def initial_state(self, batch: int) -> NDArray[Any]: ...

    def step(self, state: NDArray[Any], ids: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[Any]]: ...


def stepper(model: NextSymbolModel, longest: int) -> Stepper:
    """The model itself if it can be stepped; else a state is the prefix, of at most `longest` symbols."""
    can = callable(getattr(model, "initial_state", None)) and callable(getattr(model, "step", None))
    return Checked(cast(Stepper, model) if can else Rereading(model, longest), len(model.class_names))


class Checked:
    """Steps whose outputs are probabilities; others are refused."""

    def __init__(self, inner: Stepper, classes: int) -> None:
        self.inner, self.classes = inner, classes

    def initial_state(self, batch: int) -> NDArray[Any]:
        return self.inner.initial_state(batch)

    def step(self, state: NDArray[Any], ids: NDArray[np.int32]) -> tuple[NDArray[Any], NDArray[Any]]:
        after, outputs = self.inner.step(state, ids)
        checked_probabilities(outputs, len(ids), self.classes, "the model")
        return after, outputs


class Rereading:
    """Steps of a model that has none: every prefix is read from its beginning."""

    def __init__(self, model: NextSymbolModel, longest: int) -> None:
        self.model, self.longest = model, longest

    def initial_state(self, batch: int) -> NDArray[np.int32]:
        return np.zeros((batch, self.longest), np.int32)  # padded with 0, which is no symbol

    def step(self, state: NDArray[np.int32], ids: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[Any]]:
        lengths = (state > 0).sum(1)
        after = state.copy()
        after[np.arange(len(state)), lengths] = ids
        return after, self.model.trace(Ragged.from_lengths(after[after > 0], lengths + 1)).last()
