"""Exact Shapley and Banzhaf values and interactions of an automaton: no sampling, no 2^L, no model query.

`φ_t = ∫₀¹ I·M_1(z)⋯M_{t−1}(z)·(Ê_wt − B)·M_{t+1}(z)⋯M_L(z)·F dz` has a polynomial of degree L − 1 under the integral,
so Gauss-Legendre quadrature with ⌈L/2⌉ nodes is exact. Fewer nodes are enough for long texts, with an error that is
bounded beforehand (`quadrature_error`).
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.background import bigram_values
from wfalens.explanation.shapley.game import BIGRAM, compiled_game
from wfalens.explanation.shapley.shapley_kernels import add_pairs, add_values
from wfalens.ragged import Ragged, offsets_of
from wfalens.threads import in_parallel

TOLERANCE = 1e-9
_NODE_STEPS_PER_THREAD = 1 << 9
Nodes = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]  # spans (texts, 2), z and ω (nodes,)


def exact_shapley(
    wfa: WFA, ids: Ragged[np.int32], absence: str, tolerance: float = TOLERANCE
) -> tuple[Ragged[np.float64], NDArray[np.float64]]:
    """Shapley values of all words of many texts in the automaton's unit; -> (tokens, classes), error bounds (texts,)"""
    scale = largest_marginal(wfa)
    lengths, which = np.unique(ids.lengths, return_inverse=True)
    counts = np.array([node_count(int(length), tolerance, scale) for length in lengths], np.int64)
    errors = [quadrature_error(int(length), int(nodes), scale) for length, nodes in zip(lengths, counts, strict=True)]
    return _integrated(wfa, ids, absence, gauss_legendre_each(counts[which])), np.array(errors)[which]


def exact_marginals(wfa: WFA, ids: Ragged[np.int32], absence: str, z: float) -> Ragged[np.float64]:
    """The integrand: marginals where every other word is present with probability z. -> (tokens, classes)

    z = ½ is the mean over all coalitions, Banzhaf's value; z = 1 leaves the word out of the whole text.
    """
    spans = np.tile(np.array([0, 1]), (len(ids), 1))
    return _integrated(wfa, ids, absence, (spans, np.array([z]), np.array([1.0])))


def exact_interactions(wfa: WFA, ids: Ragged[np.int32], absence: str) -> list[NDArray[np.float64]]:
    """The Shapley interaction index of all pairs of words, symmetric, 0 for a word with itself; -> (L, L, classes) each

    The integrand has the degree L − 2: ⌈(L − 1)/2⌉ nodes are exact.
    """
    if absence == BIGRAM:
        raise InputError("pairs have no exact interactions with the absence bigram; n_shapley has them", code="absence")
    steps, words, absent = compiled_game(wfa, ids.values, absence)
    initial, final = np.array(wfa.initial), np.array(wfa.final)
    found = [np.zeros((int(length), int(length), len(wfa.class_names))) for length in ids.lengths]

    def work(first: int, last: int) -> None:
        for text in range(first, last):
            here = slice(ids.offsets[text], ids.offsets[text + 1])
            nodes = gauss_legendre(len(found[text]) // 2)
            add_pairs(words[here], absent, steps, initial, final, *nodes, found[text])
            found[text] += found[text].transpose(1, 0, 2)

    in_parallel(work, offsets_of(ids.lengths**2), _NODE_STEPS_PER_THREAD)
    return found


def _integrated(wfa: WFA, ids: Ragged[np.int32], absence: str, nodes: Nodes) -> Ragged[np.float64]:
    if absence == BIGRAM:
        own = [(nodes[1][first:last], nodes[2][first:last]) for first, last in nodes[0]]
        found = [bigram_values(wfa, text, *each) for text, each in zip(ids, own, strict=True)]
        return Ragged(np.concatenate([np.zeros((0, len(wfa.class_names))), *found]), ids.offsets)
    steps, words, absent = compiled_game(wfa, ids.values, absence)
    initial, final = np.array(wfa.initial), np.array(wfa.final)
    sum_to_zero = isinstance(wfa, LinearWFA)  # log-odds do, over the classes: the last one need not be computed
    final = np.ascontiguousarray(final[:, :-1]) if sum_to_zero else final
    values = np.zeros((len(words), final.shape[1]))

    def work(first: int, last: int) -> None:
        add_values(words, ids.offsets, first, last, absent, steps, initial, final, nodes, values)

    spans = nodes[0]
    in_parallel(work, offsets_of(ids.lengths * (spans[:, 1] - spans[:, 0])), _NODE_STEPS_PER_THREAD)
    return Ragged(np.column_stack([values, -values.sum(1)]) if sum_to_zero else values, ids.offsets)


def gauss_legendre_each(counts: NDArray[np.int64]) -> Nodes:
    """For every text the nodes of so many; equal numbers share them."""
    distinct, which = np.unique(counts, return_inverse=True)
    rules = [gauss_legendre(int(count)) for count in distinct]
    ends = np.cumsum(distinct)
    z, weight = (np.concatenate([np.zeros(0), *(rule[part] for rule in rules)]) for part in (0, 1))
    return np.stack([(ends - distinct)[which], ends[which]], 1), z, weight


@lru_cache(maxsize=1024)
def gauss_legendre(nodes: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on [0, 1], exact for polynomials of degree 2·nodes − 1."""
    if nodes == 0:
        return np.zeros(0), np.zeros(0)
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return (x + 1) / 2, weight / 2


def node_count(length: int, tolerance: float, scale: float) -> int:
    """The fewest nodes with an error of at most `tolerance`; ⌈L/2⌉ are exact."""
    exact = (length + 1) // 2
    fewer = range(min(1, exact), exact)
    return fewer.start + bisect_left(fewer, True, key=lambda n: quadrature_error(length, n, scale) <= tolerance)


@lru_cache(maxsize=1 << 14)
def quadrature_error(length: int, nodes: int, scale: float) -> float:
    """A bound of the error of `nodes` nodes for a text of `length` words whose marginals are at most `scale`.

    The integrand is `f(z) = Σ_k C(m,k)·z^k·(1−z)^(m−k)·f_k`, m = L − 1, with f_k the mean marginal over the coalitions
    of k words. With z = cos²(θ/2) and θ moved to θ + iη, |f| ≤ scale·(|cos|² + |sin|²)^m = scale·cosh(η)^m, so the
    Chebyshev coefficients are |a_j| ≤ 2·scale·cosh(η)^m·e^(−jη) ≤ 2·scale·exp(−j²/2m) at η = j/m. Quadrature is exact
    below j = 2·nodes and for odd j; its error is at most 1 + 1/(j² − 1) ≤ 4/3 for each other Chebyshev polynomial.
    """
    degree = length - 1
    if 2 * nodes > degree:
        return 0.0
    j = np.arange(2 * nodes, degree + 1, 2)
    return float(8 / 3 * scale * np.exp(-(j**2) / (2 * degree)).sum())


def largest_marginal(wfa: WFA) -> float:
    """The most that a word can change a class weight, in any text."""
    if not isinstance(wfa, LinearWFA):
        return 1.0  # weights are probabilities, or less where mass was lost
    return 2 * float((wfa.bounds @ np.abs(wfa.final[:-1])).max())
