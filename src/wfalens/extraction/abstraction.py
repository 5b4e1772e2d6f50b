"""Abstract states: clusters of the points that a view makes of prefixes (paper §2: of the outputs)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from wfalens.automaton.kernels import nearest_centre
from wfalens.errors import InputError


class TooFewOutputsError(InputError):
    """There are fewer different points than states were asked for."""

    def __init__(self, distinct: int) -> None:
        super().__init__(f"the model gave only {distinct} different outputs; ask for at most {distinct} states")
        self.distinct = distinct


@dataclass(frozen=True, eq=False)
class States:
    """The abstraction λ: a point belongs to the nearest of K seeds; cluster k is state k + 1."""

    seeds: NDArray[np.float32]  # (K, D)

    def __len__(self) -> int:
        return len(self.seeds) + 1

    def visited(self, points: NDArray[np.float32]) -> tuple[States, NDArray[np.int32]]:
        """The states that hold at least one of the points, and the state of each point."""
        path = self.assign(points)
        sizes = np.bincount(path, minlength=len(self))[1:]
        if sizes.all():
            return self, path
        smaller = States(self.seeds[sizes > 0])
        return smaller, smaller.assign(points)

    def assign(self, points: NDArray[np.float32]) -> NDArray[np.int32]:
        # (N, D) -> (N,) states 1 … K
        return nearest_centre(points, self.seeds)


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
