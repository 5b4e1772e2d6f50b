"""Mean Shapley values of words over all texts of a corpus's bigram model: no text is sampled.

X is a random text of the class-based Markov chain (`WordBigrams`), of any length. Shapley values are integrals of
products over positions, so their mean over X is one over clusters × automaton states. With an absent word B and
`N_c(z) = z·B_c + (1 − z)·B`, the sums over all beginnings and all endings of texts around a word of cluster c are

    g[c] = P(c|edge)·I + Σ_b P(c|b)·g[b]·N_b        h[c] = P(edge|c)·F + Σ_d P(d|c)·N_d·h[d]

and the mean value of a word w of cluster c in its random context is `∫ g[c]·(Ê_w − B)·h[c] dz / (visits of c)`. The
sums are exact to rounding; the integral has a bounded error (`quadrature_error`, weighed by the lengths of texts).

|φ| is not linear in the automaton, so its mean over all texts has no such sum; `|E[φ]|` is a lower bound of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.background import bigrams_of, cluster_matrices
from wfalens.explanation.shapley.game import BIGRAM, absent_step, checked_absence
from wfalens.explanation.shapley.quadrature import gauss_legendre, largest_marginal, quadrature_error

_NODES = (8, 16, 32, 64)
_TOLERANCE = 1e-5  # of the error, as a share of the largest marginal
_LEFT, _MOST_WORDS = 1e-10, 100_000  # share of the texts that may be longer than what is added up
_FLOATS = 1 << 22  # of matrices held at a time


def population_values(wfa: WFA, ids: NDArray[np.int32], absence: str) -> tuple[NDArray[np.float64], float]:
    """E[φ] of words in random texts of the bigram model, in the automaton's unit, and a bound of the error.

    ids: (N,) -> (N, C)
    """
    if checked_absence(absence) == BIGRAM:
        raise InputError("means over the bigram model take delete, unknown or background as absence", code="absence")
    bigrams, matrices = bigrams_of(wfa), cluster_matrices(wfa)
    chain, inside = bigrams.transitions, bigrams.transitions[:-1, :-1]
    lengths = _lengths(chain)
    nodes, error = _node_count(lengths, largest_marginal(wfa))
    z, weight = gauss_legendre(nodes)
    absent, final = absent_step(wfa, np.eye(wfa.states), absence), wfa.read_out(np.eye(wfa.states))
    visits = np.linalg.solve(np.eye(len(inside)) - inside.T, chain[-1, :-1])
    context = np.zeros((len(matrices), final.shape[1], wfa.states, wfa.states))
    for one, share in zip(z, weight, strict=True):
        mixed = one * matrices + (1 - one) * absent
        left = _summed(chain[-1, :-1], inside, wfa.initial[None], mixed, len(lengths))
        right = _summed(chain[:-1, -1], inside.T, final.T, mixed.swapaxes(1, 2), len(lengths))
        context += share / visits[:, None, None, None] * left[:, :, :, None] * right[:, :, None, :]
    step = max(1, _FLOATS // (wfa.states**2 * final.shape[1]))
    found = [np.zeros((0, final.shape[1]))]
    for at in range(0, len(ids), step):
        change = wfa.matrices(ids[at : at + step]) - absent
        found.append(np.einsum("wij,wcij->wc", change, context[bigrams.cluster[ids[at : at + step]]]))
    return np.concatenate(found), error


def _lengths(chain: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely a text has 0, 1, 2 … words, until hardly any is longer."""
    shares, alive = [float(chain[-1, -1])], chain[-1, :-1]
    while alive.sum() > _LEFT and len(shares) < _MOST_WORDS:
        shares.append(float(alive @ chain[:-1, -1]))
        alive = alive @ chain[:-1, :-1]
    return np.array(shares)


def _node_count(lengths: NDArray[np.float64], scale: float) -> tuple[int, float]:
    """The fewest nodes with an error below the tolerance, or the most; and the bound of the error."""
    error = np.inf
    for nodes in _NODES:
        bounds = [quadrature_error(length, nodes, scale) for length in range(1, len(lengths))]
        error = float(lengths[1:] @ np.array(bounds))
        if error <= _TOLERANCE * scale:
            break
    return nodes, error


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
