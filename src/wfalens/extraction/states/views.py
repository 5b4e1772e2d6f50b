"""In which space prefixes are compared when states are formed: the contract and its two kinds.

A view turns what the model shows of a prefix into a point; prefixes with near points become one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, ModelError
from wfalens.extraction.completion.queries import LOOK_AHEAD, Ledger
from wfalens.models.contract import State, SteppableClassifier, StepwiseClassifier, checked_probabilities
from wfalens.models.stepping import state_traces, states_after
from wfalens.models.traces import output_traces
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged, positions
from wfalens.threads import passes_of_model

_TOKENS_PER_CALL = 50_000
_SAMPLE = 4000  # prefixes from which the look-ahead is learned
_CONTINUATIONS, _CONTINUATION = 32, 4  # how many, and how many words each
_RIDGE, _LEAST_RIDGE = 1e-3, 1e-6


class View(Protocol):
    """Maps outputs, and internal states where it needs them, to points."""

    needs_states: ClassVar[bool]

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        # (N, C), (N, width) -> (N, D)
        ...


@dataclass(frozen=True)
class Outputs:
    """The paper's: a prefix is the output after it."""

    name: ClassVar[str] = "outputs"
    needs_states: ClassVar[bool] = False

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:  # noqa: ARG002
        return outputs


@dataclass(frozen=True, eq=False)
class LookAhead:
    """Same future, same state: the output, and what the model would say after continuations, foretold from its state.

    The outputs after continuations taken from the corpus are reduced to their principal components, and these are
    regressed on the internal state; squared distances of the foretold components are mean squared differences of
    future outputs.
    """

    centre: NDArray[np.float32]  # (width,)
    basis: NDArray[np.float32]  # (width, components)
    name: ClassVar[str] = "lookahead"
    needs_states: ClassVar[bool] = True

    @classmethod
    def learned(
        cls,
        model: SteppableClassifier,
        ids: Ragged[np.int32],
        components: int,
        rng: np.random.Generator,
        ledger: Ledger,
    ) -> LookAhead:
        chosen = rng.choice(len(ids.values), min(_SAMPLE, len(ids.values)), replace=False)
        starts = ids.offsets[ids.item_of_value()[chosen]]
        lengths = chosen + 1 - starts
        length = min(_CONTINUATION, len(ids.values))
        ledger.enter(LOOK_AHEAD, int(lengths.sum()) + len(chosen) * _CONTINUATIONS * length)
        states = states_after(model, Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths))
        futures = []
        for start in rng.integers(0, len(ids.values) - length + 1, _CONTINUATIONS):
            going = states
            for word in ids.values[start : start + length]:
                going, outputs = model.step(going, np.full(len(going), word, np.int32))
                futures.append(outputs)
        future = np.hstack(futures).astype(np.float64) / np.sqrt(len(futures))
        future -= future.mean(0)
        centre = states.mean(0)
        known = (states - centre).astype(np.float64)
        _, _, directions = np.linalg.svd(future, full_matrices=False)
        wanted = future @ directions[:components].T
        damping = (_RIDGE * len(known) * float(known.var()) + _LEAST_RIDGE) * np.eye(known.shape[1])
        basis = np.linalg.solve(known.T @ known + damping, known.T @ wanted)
        return cls(centre, basis.astype(np.float32))

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        if states is None:
            raise ModelError("looking ahead needs the model's internal states")
        return np.hstack([outputs, (states - self.centre) @ self.basis]).astype(np.float32)


VIEWS = (Outputs.name, LookAhead.name)


def most_look_ahead_queries(ids: Ragged[np.int32]) -> int:
    """What learning to look ahead may cost."""
    return min(_SAMPLE, len(ids.values)) * (int(ids.lengths.max()) + _CONTINUATIONS * _CONTINUATION)


def make_view(
    name: str, model: StepwiseClassifier, ids: Ragged[np.int32], rng: np.random.Generator, ledger: Ledger
) -> View:
    if name == Outputs.name:
        return Outputs()
    return LookAhead.learned(steppable(model), ids, len(model.class_names) + 3, rng, ledger)


def steppable(model: StepwiseClassifier) -> SteppableClassifier:
    """The model, if it can show its internal states; else refused."""
    if not isinstance(model, SteppableClassifier):
        raise InputError(f"this abstraction needs a model that can be stepped; choose {Outputs.name!r}")
    return model


@dataclass(frozen=True, eq=False)
class Seen:
    """Texts, the model's output after every word, and the points by which they are compared."""

    ids: Ragged[np.int32]
    outputs: NDArray[np.float32]  # (tokens, C)
    points: NDArray[np.float32]  # (tokens, D)

    @property
    def last(self) -> NDArray[np.float32]:
        """Outputs after whole texts; (texts, C)"""
        return Ragged(self.outputs, self.ids.offsets).last()

    def take(self, texts: NDArray[np.int64]) -> Seen:
        ids = self.ids.take(texts)
        tokens = positions(self.ids.offsets[texts], ids.lengths)
        return Seen(ids, self.outputs[tokens], self.points[tokens])


def see(model: StepwiseClassifier, ids: Ragged[np.int32], view: View, progress: Progress = SILENT) -> Seen:
    """One pass of the model over the texts."""
    return see_in(model, ids, [view], progress)[0]


def see_in(
    model: StepwiseClassifier, ids: Ragged[np.int32], views: Sequence[View], progress: Progress = SILENT
) -> list[Seen]:
    """One pass of the model over the texts, in several views at once."""
    if not any(view.needs_states for view in views):
        outputs = output_traces(model, ids, progress).values
        return [Seen(ids, outputs, view.points(outputs, None)) for view in views]
    model = steppable(model)
    outputs = np.empty((len(ids.values), len(model.class_names)), np.float32)
    points: list[NDArray[np.float32]] = []

    def look(part: Ragged[np.int32]) -> list[tuple[NDArray[np.int64], NDArray[np.float32], list[NDArray[np.float32]]]]:
        return [
            (tokens, said, [view.points(said, states) for view in views])
            for tokens, states, said in state_traces(model, part)
        ]

    progress.start("running the model", len(ids.values))
    start = 0
    for part, found in zip(
        ids.chunks(_TOKENS_PER_CALL), passes_of_model(model, look, ids.chunks(_TOKENS_PER_CALL)), strict=True
    ):
        for tokens, said, seen in found:
            outputs[start + tokens] = checked_probabilities(said, len(tokens), outputs.shape[1], "the model")
            points = points or [np.empty((len(ids.values), each.shape[1]), np.float32) for each in seen]
            for table, rows in zip(points, seen, strict=True):
                table[start + tokens] = rows
        start += len(part.values)
        progress.advance(len(part.values))
    progress.finish()
    return [Seen(ids, outputs, table) for table in points]
