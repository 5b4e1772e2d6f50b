"""Fitting: classes of words, their matrices and the outputs of states together, by gradient descent.

While it is fitted, a word is a mixture of classes: softmax((own + effect·common) / temperature), with numbers of its
own and numbers that all words share, by which its effect on the model speaks for a class. The temperature falls until
every word is in one class; then the classes stand, and matrices and outputs settle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfalens.errors import WfalensError
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.perturbation import length_buckets
from wfalens.extraction.perturbed_batches import TrainingBatch
from wfalens.extraction.readable.chain import slopes
from wfalens.extraction.readable.readable_options import Readable
from wfalens.extraction.readable.start import (
    NEVER_SEEN,
    Effects,
    alike,
    distributions,
    first_classes,
    first_matrices,
    standardised,
)
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

    def __init__(self, start: Fit, numbers: NDArray[np.float32]) -> None:
        super().__init__()
        classes, of_word = len(start.matrices), start.word_class
        self.moves = nn.Parameter(torch.from_numpy(np.log(start.matrices[:, :, 1:] + _LEAST_MOVE)).float())
        self.output_logits = nn.Parameter(torch.from_numpy(np.log(start.centres[1:] + _LEAST_OUTPUT)).float())
        self.prior = torch.from_numpy(start.centres[:1]).float()
        self.effects = torch.from_numpy(standardised(numbers))
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


def started(found: Effects, classes: int, rng: np.random.Generator) -> Fit:
    """Where fitting starts: words of like effect in one class, which leads where they lead."""
    of_word = first_classes(found, classes, rng)
    matrices = first_matrices(found, of_word, int(of_word.max()) + 1)
    return Fit(matrices, found.centres, of_word, np.ones(len(of_word)))


def fit(
    start: Fit,
    numbers: NDArray[np.float32],
    epochs: int,
    final_epochs: int,
    batches: Iterator[TrainingBatch],
    method: Readable,
    rng: np.random.Generator,
    deadline: Deadline = NEVER,
) -> Iterator[Fit]:
    """What is reached after every pass; the last one is the result. numbers: (V, ·), the effects of words

    Where time is short there are fewer passes, and all that changes with them changes with the time.
    """
    training = _Training(_Mixtures(start, numbers), method, epochs, final_epochs, deadline)
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
    to = alike(points[used], classes, np.sqrt(sizes[used]), rng).predict(points)
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
