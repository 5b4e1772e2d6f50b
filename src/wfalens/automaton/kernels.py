"""The compiled core: steps of the automaton over many texts. It takes arrays and knows nothing of models.

A step `d → d·Êσ` never forms a matrix. With R the observed rows of σ, tₖ their sums, g the state
similarities and zᵢ = Σ_{k∈R} tₖ·g[i,k], empirical completion sends

    d'[j] = α·dⱼ + (1−α)·( Σ_{k∈R} fₖ·T̂σ[k,j] + (1−β)·dⱼ·[j∉R] ),   fₖ = dₖ/tₖ + β·Σ_{i∉R} g[k,i]·dᵢ/zᵢ

The factors f cost O(n·min(|R|, n−|R|)), the rest one addition per stored count. What depends on the word alone
(1/tₖ and 1/zᵢ) is kept for the frequent words as one dense vector each, so that a step is a few vectorised loops
over the states and one flat loop over the word's entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.threads import in_parallel

NULL, UNIFORM, EMPIRICAL, PROBE, FITTED = range(5)
_REASSOCIATE = {"reassoc", "contract", "nsz"}  # lets sums be vectorised; NaN and infinities keep their meaning
_TOKENS_PER_THREAD = 4096
_KEPT_FLOATS = 1 << 23  # of the table of scales
_IDENTITY = -1
_DEPTH = 32  # steps on the stack before it starts again; that rows are never reused within a step helps the compiler


class Rows(NamedTuple):
    """Sparse rows keyed by (word, state), sorted, and their entries, one run per word for each."""

    row_start: NDArray[np.int64]  # (V + 1,): rows of word w are row_start[w] … row_start[w + 1] − 1
    state: NDArray[np.uint16]  # (rows,)
    total: NDArray[np.float64]  # (rows,): sum of the row's weights
    inverse: NDArray[np.float64]  # (rows,): 1 / total
    entry_start: NDArray[np.int64]  # (V + 1,)
    source: NDArray[np.uint16]  # (entries,): the state that an entry's row belongs to
    target: NDArray[np.uint16]  # (entries,)
    weight: NDArray[np.float32]  # (entries,)


class Rule(NamedTuple):
    """How a row that was not observed is completed, and the static probability α."""

    code: int
    alpha: float
    beta: float
    similarity: NDArray[np.float64]  # g: (n, n), empirical only
    probed: Rows  # probe and fit: a row in every state for every word
    strength: float  # m; probe, and 1 for fit
    kept: NDArray[np.float64]  # (kept words, n): scales, see `word_scales`
    kept_at: NDArray[np.int32]  # (V,): a word's place in `kept`, -1 if it has none


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def word_scales(scale, place, word, rows, rule):  # type: ignore[no-untyped-def]
    """What a step needs of the word alone, by state, into scale[place]: (…, n)

    1/t > 0 where the row was observed; where it is missing, −1/z (empirical) or 0 (null, uniform). For probe
    completion 1/(t + m) in every state, for fitted rows 1.
    """
    n = scale.shape[1]
    if rule.code == FITTED:
        for i in range(n):
            scale[place, i] = 1.0
        return
    first, last = rows.row_start[word], rows.row_start[word + 1]
    for i in range(n):
        scale[place, i] = rule.strength if rule.code == PROBE else 0.0
    if rule.code == PROBE:
        for row in range(first, last):
            scale[place, rows.state[row]] += rows.total[row]
        for i in range(n):
            scale[place, i] = 1.0 / scale[place, i]
        return
    if rule.code == EMPIRICAL:
        for row in range(first, last):
            for i in range(n):
                scale[place, i] += rows.total[row] * rule.similarity[rows.state[row], i]
        for i in range(n):
            scale[place, i] = -1.0 / scale[place, i]
    for row in range(first, last):
        scale[place, rows.state[row]] = rows.inverse[row]


@njit(cache=True, nogil=True)
def _keep_scales(words, rows, rule, kept):  # type: ignore[no-untyped-def]
    for place in range(words.shape[0]):
        word_scales(kept, place, words[place], rows, rule)


def with_kept_scales(rule: Rule, rows: Rows, states: int) -> Rule:
    """The rule with the scales of as many words as fit, those with the most observations first."""
    words = len(rows.row_start) - 1
    seen = np.bincount(np.repeat(np.arange(words), np.diff(rows.row_start)), rows.total, words)
    known = np.flatnonzero(seen)
    if len(known) * states > _KEPT_FLOATS:
        known = np.sort(known[np.argsort(-seen[known], kind="stable")[: _KEPT_FLOATS // states]])
    kept, kept_at = np.empty((len(known), states)), np.full(words, -1, np.int32)
    kept_at[known] = np.arange(len(known))
    _keep_scales(known, rows, rule, kept)
    return rule._replace(kept=kept, kept_at=kept_at)


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _run(words, offsets, first, last, initial, rows, rule, every, result):  # type: ignore[no-untyped-def]
    """Distributions for the texts first … last − 1, after every word or after the last one.

    The step stands here in one piece: helpers that take arrays would count references on every call, which
    costs more than the step.
    """
    n = initial.shape[1]
    row_start, row_state, entry_start = rows.row_start, rows.state, rows.entry_start
    source, target, weight = rows.source, rows.target, rows.weight
    kept_at, similarity, code, alpha = rule.kept_at, rule.similarity, rule.code, rule.alpha
    move = 1.0 - alpha
    stay, refer = move * (1.0 - rule.beta), move * rule.beta
    d = np.empty((_DEPTH + 1, n))  # a stack: `at` is before a step, `at + 1` after it
    factor, pull, scratch = np.empty(n), np.empty(n), np.empty((1, n))
    for text in range(first, last):
        at, start = 0, text if initial.shape[0] > 1 else 0
        for i in range(n):
            d[0, i] = initial[start, i]
        for position in range(offsets[text], offsets[text + 1]):
            word = words[position]
            if word != _IDENTITY:
                if at == _DEPTH:
                    at = 0
                    for i in range(n):
                        d[0, i] = d[_DEPTH, i]
                to = at + 1
                # factors of observed rows, pulls of missing ones, what stays, and the mass in rows without a scale
                kept, unscaled = kept_at[word], 0.0
                if kept >= 0:
                    scale = rule.kept
                else:
                    scale, kept = scratch, 0
                    word_scales(scratch, 0, word, rows, rule)
                for i in range(n):
                    value, mass = scale[kept, i], d[at, i]
                    missing = value < 0.0
                    factor[i] = (0.0 if missing else move * value) * mass
                    pull[i] = (-refer * value if missing else 0.0) * mass
                    d[to, i] = (alpha + (stay if missing else 0.0)) * mass
                    unscaled += mass if value == 0.0 else 0.0
                observed = row_start[word + 1] - row_start[word]
                if code == EMPIRICAL and observed < n:
                    # factorₖ += Σᵢ g[k,i]·pullᵢ, over the observed k or the missing i, whichever are fewer
                    if 2 * observed <= n:
                        for row in range(row_start[word], row_start[word + 1]):
                            total = 0.0
                            for i in range(n):
                                total += similarity[row_state[row], i] * pull[i]
                            factor[row_state[row]] += total
                    else:
                        for i in range(n):
                            if pull[i] != 0.0:
                                for k in range(n):
                                    factor[k] += similarity[i, k] * pull[i]
                elif code == UNIFORM:
                    for i in range(n):
                        d[to, i] += move * unscaled / n
                if code != FITTED:
                    for entry in range(entry_start[word], entry_start[word + 1]):
                        d[to, target[entry]] += factor[source[entry]] * weight[entry]
                if code >= PROBE:
                    for i in range(n):
                        factor[i] *= rule.strength * rule.probed.inverse[rule.probed.row_start[word] + i]
                    for entry in range(rule.probed.entry_start[word], rule.probed.entry_start[word + 1]):
                        d[to, rule.probed.target[entry]] += (
                            factor[rule.probed.source[entry]] * rule.probed.weight[entry]
                        )
                at = to
            if every:
                for i in range(n):
                    result[position, i] = d[at, i]
        if not every:
            for i in range(n):
                result[text, i] = d[at, i]


def distributions(
    words: NDArray[np.int64],
    offsets: NDArray[np.int64],
    initial: NDArray[np.float64],
    rows: Rows,
    rule: Rule,
    every: bool,
) -> NDArray[np.float64]:
    """State distributions of many texts; -1 in `words` stands for the identity.

    words: (tokens,), offsets: (texts + 1,), initial: (1, n), or (texts, n) where every text has its own
    -> (tokens, n) after every word, or (texts, n) after the last.
    """
    result = np.empty((len(words) if every else len(offsets) - 1, initial.shape[1]))

    def work(first: int, last: int) -> None:
        _run(words, offsets, first, last, initial, rows, rule, every, result)

    in_parallel(work, offsets, _TOKENS_PER_THREAD)
    return result


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _product(left, columns, first, last, result):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        for column in range(columns.shape[0]):
            total = 0.0
            for i in range(columns.shape[1]):
                total += left[row, i] * columns[column, i]
            result[row, column] = total


def product(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """A tall thin matrix product; a BLAS would wake threads of its own and leave them spinning beside ours."""
    # (N, n), (n, C) -> (N, C)
    result = np.empty((len(left), right.shape[1]))
    columns = np.ascontiguousarray(right.T)

    def work(first: int, last: int) -> None:
        _product(left, columns, first, last, result)

    in_parallel(work, np.arange(len(left) + 1), _TOKENS_PER_THREAD)
    return result


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _nearest(points, columns, first, last, result):  # type: ignore[no-untyped-def]
    classes, centres = columns.shape
    distance = np.empty(centres, np.float32)
    bits = distance.view(np.int32)  # of numbers that are not negative: they rise with the number
    for point in range(first, last):
        for centre in range(centres):
            distance[centre] = 0
        for column in range(classes):
            value = points[point, column]
            for centre in range(centres):
                gap = value - columns[column, centre]
                distance[centre] += gap * gap
        best = np.int64(0x7FFFFFFFFFFFFFFF)
        for centre in range(centres):  # distance and centre in one number, so that no branch is taken
            best = min(best, (np.int64(bits[centre]) << 32) | centre)
        result[point] = (best & 0xFFFFFFFF) + 1


def nearest_centre(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int32]:
    """The state of each output: 1 + the nearest centre, the first of equals. (N, C), (K, C) -> (N,)"""
    result = np.empty(len(points), np.int32)
    columns = np.ascontiguousarray(centres.T)

    def work(first: int, last: int) -> None:
        _nearest(points, columns, first, last, result)

    in_parallel(work, np.arange(len(points) + 1), 10 * _TOKENS_PER_THREAD)
    return result
