"""A text as a game: a coalition of its words is present, the others are absent.

Absence is a matrix B: the identity (`delete`), `Ê_<unk>` (`unknown`), or `Σσ p(σ)·Êσ` (`background`: a random word of
the extraction corpus). The weight of a coalition is `I·M_1⋯M_L·F`, with `M_i = Ê_wi` for present words and B for absent
ones.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.shapley.panels import IDENTITY, MEAN, LayeredSteps, SparseSteps, Steps
from wfalens.explanation.shapley.shapley_kernels import transposed_mean
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

ABSENCES = DELETE, HIDE, BACKGROUND = ("delete", "unknown", "background")
_WORDS_AT_ONCE = 1 << 12
_VECTOR_FLOATS = 1 << 22  # of coalitions read at a time


def checked_absence(absence: str) -> str:
    if absence not in ABSENCES:
        raise InputError(f"unknown absence {absence!r}; choose one of {', '.join(ABSENCES)}", code="absence")
    return absence


def compiled_game(wfa: WFA, ids: NDArray[np.int32], absence: str) -> tuple[Steps, NDArray[np.int64], int]:
    """What the kernels need: the steps, the step of every word, and that of an absent word. ids: (tokens,)"""
    if isinstance(wfa, StochasticWFA):
        return _sparse_game(wfa, ids, absence)
    if isinstance(wfa, LinearWFA):
        return _layered_game(wfa, ids, absence)
    raise InputError(f"automata of the kind {wfa.kind!r} have no exact Shapley values")


def _sparse_game(wfa: StochasticWFA, ids: NDArray[np.int32], absence: str) -> tuple[Steps, NDArray[np.int64], int]:
    mean = mean_matrix(wfa) if absence == BACKGROUND else np.zeros((0, 0))
    absent = {DELETE: IDENTITY, HIDE: int(wfa.row_set[UNKNOWN]), BACKGROUND: MEAN}[absence]
    return SparseSteps(wfa.rows, wfa.rule, mean, np.ascontiguousarray(mean.T)), wfa.row_set[ids], absent


def _layered_game(wfa: LinearWFA, ids: NDArray[np.int32], absence: str) -> tuple[Steps, NDArray[np.int64], int]:
    distinct, words = np.unique(ids, return_inverse=True)
    parts = wfa.layers.parts(distinct).astype(np.float64)
    absent = IDENTITY
    if absence != DELETE:
        one = wfa.layers.parts(np.array([UNKNOWN], np.int32)) if absence == HIDE else _mean_parts(wfa)[:, None]
        parts, absent = np.concatenate([parts, one], 1), len(distinct)
    links = np.array(wfa.links)
    decay, gate, entry = parts
    return LayeredSteps(decay, gate, entry, links, np.ascontiguousarray(links.T), wfa.factors.width), words, absent


_MEANS: WeakKeyDictionary[WFA, NDArray[np.float64]] = WeakKeyDictionary()  # computed once per automaton


def mean_matrix(wfa: WFA) -> NDArray[np.float64]:
    """`B = Σσ p(σ)·Êσ`, p the frequencies in the extraction corpus. -> (n, n)"""
    return _layered_mean(wfa) if isinstance(wfa, LinearWFA) else _sparse_mean(wfa)


def _frequencies(wfa: WFA) -> NDArray[np.float64]:
    """p(σ): (V,)"""
    total = wfa.word_counts.sum()
    if total == 0:
        raise InputError(
            "no word was counted in extraction, so there is no random word; choose another absence",
            code="no-word-counts",
        )
    return np.asarray(wfa.word_counts / total)


def _sparse_mean(wfa: WFA) -> NDArray[np.float64]:
    if wfa not in _MEANS:
        shares = _frequencies(wfa)
        ids = np.flatnonzero(shares).astype(np.int32)
        steps, words, _ = compiled_game(wfa, ids, DELETE)
        _MEANS[wfa] = np.ascontiguousarray(transposed_mean(words, shares[ids], steps, wfa.states).T)
    return _MEANS[wfa]


def _mean_parts(wfa: LinearWFA) -> NDArray[np.float64]:
    """The mean decays, gates and entries: Êσ is linear in them. -> (3, n − 1)"""
    if wfa not in _MEANS:
        shares = _frequencies(wfa)
        parts = np.zeros((3, wfa.states - 1))
        for ids in np.array_split(np.flatnonzero(shares).astype(np.int32), 1 + len(shares) // _WORDS_AT_ONCE):
            parts += np.einsum("w,pwn->pn", shares[ids], wfa.layers.parts(ids))
        _MEANS[wfa] = parts
    return _MEANS[wfa]


def _layered_mean(wfa: LinearWFA) -> NDArray[np.float64]:
    decay, gate, entry = _mean_parts(wfa)
    matrix = np.zeros((wfa.states, wfa.states))
    matrix[:-1, :-1] = np.diag(decay) + wfa.links * gate
    matrix[-1] = np.append(entry, 1.0)
    return matrix


def absent_step(wfa: WFA, vectors: NDArray[np.float64], absence: str) -> NDArray[np.float64]:
    """`d·B`; (N, n) -> (N, n)"""
    if absence == DELETE:
        return vectors
    if absence == HIDE:
        return wfa.advance(vectors, np.full(len(vectors), UNKNOWN, np.int32))
    return np.asarray(vectors @ mean_matrix(wfa))


def empty_weights(wfa: WFA, lengths: NDArray[np.int64], absence: str) -> NDArray[np.float64]:
    """`I·B^L·F`: class weights of texts whose words are all absent; lengths: (texts,) -> (texts, classes)"""
    vectors = np.empty((int(lengths.max(initial=0)) + 1, wfa.states))
    vectors[0] = wfa.initial
    for length in range(1, len(vectors)):
        vectors[length] = absent_step(wfa, vectors[length - 1 : length], absence)[0]
    return wfa.read_out(vectors)[lengths]


def coalition_weights(
    wfa: WFA, ids: NDArray[np.int32], present: NDArray[np.bool_], absence: str
) -> NDArray[np.float64]:
    """Class weights of some coalitions of one text; present: (N, L) -> (N, classes)"""
    if absence == BACKGROUND:
        step = max(1, _VECTOR_FLOATS // wfa.states)
        parts = [_mixed_weights(wfa, ids, present[at : at + step]) for at in range(0, len(present), step)]
        return np.concatenate([np.zeros((0, len(wfa.class_names))), *parts])
    return wfa.weights(coalition_texts(ids, present, absence))


def coalition_texts(ids: NDArray[np.int32], present: NDArray[np.bool_], absence: str) -> Ragged[np.int32]:
    """Coalitions as texts: the absent words are deleted or read as `<unk>`. present: (N, L)"""
    if absence == DELETE:
        return Ragged.from_lengths(np.broadcast_to(ids, present.shape)[present], present.sum(1))
    table = np.where(present, ids, np.int32(UNKNOWN)).astype(np.int32)
    return Ragged.from_lengths(table.ravel(), np.full(len(present), len(ids)))


def _mixed_weights(wfa: WFA, ids: NDArray[np.int32], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    vectors = np.tile(wfa.initial, (len(present), 1))
    for position, word in enumerate(ids):
        there = np.flatnonzero(present[:, position])
        away = absent_step(wfa, vectors, BACKGROUND)
        away[there] = wfa.advance(vectors[there], np.full(len(there), word, np.int32))
        vectors = away
    return wfa.read_out(vectors)


def every_coalition_weights(wfa: WFA, ids: NDArray[np.int32], absence: str) -> NDArray[np.float64]:
    """Class weights of all coalitions; bit t of a row's number says whether word t is present. -> (2^L, classes)

    Coalitions that begin alike share their beginning: 2^(L+1) steps in all.
    """
    vectors = wfa.initial[None]
    for word in ids:
        present = wfa.advance(vectors, np.full(len(vectors), word, np.int32))
        vectors = np.concatenate([absent_step(wfa, vectors, absence), present])
    return wfa.read_out(vectors)
