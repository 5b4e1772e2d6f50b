"""How prefixes become states: the space in which they are compared, and k-means in it (paper §2: of the outputs).

A view turns what the model shows of a prefix into a point; prefixes with near points become one state. What a model
that cannot be stepped shows of a prefix beside its output are its answers after a few continuations.
Where rows are fitted, a point is a mixture of a few near centres (soft assignment by pairwise Frank–Wolfe): averaging
over steps loses less than with the nearest centre alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.kernels.steps import nearest_centre
from wfalens.errors import InputError, ModelError
from wfalens.extraction.perturbation import random_part
from wfalens.extraction.query_budget import LOOK_AHEAD, LOOK_AHEAD_SHARE, QueryBudget
from wfalens.jit import njit
from wfalens.models.contract import PrefixClassifier, State, StatefulClassifier, checked_probabilities
from wfalens.models.inference import (
    asks_every_prefix,
    last_outputs,
    output_traces,
    prefix_tree,
    state_traces,
    states_after,
    tokens_per_call,
)
from wfalens.ragged import Ragged, positions
from wfalens.threads import in_parallel, passes_of_model

MOST_ASKED = 4  # continuations behind every prefix
EMPTY_TEXT = Ragged(np.zeros(0, np.int32), np.zeros(2, np.int64))
MOST_OUTPUTS = 1 << 25  # numbers that a model says of all prefixes that are compared at a time
_PREFIXES_PER_CALL = 20_000
_SAMPLE = 4000  # prefixes from which the look-ahead is learned
_CONTINUATIONS, _CONTINUATION = 32, 4  # how many, and how many words each
_RIDGE, _LEAST_RIDGE = 1e-3, 1e-6
_COMPONENTS = 64  # of what follows, at most


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
class Continuations:
    """Texts that are put behind prefixes."""

    texts: Ragged[np.int32]

    @classmethod
    def drawn(cls, ids: Ragged[np.int32], number: int, longest: int, rng: np.random.Generator) -> Continuations:
        """So many runs of one to `longest` words from the texts, ends of texts crossed."""
        lengths = rng.integers(1, min(longest, len(ids.values)) + 1, number)
        return cls(cut_out(ids, rng.integers(0, len(ids.values) - lengths + 1), lengths))

    def __len__(self) -> int:
        return len(self.texts)

    def queries(self, model: PrefixClassifier, lengths: NDArray[np.int64]) -> int:
        """What asking them behind prefixes of these lengths costs: a model that traces scores all words of a text."""
        if asks_every_prefix(model):
            return len(self) * len(lengths)
        return len(self) * int(lengths.sum()) + len(lengths) * len(self.texts.values)

    def answers(self, model: PrefixClassifier, prefixes: Ragged[np.int32]) -> NDArray[np.float32]:
        """Outputs after every continuation of every prefix, side by side; -> (prefixes, continuations · C)"""

        def asked(part: Ragged[np.int32]) -> NDArray[np.float32]:
            each = (self.texts.take(np.full(len(part), at)) for at in range(len(self)))
            return np.hstack([last_outputs(model, appended(part, behind)) for behind in each])

        starts = range(0, len(prefixes), _PREFIXES_PER_CALL)
        parts = [prefixes.between(first, first + _PREFIXES_PER_CALL) for first in starts]
        nothing = np.empty((0, len(self) * len(model.class_names)), np.float32)
        return np.concatenate([nothing, *passes_of_model(model, asked, parts)])

    def after_every_word(self, model: PrefixClassifier, ids: Ragged[np.int32]) -> NDArray[np.float32]:
        """The same of every prefix of texts, equal ones asked once; -> (tokens, continuations · C)"""
        tree = prefix_tree(ids)
        return np.asarray(self.answers(model, tree.spelled(np.arange(len(tree))))[tree.of_token])


@dataclass(frozen=True, eq=False)
class LookAhead:
    """Same future, same state: the output, and what the model would say after continuations, foretold from its state.

    The outputs after continuations taken from the corpus are reduced to their principal components, and these are
    regressed on the internal state; squared distances of the foretold components are mean squared differences of
    future outputs. A model that cannot be stepped has no state to show: its answers after a few continuations take its
    place, so that every point costs some queries.
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
        """Learn from some prefixes how states foretell what follows; all that is asked is entered.

        Of a model that cannot be stepped nothing is learned: what asking it behind every prefix of the texts will cost
        is entered.
        """
        if not isinstance(model, StatefulClassifier):
            number = max(1, affordable_continuations(model, ids, budget.left(LOOK_AHEAD_SHARE)))
            asked = Continuations.drawn(ids, number, _CONTINUATION, rng)
            budget.enter(LOOK_AHEAD, asked.queries(model, prefix_lengths(ids)))
            width = number * len(model.class_names)
            return cls(
                np.zeros(width, np.float32), np.eye(width, dtype=np.float32) / np.sqrt(np.float32(number)), asked
            )
        length = min(_CONTINUATION, len(ids.values))
        sample = _SAMPLE if _CONTINUATIONS * length * len(model.class_names) < _SAMPLE else _SAMPLE // 2
        prefixes = prefixes_to(ids, rng.choice(len(ids.values), min(sample, len(ids.values)), replace=False))
        budget.enter(LOOK_AHEAD, len(prefixes.values) + len(prefixes) * _CONTINUATIONS * length)
        states = states_after(model, prefixes)
        starts = rng.integers(0, len(ids.values) - length + 1, _CONTINUATIONS)
        futures = _futures(model, states, [ids.values[start : start + length] for start in starts])
        targets = principal(futures, _CONTINUATIONS * length, components)
        centre = states.mean(0)
        return cls(centre, _regression(states - centre, targets).astype(np.float32))

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        if states is None:
            raise ModelError("looking ahead needs the model's internal states")
        return np.hstack([outputs, (states - self.centre) @ self.basis]).astype(np.float32)


def continuations_of(view: View) -> Continuations | None:
    """What has to be asked behind every prefix for its point in a view; None: nothing."""
    return getattr(view, "continuations", None)


def affordable_continuations(model: PrefixClassifier, ids: Ragged[np.int32], queries: int | None) -> int:
    """How many continuations queries pay for behind every prefix of texts; 0: none.

    For a model that can be stepped, which is asked none: 1 if they pay for learning to look ahead.
    """
    if isinstance(model, StatefulClassifier):
        most = min(_SAMPLE, len(ids.values)) * (int(ids.lengths.max()) + _CONTINUATIONS * _CONTINUATION)
        return int(queries is None or most <= queries)
    if queries is None:
        return MOST_ASKED
    longest = Continuations(Ragged.from_lengths(np.zeros(_CONTINUATION, np.int32), np.array([_CONTINUATION])))
    return min(MOST_ASKED, queries // longest.queries(model, prefix_lengths(ids)))


def _futures(
    model: StatefulClassifier, states: State, continuations: Sequence[NDArray[np.int32]]
) -> Iterator[NDArray[np.float32]]:
    """Outputs after every word of every continuation, read from all states; each (states, C)"""
    for continuation in continuations:
        going = states
        for word in continuation:
            going, outputs = model.step(going, np.full(len(going), word, np.int32))
            yield outputs


class Principal(NamedTuple):
    """Principal components, those of the largest variance first."""

    variances: NDArray[np.floating]  # (k,)
    directions: NDArray[np.floating]  # (D, k)


def principal_axes(products: NDArray[np.floating], most: int) -> Principal:
    """Of a table whose columns have these products with each other, which are overwritten; (D, D)"""
    from scipy.linalg import eigh

    kept = [max(0, len(products) - most), len(products) - 1]
    values, vectors = eigh(products, subset_by_index=kept, overwrite_a=True)
    return Principal(values[::-1], vectors[:, ::-1])


def principal(tables: Iterable[NDArray[np.float32]], number: int, components: int) -> NDArray[np.floating]:
    """The rows of so many tables side by side, centred, by their principal components; (N, C) each -> (N, components)

    Squared distances are means over the tables. The tables are not kept where they are wider than long.
    """
    tables = iter(tables)
    first = next(tables)
    if len(first) > number * first.shape[1]:
        whole = np.hstack([first, *tables]) / np.sqrt(np.float32(number))
        whole -= whole.mean(0)
        return np.asarray(whole @ principal_axes(whole.T @ whole, components).directions)
    products = np.zeros((len(first), len(first)))
    for table in chain([first], tables):
        centred = table - table.mean(0)
        products += centred @ centred.T
    products /= number
    found = principal_axes(products, components)
    return np.asarray(found.directions * np.sqrt(found.variances.clip(0)))


def _regression(known: NDArray[np.floating], targets: NDArray[np.floating]) -> NDArray[np.float64]:
    """B that makes `known·B` nearest to the targets; known, centred: (N, a), targets: (N, b) -> (a, b)"""
    table = known.astype(np.float64)
    damping = (_RIDGE * len(table) * float(table.var()) + _LEAST_RIDGE) * np.eye(table.shape[1])
    return np.asarray(np.linalg.solve(table.T @ table + damping, table.T @ targets))


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


def trace_prefixes(model: PrefixClassifier, ids: Ragged[np.int32], view: View) -> PrefixOutputs:
    """One pass of the model over the texts."""
    return trace_prefixes_in(model, ids, [view])[0]


def trace_prefixes_in(model: PrefixClassifier, ids: Ragged[np.int32], views: Sequence[View]) -> list[PrefixOutputs]:
    """One pass of the model over the texts, in several views at once."""
    if any(view.needs_states and continuations_of(view) is None for view in views):
        return _trace_states(model, ids, views)
    outputs, found = output_traces(model, ids).values, []
    for view in views:
        asked, answers = continuations_of(view), None
        if asked is not None:
            progress.start("looking ahead")
            answers = asked.after_every_word(model, ids)
            progress.finish()
        found.append(PrefixOutputs(ids, outputs, view.points(outputs, answers)))
    return found


def _trace_states(model: PrefixClassifier, ids: Ragged[np.int32], views: Sequence[View]) -> list[PrefixOutputs]:
    """The same in views of the model's internal states."""
    if not isinstance(model, StatefulClassifier):
        raise InputError(f"this abstraction needs a model that can be stepped; choose {Outputs.name!r}")
    outputs = np.empty((len(ids.values), len(model.class_names)), np.float32)
    points: list[NDArray[np.float32]] = []

    def look(part: Ragged[np.int32]) -> list[tuple[NDArray[np.int64], NDArray[np.float32], list[NDArray[np.float32]]]]:
        return [
            (tokens, traced, [view.points(traced, states) for view in views])
            for tokens, states, traced in state_traces(model, part)
        ]

    progress.start("running the model", len(ids.values))
    start, parts = 0, list(ids.chunks(tokens_per_call(model)))
    for part, found in zip(parts, passes_of_model(model, look, parts), strict=True):
        for tokens, traced, seen in found:
            outputs[start + tokens] = checked_probabilities(traced, len(tokens), outputs.shape[1], "the model")
            points = points or [np.empty((len(ids.values), each.shape[1]), np.float32) for each in seen]
            for table, rows in zip(points, seen, strict=True):
                table[start + tokens] = rows
        start += len(part.values)
        progress.advance(len(part.values))
    progress.finish()
    return [PrefixOutputs(ids, outputs, table) for table in points]


def narrowed(points: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """Points of too many columns by random projections, which nearly keep their distances. (…, D) -> (…, most)"""
    width = points.shape[-1]
    if width <= most:
        return points
    return points @ np.random.default_rng(0).normal(0, most**-0.5, (width, most)).astype(np.float32)


def that_fit(ids: Ragged[np.int32], classes: int, rng: np.random.Generator) -> Ragged[np.int32]:
    """The texts or, where the outputs of so many classes for all prefixes would fill the memory, a random part."""
    most = MOST_OUTPUTS // classes
    return ids if len(ids.values) <= most else ids.take(random_part(ids, most, rng))


def prefix_lengths(ids: Ragged[np.int32]) -> NDArray[np.int64]:
    """After how many words each token of a text ends a prefix: 1, 2, …"""
    return np.arange(1, len(ids.values) + 1) - np.repeat(ids.offsets[:-1], ids.lengths)


def prefixes_to(ids: Ragged[np.int32], tokens: NDArray[np.int64]) -> Ragged[np.int32]:
    """The prefixes of texts that end with the given tokens."""
    starts = ids.offsets[ids.item_of_value()[tokens]]
    return cut_out(ids, starts, tokens + 1 - starts)


def cut_out(ids: Ragged[np.int32], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged[np.int32]:
    """Runs of tokens as texts."""
    return Ragged.from_lengths(ids.values[positions(starts, lengths)], lengths)


def appended(first: Ragged[np.int32], second: Ragged[np.int32]) -> Ragged[np.int32]:
    """Each text of the first with that of the second behind it."""
    lengths = first.lengths + second.lengths
    starts = np.cumsum(lengths) - lengths
    values = np.empty(int(lengths.sum()), np.int32)
    values[positions(starts, first.lengths)] = first.values
    values[positions(starts + first.lengths, second.lengths)] = second.values
    return Ragged.from_lengths(values, lengths)


_NEAR = 12  # centres that may take part
_TOLERANCE, _MOST_STEPS = 1e-5, 400
_POINTS_PER_THREAD = 4096


class TooFewOutputsError(InputError):
    """There are fewer different points than states were asked for."""

    def __init__(self, distinct: int) -> None:
        super().__init__(f"the model gave only {distinct} different outputs; ask for at most {distinct} states")
        self.distinct = distinct


@dataclass(frozen=True, eq=False)
class States:
    """The abstraction λ: a point belongs to the nearest of K seeds; cluster k is state k + 1.

    Who divides points otherwise overrides `assign`, `mixtures` and `only`.
    """

    seeds: NDArray[np.float32]  # (K, D)

    def __len__(self) -> int:
        return len(self.seeds) + 1

    def visited(self, points: NDArray[np.float32]) -> tuple[Self, NDArray[np.int32]]:
        """The states that hold at least one of the points, and the state of each point."""
        path = self.assign(points)
        sizes = np.bincount(path, minlength=len(self))[1:]
        if sizes.all():
            return self, path
        smaller = self.only(sizes > 0)
        return smaller, smaller.assign(points)

    def assign(self, points: NDArray[np.float32]) -> NDArray[np.int32]:
        # (N, D) -> (N,) states 1 … K
        return nearest_centre(points, self.seeds)

    def mixtures(self, points: NDArray[np.float32], hardness: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Each point as a mixture of a few states; -> (N, near) states, (N, near) weights that sum to 1"""
        return mixtures(points, self.seeds, hardness)

    def only(self, kept: NDArray[np.bool_]) -> Self:
        """The clusters that are kept, in their order. kept: (K,)"""
        return replace(self, seeds=self.seeds[kept])


@runtime_checkable
class Abstraction(Protocol):
    """How prefixes become states: in which view they are compared, and how its points are divided."""

    @property
    def name(self) -> str: ...

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, budget: QueryBudget
    ) -> View:
        """The view, learned from the model and the texts where there is something to learn.

        What it asks the model beyond the texts, it enters in the budget.
        """
        ...

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        """At most `states` states for what was seen, from `sample` points per state (None: from all)."""
        ...


@dataclass(frozen=True)
class Clusters:
    """k-means in the view of that name."""

    name: str

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, budget: QueryBudget
    ) -> View:
        if self.name == Outputs.name:
            return Outputs()
        return LookAhead.learned(model, ids, min(len(model.class_names) + 3, _COMPONENTS), rng, budget)

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        return cluster(seen.points, states, sample, rng)


ABSTRACTIONS: dict[str, Abstraction] = {name: Clusters(name) for name in (Outputs.name, LookAhead.name)}


def named_abstraction(given: str | Abstraction) -> Abstraction:
    """The abstraction of that name, or the one that was given itself."""
    return ABSTRACTIONS[given] if isinstance(given, str) else given


def cluster(points: NDArray[np.float32], clusters: int, sample: int | None, rng: np.random.Generator) -> States:
    """k-means on the points, or on a random sample of `sample` per cluster where there are more."""
    if sample is not None and len(points) > sample * clusters:
        chosen = rng.choice(len(points), sample * clusters, replace=False)
        points = points[np.sort(chosen)]
    distinct = len(np.unique(points, axis=0))
    if distinct < clusters:
        raise TooFewOutputsError(distinct)
    fitted = k_means(points, clusters, rng)  # `visited` drops empty clusters
    return States(np.ascontiguousarray(fitted.cluster_centers_, np.float32))


def k_means(
    points: NDArray[Any], clusters: int, rng: np.random.Generator, weights: NDArray[np.float64] | None = None
) -> Any:
    """scikit-learn's, fitted by one thread: sums over threads come in any order. points: (N, ·), weights: (N,)"""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different points than clusters are no harm
        return KMeans(clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(points, sample_weight=weights)


def state_centres(
    outputs: NDArray[np.float32], path: NDArray[np.int32], initial: NDArray[np.float32], states: int
) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state, of which there is at least one; ρ(0) is given. -> (n, classes)"""
    sums = np.stack([np.bincount(path, column, states) for column in outputs.T], 1)
    sums[0] = initial
    centres: NDArray[np.float64] = sums / np.maximum(1, np.bincount(path, minlength=states))[:, None]
    centres /= centres.sum(1, keepdims=True)  # float32 outputs sum to 1 only to 1e-7
    return centres


def mixtures(
    points: NDArray[np.float32], centres: NDArray[np.float32], hardness: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The weights w on the simplex over the nearest centres c that minimise ½|x − w·c|² + λ/2 Σ wⱼ|x − cⱼ|².

    The first term keeps the mean, the second, λ = `hardness`, keeps the centres near; a large λ leaves the nearest
    one only. -> states (N, near), 1 + the centre, and weights (N, near), zero for those that do not take part
    """
    near = min(_NEAR, len(centres))
    states = np.empty((len(points), near), np.int32)
    weights = np.empty((len(points), near), np.float32)
    between = np.stack([np.square(centres - each).sum(1) for each in centres.astype(np.float64)])
    columns = np.ascontiguousarray(centres.T)

    def work(first: int, last: int) -> None:
        _mix(points, columns, between, hardness, first, last, states, weights)

    in_parallel(work, np.arange(len(points) + 1), _POINTS_PER_THREAD)
    return states, weights


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _measure(point, columns, distance):  # type: ignore[no-untyped-def]
    """Squared distances of a point (D,) to all centres, whose coordinates are columns (D, K); one column at a time."""
    distance[:] = 0
    for at in range(columns.shape[0]):
        for centre in range(columns.shape[1]):
            gap = point[at] - columns[at, centre]
            distance[centre] += gap * gap


@njit(cache=True, nogil=True)
def _mix(points, columns, between, hardness, first, last, states, weights):  # type: ignore[no-untyped-def]
    """Pairwise Frank–Wolfe: moves weight from the centre of the steepest slope to that of the lowest."""
    count, near = columns.shape[1], states.shape[1]
    distance, chosen = np.empty(count, np.float32), np.empty(near, np.int64)
    slope, weight = np.empty(near), np.empty(near)
    for point in range(first, last):
        filled = 0
        _measure(points[point], columns, distance)
        for centre in range(count):
            total = distance[centre]
            if filled < near or total < distance[chosen[filled - 1]]:
                slot = filled if filled < near else near - 1
                while slot > 0 and distance[chosen[slot - 1]] > total:
                    chosen[slot] = chosen[slot - 1]
                    slot -= 1
                chosen[slot] = centre
                filled = min(near, filled + 1)
        nearest = chosen[0]
        for j in range(near):
            weight[j] = 0.0
            own = distance[chosen[j]]
            slope[j] = 0.5 * (own + distance[nearest] - between[chosen[j], nearest] + hardness * own)
        weight[0] = 1.0
        for _ in range(_MOST_STEPS):
            taker, giver = 0, -1
            for j in range(near):
                if slope[j] < slope[taker]:
                    taker = j
                if weight[j] > 0 and (giver < 0 or slope[j] > slope[giver]):
                    giver = j
            gain = slope[giver] - slope[taker]
            if gain <= _TOLERANCE:
                break
            apart = between[chosen[giver], chosen[taker]]
            moved = weight[giver] if apart <= 1e-12 else min(weight[giver], gain / apart)
            weight[taker] += moved
            weight[giver] = weight[giver] - moved if moved < weight[giver] else 0.0
            shift = distance[chosen[taker]] - distance[chosen[giver]]
            for j in range(near):
                change = between[chosen[j], chosen[giver]] - between[chosen[j], chosen[taker]]
                slope[j] += moved * 0.5 * (shift + change)
        for j in range(near):
            states[point, j] = chosen[j] + 1
            weights[point, j] = weight[j]
