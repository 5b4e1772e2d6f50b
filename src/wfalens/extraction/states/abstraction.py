"""Abstract states: how prefixes become states, the contract, and k-means in a view (paper §2: of the outputs).

Where rows are fitted, a point is a mixture of a few near centres (soft assignment by pairwise Frank–Wolfe): averaging
over steps loses less than with the nearest centre alone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import nearest_centre
from wfalens.errors import InputError
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.states.views import VIEWS, PrefixOutputs, View, make_view
from wfalens.jit import njit
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.threads import in_parallel

_NEAR = 12  # centres that may take part
_TOLERANCE, _MOST_STEPS = 1e-5, 60
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
        return make_view(self.name, model, ids, rng, budget)

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        return cluster(seen.points, states, sample, rng)


ABSTRACTIONS: dict[str, Abstraction] = {name: Clusters(name) for name in VIEWS}


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
    seed = int(rng.integers(2**31))
    # sums over threads come in any order: one thread, so that equal seeds agree; `visited` drops empty clusters
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = KMeans(clusters, n_init=1, random_state=seed).fit(points)
    return States(np.ascontiguousarray(fitted.cluster_centers_, np.float32))


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
