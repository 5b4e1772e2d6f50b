"""Fitting: classes of words, their matrices and the outputs of states together, by gradient descent.

While it is fitted, a word is a mixture of classes: softmax((own + effect·common) / temperature), with numbers of its
own and numbers that all words share, by which its effect on the model speaks for a class. The temperature falls until
every word is in one class; then the classes stand, and matrices and outputs settle. It starts from states of the
model's outputs, and from classes of words that have a like effect on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from wfalens.errors import WfalensError
from wfalens.extraction.completion.fitting import PARTS, in_parts
from wfalens.extraction.completion.probing import affordable, choose_representatives, probing_queries, read_words
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.perturbation import length_buckets
from wfalens.extraction.perturbed_batches import TrainingBatch
from wfalens.extraction.query_budget import PROBING, QueryBudget
from wfalens.extraction.readable.readable_options import Readable
from wfalens.extraction.states import (
    ABSTRACTIONS,
    LookAhead,
    Outputs,
    TooFewOutputsError,
    cluster,
    k_means,
    narrowed,
    principal_axes,
    state_centres,
    that_fit,
    trace_prefixes,
)
from wfalens.jit import njit
from wfalens.models.contract import PrefixClassifier, StatefulClassifier
from wfalens.models.inference import initial_output
from wfalens.ragged import Ragged

_FIRST_CLASS = 2.0  # what speaks for the class that a word starts in
_LEAST_MOVE, _LEAST_OUTPUT = 1e-3, 1e-4  # probabilities from which fitting may start
_WARM_UP = 0.05  # share of the training
_SLOWEST = 0.01  # share of the learning rate that is left at the end
_MOMENTS = (0.9, 0.99)


@dataclass(frozen=True, eq=False)
class Fit:
    """What was fitted."""

    matrices: NDArray[np.float64]  # (G, n, n)
    centres: NDArray[np.float64]  # (n, C)
    word_class: NDArray[np.int64]  # (V,)
    typicality: NDArray[np.float64]  # (V,): the share of its class in a word's mixture at temperature 1


class _Mixtures(nn.Module):
    """The automaton in training. The start is never entered again, and says what the model says before any word."""

    def __init__(self, start: Fit, effects: NDArray[np.float32]) -> None:
        super().__init__()
        classes, of_word = len(start.matrices), start.word_class
        self.moves = nn.Parameter(torch.from_numpy(np.log(start.matrices[:, :, 1:] + _LEAST_MOVE)).float())
        self.output_logits = nn.Parameter(torch.from_numpy(np.log(start.centres[1:] + _LEAST_OUTPUT)).float())
        self.prior = torch.from_numpy(start.centres[:1]).float()
        self.effects = torch.from_numpy(standardised(effects))
        own = torch.zeros(len(of_word), classes)
        own[torch.arange(len(of_word)), torch.from_numpy(of_word)] = _FIRST_CLASS
        self.own = nn.Embedding(len(of_word), classes, _weight=own, sparse=True)
        self.common = nn.Parameter(torch.zeros(self.effects.shape[1], classes))

    def matrices(self) -> Tensor:
        """-> (G, n, n)"""
        inner = self.moves.softmax(-1)
        return torch.cat([torch.zeros(*inner.shape[:2], 1), inner], -1)

    def centres(self) -> Tensor:
        """-> (n, C)"""
        return torch.cat([self.prior, self.output_logits.softmax(-1)])

    def scores(self, words: Tensor) -> Tensor:
        """What speaks for each class; (N,) -> (N, G)"""
        result: Tensor = self.own(words) + self.effects[words] @ self.common
        return result


def fit(
    start: Start,
    epochs: int,
    final_epochs: int,
    batches: Iterator[TrainingBatch],
    method: Readable,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
) -> Iterator[Fit]:
    """What is reached after every pass; the last one is the result.

    Where time is short there are fewer passes, and all that changes with them changes with the time.
    """
    training = _Training(_Mixtures(start.fit, start.effects), method, epochs, final_epochs, deadline)
    for number in range(epochs + final_epochs):
        done = training.done(number)
        if number and done >= training.passes:
            break
        if done >= epochs:
            training.harden()
        training.learn(next(batches), number, rng)
        yield training.reached()


def merged(fitted: Fit, counts: NDArray[np.int64], classes: int, rng: np.random.Generator) -> Fit:
    """So many classes of words, from more: those that do the like become one. counts: (V,)"""
    sizes = np.bincount(fitted.word_class, counts + NEVER_SEEN, len(fitted.matrices))
    used = np.flatnonzero(sizes)
    leads = fitted.matrices @ fitted.centres  # (classes, n, C)
    points = np.hstack([part.reshape(len(sizes), -1) for part in (leads, fitted.matrices / 2)])
    to = k_means(points[used], min(classes, len(used)), rng, np.sqrt(sizes[used])).predict(points)
    sums = np.zeros((int(to.max()) + 1, *fitted.matrices.shape[1:]))
    np.add.at(sums, to, fitted.matrices * sizes[:, None, None])
    return Fit(distributions(sums), fitted.centres, to[fitted.word_class].astype(np.int64), fitted.typicality)


class _Training:
    """A training under way."""

    def __init__(
        self, mixtures: _Mixtures, method: Readable, epochs: int, final_epochs: int, deadline: Deadline
    ) -> None:
        self.mixtures, self.method, self.deadline = mixtures, method, deadline
        self.epochs, self.passes = epochs, epochs + final_epochs
        self.dense = torch.optim.Adam(
            [
                {"params": [mixtures.moves, mixtures.output_logits], "rate": method.learning_rate},
                {"params": [mixtures.common], "rate": method.effect_rate},
            ],
            betas=_MOMENTS,
        )
        words = list(mixtures.own.parameters())
        self.sparse = torch.optim.SparseAdam([{"params": words, "rate": method.word_rate}], betas=_MOMENTS)
        self.hard: NDArray[np.int64] | None = None  # (V,)

    def done(self, passes: float) -> float:
        """After so many passes: how many they are worth by the time that they took."""
        return max(passes, self.passes * self.deadline.share_used)

    def harden(self) -> None:
        if self.hard is None:
            self.hard = self._classes()[0]

    def learn(self, data: TrainingBatch, number: int, rng: np.random.Generator) -> None:
        """One pass over texts and the model's outputs on their prefixes."""
        texts = data.texts
        every = self.method.prefix_weight / float(texts.lengths.mean())
        parts = length_buckets(texts.lengths, self.method.batch, rng)
        for at, batch in enumerate(parts):
            done = self.done(number + at / len(parts))
            if at and self.deadline.is_over:
                break
            self._step(texts.take(batch), data.outputs.take(batch).values, every, done)

    def _step(self, texts: Ragged[np.int32], targets: NDArray[np.float32], every: float, done: float) -> None:
        mixtures, method = self.mixtures, self.method
        centres, matrices = mixtures.centres(), mixtures.matrices()
        if self.hard is None:
            distinct, places = np.unique(texts.values, return_inverse=True)
            temperature = method.final_temperature ** min(1.0, done / self.epochs)
            shares = (mixtures.scores(torch.from_numpy(distinct).long()) / temperature).softmax(-1)
            matrices = (shares @ matrices.flatten(1)).unflatten(1, matrices.shape[1:])
        else:
            places = self.hard[texts.values]
        found = slopes(
            Ragged(places, texts.offsets), targets, matrices.detach().numpy(), centres.detach().numpy(), every
        )
        if not math.isfinite(found.loss):
            raise WfalensError("fitting diverged; lower the learning rate")
        for optimiser in (self.dense, self.sparse):
            optimiser.zero_grad()
            for group in optimiser.param_groups:
                group["lr"] = group["rate"] * _cosine_decay(done / self.passes)
        slope = [torch.from_numpy(part / len(texts)) for part in (found.matrices, found.centres)]
        torch.autograd.backward([matrices, centres], slope)
        self.dense.step()
        if self.hard is None:
            self.sparse.step()  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def reached(self) -> Fit:
        of_word, typicality = self._classes()
        matrices, centres = (
            part.numpy().astype(np.float64) for part in (self.mixtures.matrices(), self.mixtures.centres())
        )
        return Fit(matrices, centres, of_word if self.hard is None else self.hard, typicality)

    @torch.no_grad()
    def _classes(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The class of every word, and its share; (V,), (V,)"""
        shares = self.mixtures.scores(torch.arange(self.mixtures.own.num_embeddings)).softmax(-1)
        top, of_word = shares.max(-1)
        return of_word.numpy(), top.double().numpy()


def _cosine_decay(done: float) -> float:
    """The learning rate's course: it rises, then falls along a cosine."""
    return min(1.0, done / _WARM_UP) * 0.5 * (1 + math.cos(math.pi * done)) + _SLOWEST


_LEAST = 1e-9  # probability of any class


class Slopes(NamedTuple):
    """The loss of texts, summed, and its slopes."""

    loss: float
    matrices: NDArray[np.float32]  # (words, n, n)
    centres: NDArray[np.float32]  # (n, C)


def slopes(
    words: Ragged[np.int64],
    targets: NDArray[np.float32],
    matrices: NDArray[np.float32],
    centres: NDArray[np.float32],
    every: float,
) -> Slopes:
    """Of the loss of texts, which begin in state 0, by forward and backward vectors, compiled.

    With d₀ the start and d_t = d_{t−1}·M_{w_t}, the loss of a text is −Σ_t λ_t Σ_c p_t[c]·log (d_t·F)[c], p_t the
    model's output after t words. targets: (tokens, C), matrices: (words, n, n), centres: (n, C)

    every   λ of a prefix; the whole text counts 1 more
    """
    moved = np.zeros((PARTS, *matrices.shape), np.float32)
    shown = np.zeros((PARTS, *centres.shape), np.float32)
    losses = np.zeros(PARTS)

    def work(part: int, offsets: NDArray[np.int64]) -> None:
        losses[part] = _slopes(
            words.values, offsets, targets, matrices, centres, np.float32(every), moved[part], shown[part]
        )

    in_parts(words.offsets, work)
    return Slopes(float(losses.sum()), moved.sum(0), shown.sum(0))


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _slopes(words, offsets, targets, matrices, centres, every, moved, shown):  # type: ignore[no-untyped-def]
    n, classes = centres.shape
    longest = 0
    for text in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    forward = np.zeros((longest + 1, n), np.float32)
    backward, earlier = np.zeros(n, np.float32), np.zeros(n, np.float32)
    likelihood, pull = np.zeros(classes, np.float32), np.zeros(classes, np.float32)
    loss = 0.0
    for text in range(offsets.shape[0] - 1):
        start, length = offsets[text], offsets[text + 1] - offsets[text]
        forward[0, :] = 0
        forward[0, 0] = 1
        for step in range(length):
            word = words[start + step]
            for j in range(n):
                forward[step + 1, j] = 0
            for i in range(n):
                mass = forward[step, i]
                for j in range(n):
                    forward[step + 1, j] += mass * matrices[word, i, j]
        backward[:] = 0
        for step in range(length - 1, -1, -1):
            word, share = words[start + step], every + np.float32(1 if step == length - 1 else 0)
            for c in range(classes):
                likelihood[c] = _LEAST
            for i in range(n):
                for c in range(classes):
                    likelihood[c] += forward[step + 1, i] * centres[i, c]
            for c in range(classes):
                p = targets[start + step, c]
                loss -= share * p * np.log(likelihood[c])
                pull[c] = -share * p / likelihood[c]
            for i in range(n):
                total = np.float32(0)
                for c in range(classes):
                    total += centres[i, c] * pull[c]
                    shown[i, c] += forward[step + 1, i] * pull[c]
                backward[i] += total
            for i in range(n):
                total, mass = np.float32(0), forward[step, i]
                for j in range(n):
                    total += matrices[word, i, j] * backward[j]
                    moved[word, i, j] += mass * backward[j]
                earlier[i] = total
            for i in range(n):
                backward[i] = earlier[i]
    return loss


_MOST_NUMBERS = 128  # that tell the effect of a word
_MOST_COLUMNS = 64  # of a point: those of many classes would fill the memory
_MOST_POINTS = 1 << 26  # numbers of the points that are kept
_HARDNESS = 0.5  # of the assignment of points to near states
NEVER_SEEN = 0.3  # occurrences that a word counts for which the texts do not have
_FARTHEST = 5.0  # standard deviations
_PER_STATE = 256  # outputs that k-means sees
_QUERY_SHARE = 0.5  # of what is left


def views(model: PrefixClassifier, budget: QueryBudget) -> tuple[str, ...]:
    """In which prefixes may be compared: looking ahead needs a model that can be stepped, and free queries."""
    looks = isinstance(model, StatefulClassifier) and budget.limit is None
    return (Outputs.name, LookAhead.name) if looks else (Outputs.name,)


@dataclass(frozen=True, eq=False)
class Start:
    """Where fitting starts: words of like effect in one class, which leads where they lead."""

    fit: Fit
    effects: NDArray[np.float32]  # (V, ·): what each word does to the model; 0 where the model was not asked


def begin(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    view_name: str,
    most_states: int,
    most_classes: int,
    prefixes: int,
    rng: np.random.Generator,
    budget: QueryBudget,
    deadline: Deadline = NEVER,
) -> Start:
    """Form the states of texts in a view, and ask the model where every word leads from each of them.

    Where time is limited, the most frequent words are asked about, as many as there is time for.
    """
    view = ABSTRACTIONS[view_name].view(model, ids, rng, budget)
    counts = np.bincount(ids.values, minlength=len(model.encoder.vocabulary))
    texts = that_fit(ids, 2 * len(model.class_names), rng)  # outputs, and points that are at least as wide
    seen = trace_prefixes(model, texts, view)
    points = narrowed(seen.points, _MOST_COLUMNS)
    try:
        states = cluster(points, most_states, _PER_STATE, rng)
    except TooFewOutputsError as error:
        states = cluster(points, error.distinct, _PER_STATE, rng)
    states, path = states.visited(points)
    centres = state_centres(seen.outputs, path, initial_output(model), len(states))
    visits = np.bincount(path, minlength=len(states)).astype(np.float64)
    visits[0] = len(texts)
    alphabet = np.arange(model.encoder.lowest_id, len(counts), dtype=np.int32)
    most = max(1, _MOST_POINTS // (len(alphabet) * len(states) * points.shape[1]))
    representatives = choose_representatives(texts, path, min(prefixes, most), rng)
    columns = points.shape[1]
    del seen, points
    words, representatives = affordable(model, alphabet, counts, representatives, budget.left(_QUERY_SHARE))
    if deadline.left is not None:
        words = words[np.argsort(-counts[words], kind="stable")]
    points, done = np.empty((len(words), len(representatives.state), columns), np.float32), 0
    for part in read_words(model, representatives, view, words, deadline):
        points[done : done + len(part)] = narrowed(part, _MOST_COLUMNS)
        done += len(part)
    words, points = words[:done], points[:done]
    if deadline.left is not None:
        order = np.argsort(words)
        words, points = words[order], points[order]
    budget.enter(PROBING, probing_queries(model, representatives, len(words)))
    weights, of_state = counts[words] + NEVER_SEEN, representatives.state
    effects = _effects(points, of_state, visits, np.sqrt(weights))
    table = np.zeros((len(counts), effects.shape[1]), np.float32)
    table[words] = effects
    rule = k_means(effects, min(most_classes, len(words)), rng, np.sqrt(weights))
    of_word = np.asarray(rule.predict(table), np.int64)
    sums = np.zeros((int(of_word.max()) + 1, len(states), len(states)))
    for at, state in enumerate(of_state):
        near, shares = states.mixtures(np.ascontiguousarray(points[:, at]), _HARDNESS)
        np.add.at(sums, (of_word[words][:, None], state, near), shares * weights[:, None])
    return Start(Fit(distributions(sums), centres, of_word, np.ones(len(of_word))), table)


def _effects(
    points: NDArray[np.float32], of_state: NDArray[np.int32], visits: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Where a word leads from each state beside where others lead, weighted by √u of the state; -> (words, ·)

    points: (words, representatives, D), of_state: (representatives,), rising, weights: (words,)
    """
    sizes = np.bincount(of_state, minlength=len(visits))
    starts = np.searchsorted(of_state, np.arange(len(visits)))
    share = (np.sqrt(visits / visits.sum()) / sizes).astype(np.float32)
    flat = (np.add.reduceat(points, starts, axis=1) * share[:, None]).reshape(len(points), -1)
    flat -= np.average(flat, axis=0, weights=weights)
    if flat.shape[1] <= _MOST_NUMBERS:
        return np.asarray(flat, np.float32)
    with threadpool_limits(1):
        spread = (flat * weights.astype(np.float32)[:, None]).T @ flat
        return np.asarray(flat @ principal_axes(spread, _MOST_NUMBERS).directions, np.float32)


def standardised(effects: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns with standard deviation 1 over the words, and no word far off. (V, ·) -> (V, ·)"""
    spread = effects.std(0)
    return np.asarray((effects / np.where(spread > 0, spread, 1)).clip(-_FARTHEST, _FARTHEST), np.float32)


def distributions(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows that sum to 1; even ones where there is nothing. (…, n) -> (…, n)"""
    total = sums.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, sums / np.where(total > 0, total, 1), 1 / sums.shape[-1]))
