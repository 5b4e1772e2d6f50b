"""In which space prefixes are compared when states are formed: the contract and its two kinds.

A view turns what the model shows of a prefix into a point; prefixes with near points become one state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError, ModelError
from wfalens.extraction.query_budget import LOOK_AHEAD, LOOK_AHEAD_SHARE, QueryBudget
from wfalens.extraction.states.continuations import MOST_ASKED, Continuations, drawn, most_informative, regression
from wfalens.models.contract import PrefixClassifier, State, StatefulClassifier, checked_probabilities
from wfalens.models.inference import output_traces, state_traces, states_after
from wfalens.ragged import Ragged, positions
from wfalens.threads import passes_of_model

_TOKENS_PER_CALL = 50_000
_SAMPLE, _SAMPLE_ASKED = 4000, 1000  # prefixes from which the look-ahead is learned, stepped or asked
_CONTINUATIONS, _CONTINUATION = 32, 4  # how many, and how many words each


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
    future outputs. A model that cannot be stepped has no state to show: its answers after the few continuations that
    tell most of the others take its place, so that every point costs some queries.
    """

    centre: NDArray[np.float32]  # (width,)
    basis: NDArray[np.float32]  # (width, components)
    continuations: Continuations | None = None  # asked in place of an internal state
    name: ClassVar[str] = "lookahead"
    needs_states: ClassVar[bool] = True

    @classmethod
    def learned(
        cls,
        model: PrefixClassifier,
        ids: Ragged[np.int32],
        components: int,
        rng: np.random.Generator,
        budget: QueryBudget,
    ) -> LookAhead:
        if isinstance(model, StatefulClassifier):
            return cls._of_states(model, ids, components, rng, budget)
        return cls._of_answers(model, ids, components, rng, budget)

    @classmethod
    def _of_states(
        cls,
        model: StatefulClassifier,
        ids: Ragged[np.int32],
        components: int,
        rng: np.random.Generator,
        budget: QueryBudget,
    ) -> LookAhead:
        prefixes = _some_prefixes(ids, _SAMPLE, rng)
        length = min(_CONTINUATION, len(ids.values))
        budget.enter(LOOK_AHEAD, len(prefixes.values) + len(prefixes) * _CONTINUATIONS * length)
        states = states_after(model, prefixes)
        starts = rng.integers(0, len(ids.values) - length + 1, _CONTINUATIONS)
        futures = _futures(model, states, [ids.values[start : start + length] for start in starts])
        targets = principal(futures, _CONTINUATIONS * length, components)
        return cls(*_foretelling(states, targets))

    @classmethod
    def _of_answers(
        cls,
        model: PrefixClassifier,
        ids: Ragged[np.int32],
        components: int,
        rng: np.random.Generator,
        budget: QueryBudget,
    ) -> LookAhead:
        """Learn from a few prefixes which continuations to ask, and how their answers tell those of the others.

        What looking at the texts will cost is entered, too; as many are asked as can be paid for.
        """
        prefixes, tried = _some_prefixes(ids, _SAMPLE_ASKED, rng), drawn(ids, _CONTINUATIONS, _CONTINUATION, rng)
        number = affordable_continuations(model, ids, budget.left(LOOK_AHEAD_SHARE))
        budget.enter(LOOK_AHEAD, tried.queries(model, prefixes.lengths))
        answers = tried.answers(model, prefixes).reshape(len(prefixes), len(tried), -1)
        targets = principal(answers.swapaxes(0, 1), len(tried), components)
        chosen = most_informative(answers, targets, max(1, number))
        asked = Continuations(tried.texts.take(chosen))
        budget.enter(LOOK_AHEAD, asked.queries(model, _prefix_lengths(ids)))
        return cls(*_foretelling(answers[:, chosen].reshape(len(prefixes), -1), targets), asked)

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        if states is None:
            raise ModelError("looking ahead needs the model's internal states")
        return np.hstack([outputs, (states - self.centre) @ self.basis]).astype(np.float32)


def _foretelling(
    states: NDArray[np.float32], targets: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Centre and basis by which states predict the targets. (N, width), (N, components)"""
    centre = states.mean(0)
    return centre, regression(states - centre, targets).astype(np.float32)


def _some_prefixes(ids: Ragged[np.int32], most: int, rng: np.random.Generator) -> Ragged[np.int32]:
    chosen = rng.choice(len(ids.values), min(most, len(ids.values)), replace=False)
    starts = ids.offsets[ids.item_of_value()[chosen]]
    lengths = chosen + 1 - starts
    return Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths)


def _prefix_lengths(ids: Ragged[np.int32]) -> NDArray[np.int64]:
    return np.arange(1, len(ids.values) + 1) - np.repeat(ids.offsets[:-1], ids.lengths)


def _futures(
    model: StatefulClassifier, states: State, continuations: Sequence[NDArray[np.int32]]
) -> Iterator[NDArray[np.float32]]:
    """Outputs after every word of every continuation, read from all states; each (states, C)"""
    for continuation in continuations:
        going = states
        for word in continuation:
            going, outputs = model.step(going, np.full(len(going), word, np.int32))
            yield outputs


def principal(tables: Iterable[NDArray[np.float32]], number: int, components: int) -> NDArray[np.float64]:
    """The rows of so many tables side by side, centred, by their principal components; (N, C) each -> (N, components)

    Squared distances are means over the tables. The tables are not kept where they are wider than long.
    """
    tables = iter(tables)
    first = next(tables)
    if len(first) > number * first.shape[1]:
        whole = np.hstack([first, *tables]).astype(np.float64) / np.sqrt(number)
        whole -= whole.mean(0)
        _, _, directions = np.linalg.svd(whole, full_matrices=False)
        return np.asarray(whole @ directions[:components].T)
    products = np.zeros((len(first), len(first)))
    for table in chain([first], tables):
        centred = table - table.mean(0)
        products += centred @ centred.T
    kept = min(components, len(first))
    from scipy.linalg import eigh

    values, vectors = eigh(products / number, subset_by_index=[len(first) - kept, len(first) - 1])
    return np.asarray((vectors * np.sqrt(values.clip(0)))[:, ::-1])


VIEWS = (Outputs.name, LookAhead.name)


def continuations_of(view: View) -> Continuations | None:
    """What has to be asked behind every prefix for its point in a view; None: nothing."""
    return getattr(view, "continuations", None)


def affordable_continuations(model: PrefixClassifier, ids: Ragged[np.int32], queries: int | None) -> int:
    """How many continuations queries pay for behind every prefix of texts, learning which included; 0: none.

    For a model that can be stepped, which is asked none: 1 if they pay for learning to look ahead.
    """
    if isinstance(model, StatefulClassifier):
        most = min(_SAMPLE, len(ids.values)) * (int(ids.lengths.max()) + _CONTINUATIONS * _CONTINUATION)
        return int(queries is None or most <= queries)
    if queries is None:
        return MOST_ASKED
    longest = Continuations(Ragged.from_lengths(np.zeros(_CONTINUATION, np.int32), np.array([_CONTINUATION])))
    sample = np.full(min(_SAMPLE_ASKED, len(ids.values)), int(ids.lengths.max()))
    learning = _CONTINUATIONS * longest.queries(model, sample)
    return max(0, min(MOST_ASKED, (queries - learning) // longest.queries(model, _prefix_lengths(ids))))


def make_view(
    name: str, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, budget: QueryBudget
) -> View:
    if name == Outputs.name:
        return Outputs()
    return LookAhead.learned(model, ids, len(model.class_names) + 3, rng, budget)


def steppable(model: PrefixClassifier) -> StatefulClassifier:
    """The model, if it can show its internal states; else refused."""
    if not isinstance(model, StatefulClassifier):
        raise InputError(f"this abstraction needs a model that can be stepped; choose {Outputs.name!r}")
    return model


@dataclass(frozen=True, eq=False)
class PrefixOutputs:
    """Texts, the model's output after every word, and the points by which they are compared."""

    ids: Ragged[np.int32]
    outputs: NDArray[np.float32]  # (tokens, C)
    points: NDArray[np.float32]  # (tokens, D)

    @property
    def last(self) -> NDArray[np.float32]:
        """Outputs after whole texts; (texts, C)"""
        return Ragged(self.outputs, self.ids.offsets).last()

    def take(self, texts: NDArray[np.int64]) -> PrefixOutputs:
        return self._of(self.ids.offsets[texts], self.ids.lengths[texts])

    def cut(self, lengths: NDArray[np.int64]) -> PrefixOutputs:
        """Every text cut after so many words; lengths: (texts,)"""
        return self._of(self.ids.offsets[:-1], lengths)

    def _of(self, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> PrefixOutputs:
        tokens = positions(starts, lengths)
        ids = Ragged.from_lengths(self.ids.values[tokens], lengths)
        return PrefixOutputs(ids, self.outputs[tokens], self.points[tokens])


def trace_prefixes(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    view: View,
) -> PrefixOutputs:
    """One pass of the model over the texts."""
    return trace_prefixes_in(model, ids, [view])[0]


def trace_prefixes_in(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    views: Sequence[View],
) -> list[PrefixOutputs]:
    """One pass of the model over the texts, in several views at once."""
    if not any(view.needs_states for view in views):
        outputs = output_traces(model, ids).values
        return [PrefixOutputs(ids, outputs, view.points(outputs, None)) for view in views]
    if any(continuations_of(view) is not None for view in views):
        return _trace_with_continuations(model, ids, views)
    model = steppable(model)
    outputs = np.empty((len(ids.values), len(model.class_names)), np.float32)
    points: list[NDArray[np.float32]] = []

    def look(part: Ragged[np.int32]) -> list[tuple[NDArray[np.int64], NDArray[np.float32], list[NDArray[np.float32]]]]:
        return [
            (tokens, traced, [view.points(traced, states) for view in views])
            for tokens, states, traced in state_traces(model, part)
        ]

    progress.start("running the model", len(ids.values))
    start = 0
    for part, found in zip(
        ids.chunks(_TOKENS_PER_CALL), passes_of_model(model, look, ids.chunks(_TOKENS_PER_CALL)), strict=True
    ):
        for tokens, traced, seen in found:
            outputs[start + tokens] = checked_probabilities(traced, len(tokens), outputs.shape[1], "the model")
            points = points or [np.empty((len(ids.values), each.shape[1]), np.float32) for each in seen]
            for table, rows in zip(points, seen, strict=True):
                table[start + tokens] = rows
        start += len(part.values)
        progress.advance(len(part.values))
    progress.finish()
    return [PrefixOutputs(ids, outputs, table) for table in points]


def _trace_with_continuations(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    views: Sequence[View],
) -> list[PrefixOutputs]:
    """The same where views ask for what follows."""
    outputs = output_traces(model, ids).values
    found = []
    for view in views:
        asked = continuations_of(view)
        progress.start("looking ahead" if asked else "looking")
        states = None if asked is None else asked.after_every_word(model, ids)
        progress.finish()
        found.append(PrefixOutputs(ids, outputs, view.points(outputs, states)))
    return found
