"""The compiled core: steps of the automaton over many texts. It takes arrays and knows nothing of models.

A step `d → d·Êσ` (SPEC: paper §3.2, §3.3) never forms a matrix. With R the observed rows of σ, tₖ their sums
and g the state similarities, empirical completion sends

    d'[j] = Σ_{k∈R} T̂σ[k,j] · (dₖ/tₖ + β Σ_{i∉R} g[k,i]·dᵢ/zᵢ) + (1−β)·dⱼ·[j∉R],   zᵢ = Σ_{k∈R} tₖ·g[i,k]

which costs O(n·|R|) for the inner sums and one addition per stored count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfalens.threads import in_parallel

NULL, UNIFORM, EMPIRICAL, PROBE = range(4)
_REASSOCIATE = {
    "reassoc",
    "contract",
    "nsz",
}  # lets sums be vectorised; NaN and infinities keep their meaning
_TOKENS_PER_THREAD = 4096
_IDENTITY = -1


class Rows(NamedTuple):
    """Sparse rows keyed by (word, state), sorted; row r of word w: word_start[w] ≤ r < word_start[w + 1]."""

    word_start: NDArray[np.int64]  # (V + 1,)
    state: NDArray[np.uint16]  # (rows,)
    start: NDArray[np.int64]  # (rows + 1,)
    target: NDArray[np.uint16]  # (entries,)
    weight: NDArray[np.float32]  # (entries,)
    total: NDArray[np.float64]  # (rows,): sums of the weights


class Rule(NamedTuple):
    """How a row that was not observed is completed, and the static probability α."""

    code: int
    alpha: float
    beta: float
    similarity: NDArray[np.float64]  # g: (n, n), empirical only
    probed: Rows  # probe only
    strength: float  # m, probe only


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _scatter(out, rows, row, factor):  # type: ignore[no-untyped-def]
    for entry in range(rows.start[row], rows.start[row + 1]):
        out[rows.target[entry]] += factor * rows.weight[entry]


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _step(d, out, word, rows, rule, rest, norm):  # type: ignore[no-untyped-def]
    """out = d·Êσ; rest and norm are scratch. d, out, rest, norm: (n,)"""
    n = d.shape[0]
    first, last = rows.word_start[word], rows.word_start[word + 1]
    for i in range(n):
        out[i] = 0.0
        rest[i] = d[i]
    if rule.code == PROBE:
        # norm[i] = Σ of the observed row + m; probed rows are there for every state
        for i in range(n):
            norm[i] = rule.strength
        for row in range(first, last):
            norm[rows.state[row]] += rows.total[row]
        for row in range(first, last):
            i = rows.state[row]
            if d[i] != 0.0:
                _scatter(out, rows, row, d[i] / norm[i])
        for row in range(rule.probed.word_start[word], rule.probed.word_start[word + 1]):
            i = rule.probed.state[row]
            if d[i] != 0.0:
                _scatter(out, rule.probed, row, d[i] * rule.strength / (norm[i] * rule.probed.total[row]))
    else:
        for row in range(first, last):
            rest[rows.state[row]] = 0.0
        missing = 0.0
        for i in range(n):
            missing += rest[i]
        if rule.code == EMPIRICAL and missing > 0.0:
            for i in range(n):
                norm[i] = 0.0
            for row in range(first, last):
                near, total = rule.similarity[rows.state[row]], rows.total[row]
                for i in range(n):
                    norm[i] += total * near[i]
            for i in range(n):
                norm[i] = rest[i] / norm[i]
            for row in range(first, last):
                near, pull = rule.similarity[rows.state[row]], 0.0
                for i in range(n):
                    pull += near[i] * norm[i]
                _scatter(out, rows, row, d[rows.state[row]] / rows.total[row] + rule.beta * pull)
            for i in range(n):
                out[i] += (1.0 - rule.beta) * rest[i]
        else:
            for row in range(first, last):
                i = rows.state[row]
                if d[i] != 0.0:
                    _scatter(out, rows, row, d[i] / rows.total[row])
            if rule.code == UNIFORM:
                for i in range(n):
                    out[i] += missing / n
    for i in range(n):
        out[i] = rule.alpha * d[i] + (1.0 - rule.alpha) * out[i]


@njit(cache=True, nogil=True)
def _run(words, offsets, first, last, initial, rows, rule, every, result):  # type: ignore[no-untyped-def]
    """Distributions over the states for texts first … last − 1, after every word or after the last one."""
    n = initial.shape[0]
    here, there = np.empty(n), np.empty(n)
    rest, norm = np.empty(n), np.empty(n)
    for text in range(first, last):
        here[:] = initial
        for position in range(offsets[text], offsets[text + 1]):
            if words[position] != _IDENTITY:
                _step(here, there, words[position], rows, rule, rest, norm)
                here, there = there, here
            if every:
                result[position] = here
        if not every:
            result[text] = here


def distributions(
    words: NDArray[np.int64],
    offsets: NDArray[np.int64],
    initial: NDArray[np.float64],
    rows: Rows,
    rule: Rule,
    every: bool,
) -> NDArray[np.float64]:
    """State distributions of many texts; -1 in `words` stands for the identity.

    words: (tokens,), offsets: (texts + 1,) -> (tokens, n) after every word, or (texts, n) after the last.
    """
    result = np.empty((len(words) if every else len(offsets) - 1, len(initial)))

    def work(first: int, last: int) -> None:
        _run(words, offsets, first, last, initial, rows, rule, every, result)

    in_parallel(work, offsets, _TOKENS_PER_THREAD)
    return result


@njit(cache=True, nogil=True)
def _matrix(word, rows, rule, matrix):  # type: ignore[no-untyped-def]
    n = matrix.shape[0]
    unit, rest, norm = np.zeros(n), np.empty(n), np.empty(n)
    for i in range(n):
        unit[i] = 1.0
        _step(unit, matrix[i], word, rows, rule, rest, norm)
        unit[i] = 0.0


def word_matrix(word: int, states: int, rows: Rows, rule: Rule) -> NDArray[np.float64]:
    """Êσ of one word, by one step from every state; -> (n, n)"""
    matrix = np.eye(states)
    if word != _IDENTITY:
        _matrix(word, rows, rule, matrix)
    return matrix


@njit(cache=True, nogil=True, fastmath=_REASSOCIATE)
def _nearest(points, columns, first, last, result):  # type: ignore[no-untyped-def]
    classes, centres = columns.shape
    distance = np.empty(centres, np.float32)
    for point in range(first, last):
        distance[:] = 0
        for column in range(classes):
            value = points[point, column]
            for centre in range(centres):
                gap = value - columns[column, centre]
                distance[centre] += gap * gap
        best = 0
        for centre in range(1, centres):
            if distance[centre] < distance[best]:
                best = centre
        result[point] = best + 1


def nearest_centre(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.int32]:
    """The state of each output: 1 + the nearest centre, the first of equals. (N, C), (K, C) -> (N,)"""
    result = np.empty(len(points), np.int32)
    columns = np.ascontiguousarray(centres.T)

    def work(first: int, last: int) -> None:
        _nearest(points, columns, first, last, result)

    in_parallel(work, np.arange(len(points) + 1), 10 * _TOKENS_PER_THREAD)
    return result
