"""Ways to form states, side by side: the two that the package has, and others that it does not, behind its contract.

outputs           k-means on the outputs: the paper's
lookahead         k-means on the outputs and what the model would say after continuations
internal states   k-means on the principal components of the model's standardised internal state
Gaussian mixture  on the outputs, full covariances; a prefix belongs to its likeliest component
splitting         half the states by k-means, then the state whose members disagree most about what the same word does
                  is cut in two, across the direction that tells these disagreements best; in both views

Every way has the same model, number of states, probing and fitting. Measured on a fifth of the training texts, which
extraction does not see; the test texts play no part. `difference` is CR less that of `lookahead` on the same texts,
with the standard error of paired differences.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from common import arguments, data_sets, finish, show, trained_model
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import Abstraction, PrefixOutputs, States, Stochastic, View, extract
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.states import ABSTRACTIONS, Outputs, cluster, prefixes_to
from wfalens.models.contract import PrefixClassifier, State
from wfalens.models.inference import states_after
from wfalens.ragged import Ragged

STATES = {"jigsaw_toxic": 20}  # else 40
SEEDS = {"tagmynews": 2}  # LSTMs; else 1
MOST_TOKENS = 200_000  # of the extraction texts
HELD_OUT, MOST_HELD_OUT = 0.2, 6000
COMPONENTS = 16  # of the internal state
LEAST_VARIANCE = 1e-3  # of a Gaussian, in any direction
NEAR = 12  # states that share an answer at most, as in the package
SAMPLE = 4000  # prefixes from which a view is learned


@dataclass(frozen=True, eq=False)
class Projection:
    """Principal components of the standardised internal state."""

    centre: NDArray[np.float32]  # (width,)
    basis: NDArray[np.float32]  # (width, components)
    needs_states: ClassVar[bool] = True

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        return ((states - self.centre) @ self.basis).astype(np.float32)


@dataclass(frozen=True)
class InternalStates:
    name: str = "internal states"

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, ledger: QueryBudget
    ) -> View:
        prefixes = prefixes_to(ids, rng.choice(len(ids.values), min(SAMPLE, len(ids.values)), replace=False))
        states = states_after(model, prefixes)
        scale = np.maximum(states.std(0), 1e-6)
        found = PCA(min(COMPONENTS, *states.shape), random_state=0).fit((states - states.mean(0)) / scale)
        return Projection(states.mean(0), (found.components_ / scale).T.astype(np.float32))

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        return cluster(seen.points, states, sample, rng)


@dataclass(frozen=True, eq=False)
class Components(States):
    """Components of a Gaussian mixture: a point belongs to the likeliest, and in shares to several by their odds."""

    mixture: GaussianMixture

    def only(self, kept: NDArray[np.bool_]) -> Components:
        fewer = GaussianMixture(int(kept.sum()))
        fewer.weights_ = self.mixture.weights_[kept] / self.mixture.weights_[kept].sum()
        fewer.means_, fewer.precisions_cholesky_ = self.mixture.means_[kept], self.mixture.precisions_cholesky_[kept]
        return Components(self.seeds[kept], fewer)

    def assign(self, points: NDArray[np.float32]) -> NDArray[np.int32]:
        return np.concatenate([part.argmax(1) + 1 for part in self._logs(points)]).astype(np.int32)

    def mixtures(self, points: NDArray[np.float32], hardness: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        near, weights = [], []
        for logs in self._logs(points):
            places = np.argsort(-logs, 1)[:, :NEAR]
            top = np.take_along_axis(logs, places, 1)
            shares = np.exp(top - top[:, :1])
            near.append(places + 1)
            weights.append(shares / shares.sum(1, keepdims=True))
        return np.concatenate(near).astype(np.int32), np.concatenate(weights).astype(np.float32)

    def _logs(self, points: NDArray[np.float32]):
        """Log-odds of the components for parts of the points: polynomials of degree two, so one product."""
        middle = self.seeds.mean(0).astype(np.float64)
        means, roots = self.mixture.means_ - middle, self.mixture.precisions_cholesky_
        precisions = roots @ roots.transpose(0, 2, 1)
        pulls = np.einsum("kij,kj->ki", precisions, means)
        bias = np.log(self.mixture.weights_) + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(1)
        bias -= 0.5 * np.einsum("ki,ki->k", pulls, means)
        upper = np.triu_indices(points.shape[1])
        squares = (-precisions * (1 - 0.5 * np.eye(points.shape[1])))[:, *upper]
        weights = np.hstack([squares, pulls]).T
        for start in range(0, len(points), 50_000):
            part = points[start : start + 50_000] - middle
            yield np.hstack([part[:, upper[0]] * part[:, upper[1]], part]) @ weights + bias


@dataclass(frozen=True)
class Mixture:
    name: str = "Gaussian mixture"

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, ledger: QueryBudget
    ) -> View:
        return Outputs()

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        points = seen.points
        if sample is not None and len(points) > sample * states:
            points = points[rng.choice(len(points), sample * states, replace=False)]
        found = GaussianMixture(
            states, reg_covar=LEAST_VARIANCE, max_iter=200, random_state=int(rng.integers(2**31))
        ).fit(points.astype(np.float64))
        return Components(found.means_.astype(np.float32), found)


@dataclass(frozen=True)
class Splitting:
    """Begins with half the states of another abstraction."""

    start: Abstraction

    @property
    def name(self) -> str:
        return f"splitting, {self.start.name}"

    def view(
        self, model: PrefixClassifier, ids: Ragged[np.int32], rng: np.random.Generator, ledger: QueryBudget
    ) -> View:
        return self.start.view(model, ids, rng, ledger)

    def divide(self, seen: PrefixOutputs, states: int, sample: int | None, rng: np.random.Generator) -> States:
        seeds = self.start.divide(seen, states // 2, sample, rng).seeds
        going = np.ones(len(seen.ids.values), bool)
        going[seen.ids.offsets[1:] - 1] = False
        here = np.flatnonzero(going)  # tokens with a next one in their text
        points, after = seen.points[here].astype(np.float64), seen.outputs[here + 1].astype(np.float64)
        words, alphabet = seen.ids.values[here + 1].astype(np.int64), int(seen.ids.values.max()) + 1
        while len(seeds) < states:
            state = States(seeds).assign(seen.points)[here] - 1
            _, group, sizes = np.unique(state * alphabet + words, return_inverse=True, return_counts=True)
            apart = after - _means(after, group, sizes)
            # a group of n has n − 1 degrees of freedom; one of a single member tells nothing
            each = np.square(apart).sum(1) * (sizes / np.maximum(1, sizes - 1))[group]
            worst = int(np.bincount(state, each, len(seeds)).argmax())
            members = state == worst
            centred = (points - _means(points, group, sizes))[members]
            direction = np.linalg.svd(centred.T @ apart[members])[0][:, 0]
            own = points[members]
            side = own @ direction > own.mean(0) @ direction
            halves = [own[side].mean(0), own[~side].mean(0)]
            seeds = np.vstack([np.delete(seeds, worst, 0), *halves]).astype(np.float32)
        return States(seeds)


def _means(values: NDArray[np.float64], group: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean of each value's group; values: (N, D), group: (N,) -> (N, D)"""
    return np.stack([(np.bincount(group, column) / sizes)[group] for column in values.T], 1)


WAYS: tuple[Abstraction, ...] = (
    ABSTRACTIONS["lookahead"],
    ABSTRACTIONS["outputs"],
    InternalStates(),
    Mixture(),
    Splitting(ABSTRACTIONS["outputs"]),
    Splitting(ABSTRACTIONS["lookahead"]),
)


def parts(options, model, train) -> tuple[Ragged, Ragged]:
    """Texts to extract from, and held-out ones."""
    ids = model.encoder.encode(train.texts)
    order = np.random.default_rng(0).permutation(np.flatnonzero(ids.lengths))
    held = min(MOST_HELD_OUT, round(HELD_OUT * len(order)))
    rest = order[held:]
    most = 40_000 if options.quick else MOST_TOKENS
    rest = rest[np.cumsum(ids.lengths[rest]) <= most]
    return ids.take(np.sort(rest)), ids.take(np.sort(order[:held]))


def compare(options, name: str, train, seed: int) -> dict[str, dict[str, dict[str, float]]]:
    model = trained_model(name, train, options.quick, seed)
    ids, tests = parts(options, model, train)
    wanted = model.trace(tests).last()
    rounds = 2 if options.quick else 8
    states = 20 if options.quick else STATES.get(name, 40)
    rows, table = [], {}
    for completion in ("probe", "fit"):
        reference = None
        for way in WAYS:
            began = time.process_time()
            wfa = extract(
                model,
                ids,
                Stochastic(
                    states=states,
                    abstraction=way,
                    completion=completion,
                    alpha=0.0,
                    representatives=3 if options.quick else 5,
                    rounds=rounds,
                ),
                seed=seed,
            )
            seconds = time.process_time() - began
            agrees = wfa.predict_indices(tests) == wanted.argmax(1)
            reference = agrees if reference is None else reference
            gain = agrees.astype(float) - reference
            found = {
                "cr": float(agrees.mean()),
                "jsd": float(jensen_shannon(wfa.predict_proba(tests), wanted).mean()),
                "difference": float(gain.mean()),
                "error": float(gain.std() / np.sqrt(len(gain))),
                "states": wfa.states - 1,
                "processor_seconds": seconds,
            }
            table.setdefault(way.name, {})[completion] = found
            off = f"{found['difference']:+.4f} ± {found['error']:.4f}"
            rows.append(
                [completion, way.name, wfa.states - 1, f"{found['cr']:.4f}", f"{found['jsd']:.4f}", off, seconds]
            )
            print(f"{name} {seed}:", *rows[-1], file=sys.stderr, flush=True)
    columns = ["completion", "states from", "K", "CR", "JSD", "difference", "processor s"]
    size = f"{len(ids):,} texts of {len(ids.values):,} words, {len(tests):,} held out"
    show(f"{name}, LSTM {seed}: {size}", columns, rows)
    return table


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    result: dict[str, object] = {}
    with threadpool_limits(1):  # as k-means: equal seeds agree
        for name, train, _ in data_sets(options):
            seeds = 1 if options.quick else SEEDS.get(name, 1)
            result[name] = [compare(options, name, train, seed) for seed in range(seeds)]
    finish(options, result)


if __name__ == "__main__":
    main()
