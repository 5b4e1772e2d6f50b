"""The compiled core: steps of the automaton over many texts. It takes arrays and knows nothing of models.

A step `d → d·Êσ` never forms a matrix. With R the observed rows of σ, tₖ their sums, g the state
similarities and zᵢ = Σ_{k∈R} tₖ·g[i,k], empirical completion sends

    d'[j] = α·dⱼ + (1−α)·( Σ_{k∈R} fₖ·T̂σ[k,j] + (1−β)·dⱼ·[j∉R] ),   fₖ = dₖ/tₖ + β·Σ_{i∉R} g[k,i]·dᵢ/zᵢ

The factors f cost O(n·min(|R|, n−|R|)), the rest one addition per stored count. What depends on the word alone
(1/tₖ and 1/zᵢ) is kept for the frequent words as one dense vector each, so that a step is a few vectorised loops
over the states and one flat loop over the word's entries. What the next word needs is fetched ahead of time.

Where distributions have single precision, for predictions, the frequent words have Êσ itself in a table: a product with
a matrix that the cache holds takes less time than a hundred entries. Sums have one order: whatever else is read, a
distribution is the same to the bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.kernels.simd import fetches, products
from wfalens.jit import njit
from wfalens.threads import in_parallel

CODES = range(5)  # PROBE and all after it have rows of their own
NULL, UNIFORM, EMPIRICAL, PROBE, FITTED = CODES
_REASSOCIATE = {"reassoc", "contract", "nsz"}  # lets sums be vectorised; NaN and infinities keep their meaning
_TOKENS_PER_THREAD = 4096
_KEPT_FLOATS = 1 << 23  # of the table of scales
_IDENTITY = -1
FIRST = np.int64(0)  # a plain 0 would have functions compiled again for that constant
_LANES, _CHAINS, _WIDE = 16, 4, 48  # of a product with a matrix; wide ones take three vectors at a time
_one, _two, _three = (products(_LANES, vectors, _CHAINS) for vectors in (1, 2, 3))
_fetch_line, _fetch_scales, _fetch_matrix = fetches(1), fetches(48), fetches(256)  # what the next word will need
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
    similarity: NDArray[np.floating]  # g: (n, n), empirical only
    probed: Rows  # probe and fit: a row in every state for every word
    strength: float  # m; probe, and 1 for fit
    kept: NDArray[np.floating]  # (kept words, n): scales, see `word_scales`
    kept_at: NDArray[np.int32]  # (V,): a word's place in `kept`, -1 if it has none


class Matrices(NamedTuple):
    """Êσ of some words in single precision."""

    table: NDArray[np.float32]  # (words, padded n, padded n): see `padded`
    at: NDArray[np.int32]  # (V,): a word's place in the table, -1 if it has none; empty: no word has one


_NO_MATRICES = Matrices(np.zeros((0, 0, 0), np.float32), np.zeros(0, np.int32))


def padded(matrices: NDArray[Any]) -> NDArray[Any]:
    """Matrices with zeros added, so that products take whole vectors; (…, n, n) -> (…, padded n, padded n)"""
    n = matrices.shape[-1]
    return np.pad(matrices, [(0, 0)] * (matrices.ndim - 2) + [(0, -n % _CHAINS), (0, -n % _LANES)])


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


def in_single(rule: Rule) -> Rule:
    """The rule for distributions in single precision."""
    most = np.finfo(np.float32).max
    kept = np.clip(rule.kept, -most, most).astype(np.float32)
    return rule._replace(similarity=rule.similarity.astype(np.float32), kept=kept)


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _run(first, last, words, offsets, initial, rows, rule, matrices, every, result):  # type: ignore[no-untyped-def]
    """Distributions for the texts first … last − 1, after every word or after the last one, in the result's precision.

    The step stands here in one piece: helpers that take arrays would count references on every call, which
    costs more than the step.
    """
    n = initial.shape[1]
    row_start, row_state, entry_start = rows.row_start, rows.state, rows.entry_start
    source, target, weight = rows.source, rows.target, rows.weight
    kept_at, similarity, code = rule.kept_at, rule.similarity, rule.code
    lanes, inputs = (n + _LANES - 1) // _LANES * _LANES, (n + _CHAINS - 1) // _CHAINS * _CHAINS
    table, matrix_at, has_matrices = matrices.table, matrices.at, len(matrices.at) > 0
    d = np.zeros((_DEPTH + 1, lanes), result.dtype)  # a stack: `at` is before a step, `at + 1` after it
    constants = np.array([0.0, rule.alpha, 1.0 - rule.alpha, rule.beta]).astype(d.dtype)
    none, alpha, move, beta = constants[0], constants[1], constants[2], constants[3]
    stay, refer = move - move * beta, move * beta
    factor, pull, scratch = np.empty(n, d.dtype), np.empty(n, d.dtype), np.empty((1, n), d.dtype)
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
                following = words[position + 1] if position + 1 < offsets[last] else _IDENTITY
                if following != _IDENTITY:
                    if has_matrices and matrix_at[following] >= 0:
                        _fetch_matrix(table, matrix_at[following] * inputs * lanes)
                    elif code >= PROBE:
                        entry = rule.probed.entry_start[following]
                        _fetch_line(rule.probed.source, entry)
                        _fetch_line(rule.probed.target, entry)
                        _fetch_line(rule.probed.weight, entry)
                    else:
                        entry = entry_start[following]
                        _fetch_scales(rule.kept, kept_at[following] * n)
                        _fetch_line(row_state, row_start[following])
                        _fetch_line(source, entry)
                        _fetch_line(target, entry)
                        _fetch_line(weight, entry)
                if has_matrices and matrix_at[word] >= 0:
                    begin = matrix_at[word] * inputs * lanes
                    for column in range(0, lanes, _WIDE):
                        x, y, left = (at * lanes,), (to * lanes + column,), lanes - column
                        if left >= _WIDE:
                            _three(d, x, table, begin + column, lanes, inputs, d, y)
                        elif left == 2 * _LANES:
                            _two(d, x, table, begin + column, lanes, inputs, d, y)
                        else:
                            _one(d, x, table, begin + column, lanes, inputs, d, y)
                else:
                    # factors of observed rows, pulls of missing ones, what stays, and the mass in rows without a scale
                    kept, unscaled = kept_at[word], none
                    if kept >= 0:
                        scale = rule.kept
                    else:
                        scale, kept = scratch, 0
                        word_scales(scratch, FIRST, word, rows, rule)
                    for i in range(n):
                        value, mass = scale[kept, i], d[at, i]
                        missing = value < none
                        factor[i] = (none if missing else move * value) * mass
                        pull[i] = (-refer * value if missing else none) * mass
                        d[to, i] = (alpha + (stay if missing else none)) * mass
                        unscaled += mass if value == none else none
                    observed = row_start[word + 1] - row_start[word]
                    if code == EMPIRICAL and observed < n:
                        # factorₖ += Σᵢ g[k,i]·pullᵢ, over the observed k or the missing i, whichever are fewer
                        if 2 * observed <= n:
                            for row in range(row_start[word], row_start[word + 1]):
                                total = none
                                for i in range(n):
                                    total += similarity[row_state[row], i] * pull[i]
                                factor[row_state[row]] += total
                        else:
                            for i in range(n):
                                if pull[i] != none:
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
    matrices: Matrices | None = None,
    *,
    every: bool,
) -> NDArray[Any]:
    """State distributions of many texts; -1 in `words` stands for the identity. In single precision with matrices.

    words: (tokens,), offsets: (texts + 1,), initial: (1, n), or (texts, n) where every text has its own
    -> (tokens, n) after every word, or (texts, n) after the last.
    """
    shape = len(words) if every else len(offsets) - 1, initial.shape[1]
    result = np.empty(shape, np.float64 if matrices is None else np.float32)
    start = initial.view()
    start.setflags(write=False)  # the kernel is compiled for one kind of array, whoever owns it
    what = words, offsets, start, rows, rule, matrices or _NO_MATRICES, every, result
    in_parallel(_run, offsets, _TOKENS_PER_THREAD, *what)
    return result


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _product(first, last, left, columns, result):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        for column in range(columns.shape[0]):
            total = 0.0
            for i in range(columns.shape[1]):
                total += left[row, i] * columns[column, i]
            result[row, column] = total


def product(left: NDArray[np.floating], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """A tall thin matrix product; a BLAS would wake threads of its own and leave them spinning beside ours."""
    # (N, n), (n, C) -> (N, C)
    result = np.empty((len(left), right.shape[1]))
    columns = np.ascontiguousarray(right.T)
    in_parallel(_product, np.arange(len(left) + 1), _TOKENS_PER_THREAD, left, columns, result)
    return result


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _nearest(first, last, points, columns, result):  # type: ignore[no-untyped-def]
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
    in_parallel(_nearest, np.arange(len(points) + 1), 10 * _TOKENS_PER_THREAD, points, columns, result)
    return result
