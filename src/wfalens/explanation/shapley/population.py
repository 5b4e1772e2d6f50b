"""Mean Shapley values of words over all texts of a corpus's bigram model: no text is sampled.

X is a random text of the class-based Markov chain (`WordBigrams`), of any length. Shapley values are integrals of
products over positions, so their mean over X is one over clusters × automaton states. With an absent word B and
`N_c(z) = z·B_c + (1 − z)·B`, the sums over all beginnings and all endings of texts around a word of cluster c are

    g[c] = P(c|edge)·I + Σ_b P(c|b)·g[b]·N_b        h[c] = P(edge|c)·F + Σ_d P(d|c)·N_d·h[d]

and the mean value of a word w of cluster c in its random context is `∫ g[c]·(Ê_w − B)·h[c] dz / (visits of c)`. The
sums are exact to rounding. The number of nodes is doubled until the integrals no longer change; their last change,
which is larger than the error, is given with them.

|φ| is not linear in the automaton, so its mean over all texts has no such sum: the sign of φ depends on the whole text.
It is estimated: contexts of each cluster are drawn from the chain, forwards and backwards, and φ of every word of the
cluster is exact in each of them. Regression of |φ| on φ, whose mean is known, takes most of the chance out of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.background import bigrams_of, cluster_matrices
from wfalens.explanation.shapley.game import BIGRAM, absent_step, checked_absence
from wfalens.explanation.shapley.quadrature import gauss_legendre

_NODES = (8, 16, 32, 64)
_TOLERANCE = 1e-6  # of the last change, as a share of the largest mean
_LEFT, _MOST_WORDS = 1e-10, 100_000  # share of the texts that may be longer than what is added up
_FLOATS = 1 << 22  # of matrices held at a time


def population_values(
    wfa: WFA, ids: NDArray[np.int32], absence: str, contexts: int, rng: np.random.Generator
) -> dict[str, Any]:
    """E[φ] and E|φ| of words in random texts of the bigram model, in the automaton's unit, as `Importance` has them.

    ids: (N,) -> (N, C) each
    """
    if checked_absence(absence) == BIGRAM:
        raise InputError("means over the bigram model take delete, unknown or background as absence", code="absence")
    bigrams, matrices = bigrams_of(wfa), cluster_matrices(wfa)
    chain, inside = bigrams.transitions, bigrams.transitions[:-1, :-1]
    visits = np.asarray(np.linalg.solve(np.eye(len(inside)) - inside.T, chain[-1, :-1]), np.float64)
    absent, steps = absent_step(wfa, np.eye(wfa.states), absence), _longest(chain)
    groups = {int(each): np.flatnonzero(bigrams.cluster[ids] == each) for each in np.unique(bigrams.cluster[ids])}
    mean, error = np.full((len(ids), len(wfa.class_names)), np.inf), np.inf
    for nodes in _NODES:
        before, context = mean, np.zeros((len(matrices), mean.shape[1], wfa.states, wfa.states))
        for one, share in zip(*gauss_legendre(nodes), strict=True):
            mixed = one * matrices + (1 - one) * absent
            left = _summed(chain[-1, :-1], inside, wfa.initial[None], mixed, steps)
            right = _summed(chain[:-1, -1], inside.T, wfa.final.T, mixed.swapaxes(1, 2), steps)
            context += share / visits[:, None, None, None] * left[:, :, :, None] * right[:, :, None, :]
        mean = np.empty_like(before)
        for cluster, rows in groups.items():
            mean[rows] = _in_context(wfa, ids[rows], absent, context[cluster])
        error = float(np.abs(mean - before).max())
        if error <= _TOLERANCE * np.abs(mean).max():
            break
    around, size, deviation = _Contexts(wfa, visits, absent, rng), np.empty_like(mean), np.empty_like(mean)
    for cluster, rows in groups.items():
        drawn = np.array([around.values(cluster, ids[rows]) for _ in range(contexts)])  # (contexts, words, C)
        size[rows], deviation[rows] = _mean_size(drawn, mean[rows])
    return {"mean": mean, "size": size, "mean_error": np.zeros_like(mean), "size_error": deviation, "error": error}


@dataclass(frozen=True, eq=False)
class _Contexts:
    """Random texts around a word of a given cluster."""

    wfa: WFA
    visits: NDArray[np.float64]  # (K,): how often a text visits each cluster
    absent: NDArray[np.float64]  # B: (n, n)
    rng: np.random.Generator

    @cached_property
    def _chains(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Cumulated probabilities: of the cluster before and after each, and of the words of each."""
        after, times = bigrams_of(self.wfa).transitions, np.append(self.visits, 1.0)  # every text has one edge
        before = (times[:, None] * after).T
        shares = bigrams_of(self.wfa).word_shares(self.wfa.word_counts)
        return tuple(np.cumsum(each / each.sum(1, keepdims=True), 1) for each in (before, after, shares))  # type: ignore[return-value]

    def _words(self, cluster: int, chain: NDArray[np.float64]) -> list[int]:
        """What stands on one side of a word of a cluster, the nearest first."""
        words: list[int] = []
        while (cluster := self._drawn(chain[cluster])) < len(self.visits) and len(words) < _MOST_WORDS:
            words.append(self._drawn(self._chains[2][cluster]))
        return words

    def _drawn(self, cumulated: NDArray[np.float64]) -> int:
        return int(np.searchsorted(cumulated, self.rng.random() * cumulated[-1], side="right"))

    def values(self, cluster: int, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """φ of some words of a cluster, all in the same random text; (W,) -> (W, C)"""
        before, after = (self._words(cluster, chain) for chain in self._chains[:2])
        matrices = self.wfa.matrices(np.array(after, np.int32))
        total = np.zeros((len(ids), self.wfa.final.shape[1]))
        for z, weight in zip(*gauss_legendre(min(_NODES[-1], (len(before) + len(after)) // 2 + 1)), strict=True):
            left, right = self.wfa.initial[None], self.wfa.final
            for word in reversed(before):
                left = z * self.wfa.advance(left, np.array([word], np.int32)) + (1 - z) * (left @ self.absent)
            for matrix in reversed(matrices):
                right = z * (matrix @ right) + (1 - z) * (self.absent @ right)
            total += weight * ((self.wfa.advance(left, ids) - left @ self.absent) @ right)
        return total


def _mean_size(
    drawn: NDArray[np.float64], mean: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """E|φ| and its standard error by regression on φ, whose mean is known; exact where φ has one sign.

    drawn: (contexts, N, C), mean: (N, C) -> (N, C) each
    """
    size, around = np.abs(drawn), drawn - drawn.mean(0)
    square = np.square(around).sum(0)
    slope = np.divide((around * size).sum(0), square, out=np.zeros_like(mean), where=square > 0)
    rest = size - size.mean(0) - slope * around
    found = size.mean(0) + slope * (mean - drawn.mean(0))
    return np.maximum(found, np.abs(mean)), np.sqrt(np.square(rest).sum(0) / (len(drawn) * (len(drawn) - 2)))


def _in_context(
    wfa: WFA, ids: NDArray[np.int32], absent: NDArray[np.float64], context: NDArray[np.float64]
) -> NDArray[np.float64]:
    """φ of words from what is before and after all of them, multiplied; (N,), (C, n, n) -> (N, C)"""
    step = max(1, _FLOATS // absent.size)
    parts = [ids[at : at + step] for at in range(0, len(ids), step)]
    return np.concatenate([np.tensordot(wfa.matrices(part) - absent, context, ([1, 2], [1, 2])) for part in parts])


def _longest(chain: NDArray[np.float64]) -> int:
    """A number of words that hardly any text has."""
    alive, words = chain[-1, :-1], 0
    while alive.sum() > _LEFT and words < _MOST_WORDS:
        alive, words = alive @ chain[:-1, :-1], words + 1
    return words


def _summed(
    first: NDArray[np.float64],
    inside: NDArray[np.float64],
    start: NDArray[np.float64],
    matrices: NDArray[np.float64],
    steps: int,
) -> NDArray[np.float64]:
    """g of every cluster, or h along the reversed chain; first: (K,), start: (rows, n) -> (K, rows, n)"""
    moving = first[:, None, None] * start
    total = moving.copy()
    for _ in range(steps):
        moving = np.tensordot(inside.T, moving @ matrices, 1)
        total += moving
    return total
