"""Random words in place of absent ones: independent words, or words that fit their neighbours (bigrams).

Independent: an absent word is the matrix `B = Σσ p(σ)·Êσ`, p the frequencies in the extraction texts.

Bigrams: X is a random text of L words from the class-based Markov chain of the extraction texts (`WordBigrams`), and

    v(S) = E[A(X) | X_i = w_i for all i in S]

So the absent words of a gap are drawn given the present words on both sides, or the edges of the text. The frequency of
a present word within its cluster cancels. With `B_d` the mean matrix of cluster d, the mean over all fillings of a gap
of g words between positions i and j is a product over clusters × automaton states, divided by the probability of
getting from c_i to c_j in g + 1 steps:

    G_ij = Σ_{d1…dg} P(d1|c_i)·P(d2|d1)⋯P(c_j|dg)·B_d1⋯B_dg / P^{g+1}(c_j|c_i)

v(S) is the product of the words of S and of the gaps between them. It is no product over positions, but its multilinear
extension is a sum over paths through the present positions: a forward and a backward pass over "the last position that
was present" give it for all words, exactly, in L²/2 steps at each node of the quadrature. Mean class weights are the
automaton's own unit: probabilities of the stochastic kind, log-odds of the linear one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.automaton.word_bigrams import WordBigrams
from wfalens.errors import InputError

MOST_BIGRAM_WORDS = 60  # of a text: time grows with the third power
_FLOATS = 1 << 22  # of matrices or state vectors held at a time
_MEANS: WeakKeyDictionary[WFA, dict[str, NDArray[np.float64]]] = WeakKeyDictionary()  # computed once per automaton


def mean_parts(wfa: LinearWFA) -> NDArray[np.float64]:
    """The mean decays, gates and entries of a random word: Êσ is linear in them. -> (3, n − 1)"""
    return _once(wfa, "parts", lambda: _word_means(_part_tables(wfa), _frequencies(wfa), wfa.states))


def mean_matrix(wfa: WFA) -> NDArray[np.float64]:
    """`B = Σσ p(σ)·Êσ`, p the frequencies in the extraction corpus. -> (n, n)"""
    if isinstance(wfa, LinearWFA):
        return _once(wfa, "matrix", lambda: wfa.matrices_of(mean_parts(wfa)))
    return _once(wfa, "matrix", lambda: _word_means(wfa.matrices, _frequencies(wfa), wfa.states))


def cluster_matrices(wfa: WFA) -> NDArray[np.float64]:
    """B_d of every cluster of the bigrams; -> (K, n, n)"""

    def computed() -> NDArray[np.float64]:
        shares = bigrams_of(wfa).word_shares(wfa.word_counts)
        if isinstance(wfa, LinearWFA):
            return wfa.matrices_of(_word_means(_part_tables(wfa), shares, wfa.states))
        return _word_means(wfa.matrices, shares, wfa.states)

    return _once(wfa, "clusters", computed)


def bigrams_of(wfa: WFA) -> WordBigrams:
    if wfa.bigrams is None:
        message = "the automaton has no bigrams of its extraction texts; extract it again, or choose another absence"
        raise InputError(message, code="no-bigrams")
    return wfa.bigrams


def _once(wfa: WFA, name: str, computed: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
    kept = _MEANS.setdefault(wfa, {})
    if name not in kept:
        kept[name] = computed()
    return kept[name]


def _frequencies(wfa: WFA) -> NDArray[np.float64]:
    total = wfa.word_counts.sum()
    if total == 0:
        message = "no word was counted in extraction, so there is no random word; choose another absence"
        raise InputError(message, code="no-word-counts")
    return np.asarray(wfa.word_counts / total)


def _part_tables(wfa: LinearWFA) -> Callable[[NDArray[np.int32]], NDArray[np.floating]]:
    return lambda ids: np.moveaxis(wfa.layers.parts(ids), 1, 0)


def _word_means(
    tables: Callable[[NDArray[np.int32]], NDArray[np.floating]], shares: NDArray[np.float64], states: int
) -> NDArray[np.float64]:
    """`Σσ p(σ)·T(σ)` of a table T for each of some words; shares p: (…, V)"""
    ids = np.flatnonzero(shares.reshape(-1, shares.shape[-1]).any(0)).astype(np.int32)
    step = max(1, _FLOATS // states**2)
    chunks = [ids[at : at + step] for at in range(0, len(ids), step)]
    return np.asarray(sum(np.tensordot(shares[..., part], tables(part), 1) for part in chunks))


def bigram_weights(wfa: WFA, ids: NDArray[np.int32], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """v(S) of some coalitions of one text; present: (N, L) -> (N, classes)"""
    step = max(1, _FLOATS // (wfa.states * len(cluster_matrices(wfa))))
    parts = [_bigram_weights(wfa, ids, present[at : at + step]) for at in range(0, len(present), step)]
    return np.concatenate([np.zeros((0, len(wfa.class_names))), *parts])


def _bigram_weights(wfa: WFA, ids: NDArray[np.int32], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A forward pass of vectors by cluster of the last word, (N, K, n), beside the same without an automaton, (N, K)"""
    matrices, chain, bigrams = cluster_matrices(wfa), bigrams_of(wfa).transitions, bigrams_of(wfa)
    inside, edge = chain[:-1, :-1], len(matrices)
    vectors, mass = np.zeros((len(present), edge, wfa.states)), np.zeros((len(present), edge))
    for at, (word, there) in enumerate(zip(ids, present.T, strict=True)):
        if at:
            before, coming = np.matmul(inside.T, vectors), mass @ inside
        else:
            coming = np.tile(chain[edge, :-1], (len(present), 1))
            before = coming[..., None] * wfa.initial
        vectors, mass = np.zeros_like(before), np.zeros_like(coming)
        cluster, absent = int(bigrams.cluster[word]), ~there
        vectors[absent] = np.matmul(before[absent].transpose(1, 0, 2), matrices).transpose(1, 0, 2)
        mass[absent] = coming[absent]
        vectors[there, cluster] = wfa.advance(before[there, cluster], np.full(there.sum(), word, np.int32))
        mass[there, cluster] = coming[there, cluster]
        scale = mass.sum(1)
        vectors, mass = vectors / scale[:, None, None], mass / scale[:, None]
    ending = chain[:-1, edge]
    return wfa.read_out(np.einsum("nks,k->ns", vectors, ending) / (mass @ ending)[:, None])


def bigram_values(
    wfa: WFA, ids: NDArray[np.int32], z: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Shapley values of one text, or other means of marginals over z, by nodes z and their weights; -> (L, classes)

    With `f_t(z)` the multilinear extension where word t is present and `f(z)` the whole one, word t has the marginal
    `(f_t(z) − f(z)) / (1 − z)`. Positions 0 and L + 1 are the edges of the text.
    """
    if len(ids) > MOST_BIGRAM_WORDS:
        message = f"a text of {len(ids):,} words is too long for the absence bigram; {MOST_BIGRAM_WORDS} are possible"
        raise InputError(message, code="text-too-long")
    matrices, chain = cluster_matrices(wfa), bigrams_of(wfa).transitions
    edge, length = len(matrices), len(ids)
    cluster = np.concatenate([[edge], bigrams_of(wfa).cluster[ids], [edge]])
    words, final = wfa.matrices(ids), wfa.final
    before = np.zeros((length + 2, len(z), wfa.states))  # position t is present, its word not yet read
    spread = partial(_spread, chain=chain, cluster=cluster, gap=1 - z)
    for at in range(length + 1):
        here = np.tile(wfa.initial, (len(z), 1)) if at == 0 else z[:, None] * (before[at] @ words[at - 1])
        spread(here, at, matrices, before)
    back = matrices.transpose(0, 2, 1)
    classes = final.shape[1]
    after = np.zeros((length + 2, len(z), classes, wfa.states))  # what comes after the word at t, by class
    for at in range(length + 1, 1, -1):
        ends = at > length
        there = np.tile(final.T, (len(z), 1, 1)) if ends else z[:, None, None] * (after[at] @ words[at - 1].T)
        spread(there, at, back, after, chain=chain.T, step=-1)
    whole = before[-1] @ final  # (Q, C)
    found = np.einsum("tqm,tqcm->tqc", before[1:-1] @ words, after[1:-1])
    return np.asarray(np.einsum("q,tqc->tc", weight / (1 - z), found - whole))


def _spread(
    vectors: NDArray[np.float64],
    start: int,
    matrices: NDArray[np.float64],
    onto: NDArray[np.float64],
    *,
    chain: NDArray[np.float64],
    cluster: NDArray[np.int64],
    gap: NDArray[np.float64],
    step: int = 1,
) -> None:
    """Add `(1 − z)^g·a·G` to every position that may be the next present one, on one side of `start`.

    vectors a: (Q, …, n), onto: (L + 2, Q, …, n), gap: 1 − z
    """
    last = len(onto) - 1 if step > 0 else 1  # nothing comes before the first word
    shape, states = vectors.shape, vectors.shape[-1]
    factor = gap.reshape(-1, *[1] * (vectors.ndim - 1))
    onto[start + step] += vectors
    share, rows = chain[cluster[start], :-1], vectors.reshape(-1, states)
    filled = share[:, None, None] * (rows @ matrices)  # (K, rows, n): the gap's last word is in the cluster
    for at in range(start + 2 * step, last + step, step):
        scale = share.sum()
        share, filled = share / scale, filled / scale
        closing = chain[:-1, cluster[at]]
        joined = np.tensordot(closing, filled, 1) / (closing @ share)
        onto[at] += factor ** (abs(at - start) - 1) * joined.reshape(shape)
        if at != last:
            inside = chain[:-1, :-1]
            share, filled = share @ inside, np.tensordot(inside.T, filled, 1) @ matrices
