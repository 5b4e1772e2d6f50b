"""The compiled core of exact values: integrals of the multilinear extension over z, for all words and classes at once.

With `M_i(z) = (1−z)·B + z·Ê_wi`, `g_t(z) = I·M_1⋯M_{t−1}·(Ê_wt − B)` from a forward pass and
`β_t(z) = M_{t+1}⋯M_L·F` from a backward pass,

    φ_t = Σ_q ω_q · g_t(z_q)·β_t(z_q)          I_st = Σ_q ω_q · g_s·M_{s+1}⋯M_{t−1}·(Ê_wt − B)·β_t

over the nodes z_q and weights ω_q of a quadrature. Nodes stand side by side in a panel (n, columns), one vector per
column: the inner loop of every step runs over columns. In the backward pass the classes do so, too: column c·Q + q is
class c at node q. No matrix is formed: stochastic steps go once over the stored entries of the word, linear steps once
over the links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from wfalens.automaton.kernels.steps import EMPIRICAL, FIRST, FITTED, PROBE, UNIFORM, Rows, Rule, word_scales
from wfalens.jit import njit

IDENTITY, MEAN = -1, -2  # steps that are not those of a word: nothing at all, a random word (stochastic kind)
_COLUMNS = 64  # of a panel in the backward pass: nodes × classes
_LANES = 8  # numbers in double precision of the widest vectors
FAST = {"reassoc", "contract", "nsz"}  # lets sums be vectorised; NaN and infinities keep their meaning


class SparseSteps(NamedTuple):
    """A stochastic automaton; a step is a row set, `IDENTITY` (some unseen words), or `MEAN`: a random word."""

    rows: Rows
    rule: Rule
    mean: NDArray[np.float64]  # Σσ p(σ)·Êσ: (n, n), or (0, 0) where it is not needed
    mean_columns: NDArray[np.float64]  # the same, transposed


class LayeredSteps(NamedTuple):
    """Some words of a linear automaton; a step is the number of a row of the three tables, or `IDENTITY`."""

    decay: NDArray[np.float64]  # d: (words, n − 1)
    gate: NDArray[np.float64]  # s: (words, n − 1)
    entry: NDArray[np.float64]  # b: (words, n − 1)
    links: NDArray[np.float64]  # P, with the partners in the first layer: (n − 1, n − 1)
    link_columns: NDArray[np.float64]  # the same, transposed
    width: int  # m: numbers of a layer


Steps = SparseSteps | LayeredSteps


def forward(steps: Steps, step: int, panel: Any, work: Any, out: Any) -> None:
    """Compiled code only: `out[:, k] = panel[:, k]·Êσ` for every column; work: a panel to scribble on."""
    raise NotImplementedError


def backward(steps: Steps, step: int, panel: Any, work: Any, out: Any) -> None:
    """Compiled code only: `out[:, k] = Êσ·panel[:, k]` for every column; work: a panel to scribble on."""
    raise NotImplementedError


# The kind is chosen when a caller is compiled. The chosen function is a plain one, which becomes part of its caller:
# each level of compiled functions is optimised again with all that it calls, so one more level would take seconds more.
# For the same reason functions below are inlined into their callers.


@overload(forward, jit_options={"fastmath": FAST})
def _choose_forward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _sparse_forward if steps.instance_class is SparseSteps else _layered_forward


@overload(backward, jit_options={"fastmath": FAST})
def _choose_backward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return _sparse_backward if steps.instance_class is SparseSteps else _layered_backward


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_product(weights, begin, end, first, last, panel, out):  # type: ignore[no-untyped-def]
    """`out[i] += Σ_k weights[i, k]·panel[k]` for the rows begin ≤ i < end, over first ≤ k < last.

    Four rows and four k at a time: what is loaded is used four times.
    """
    columns = panel.shape[1]
    tiled_rows, tiled = begin + (end - begin) // 4 * 4, first + (last - first) // 4 * 4
    for i in range(begin, tiled_rows, 4):
        for k in range(first, tiled, 4):
            a0, b0, c0, d0 = weights[i, k], weights[i, k + 1], weights[i, k + 2], weights[i, k + 3]
            a1, b1, c1, d1 = weights[i + 1, k], weights[i + 1, k + 1], weights[i + 1, k + 2], weights[i + 1, k + 3]
            a2, b2, c2, d2 = weights[i + 2, k], weights[i + 2, k + 1], weights[i + 2, k + 2], weights[i + 2, k + 3]
            a3, b3, c3, d3 = weights[i + 3, k], weights[i + 3, k + 1], weights[i + 3, k + 2], weights[i + 3, k + 3]
            for column in range(columns):
                a, b = panel[k, column], panel[k + 1, column]
                c, d = panel[k + 2, column], panel[k + 3, column]
                out[i, column] += a0 * a + b0 * b + c0 * c + d0 * d
                out[i + 1, column] += a1 * a + b1 * b + c1 * c + d1 * d
                out[i + 2, column] += a2 * a + b2 * b + c2 * c + d2 * d
                out[i + 3, column] += a3 * a + b3 * b + c3 * c + d3 * d
    for i in range(begin, end):  # what the tiles leave over
        for k in range(tiled if i < tiled_rows else first, last):
            for column in range(columns):
                out[i, column] += weights[i, k] * panel[k, column]


@njit(cache=True, nogil=True)
def _copy(panel, out):  # type: ignore[no-untyped-def]
    """A loop: an assignment of arrays would compile its error messages, for seconds."""
    for i in range(panel.shape[0]):
        for column in range(panel.shape[1]):
            out[i, column] = panel[i, column]


@njit(cache=True, nogil=True, fastmath=FAST)
def _scale_of(step, rows, rule, n):  # type: ignore[no-untyped-def]
    """What a step needs of the word alone, see `word_scales`; (n,)"""
    kept = rule.kept_at[step]
    if kept >= 0:
        return rule.kept[kept]
    scale = np.empty((1, n))
    word_scales(scale, FIRST, step, rows, rule)
    return scale[0]


def _sparse_forward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]
    """The step of `automaton.kernels`, whose head has the formula; `work` holds the factors f of the observed rows."""
    n, columns = panel.shape
    if step == IDENTITY:
        _copy(panel, out)
        return
    if step == MEAN:
        out[:] = 0.0
        _add_product(steps.mean_columns, FIRST, n, FIRST, n, panel, out)
        return
    rows, rule = steps.rows, steps.rule
    scale = _scale_of(step, rows, rule, n)
    move = 1.0 - rule.alpha
    spread = np.zeros(columns)  # of missing rows that are uniform
    for i in range(n):
        value = scale[i]
        factor = move * value if value > 0.0 else 0.0
        keep = rule.alpha + (move * (1.0 - rule.beta) if value < 0.0 else 0.0)
        for column in range(columns):
            work[i, column] = factor * panel[i, column]
            out[i, column] = keep * panel[i, column]
        if rule.code == UNIFORM and value == 0.0:
            for column in range(columns):
                spread[column] += move / n * panel[i, column]
    if rule.code == UNIFORM:
        for i in range(n):
            for column in range(columns):
                out[i, column] += spread[column]
    if rule.code == EMPIRICAL:
        for row in range(rows.row_start[step], rows.row_start[step + 1]):
            k = rows.state[row]
            for i in range(n):
                if scale[i] < 0.0:
                    pull = -move * rule.beta * scale[i] * rule.similarity[k, i]
                    for column in range(columns):
                        work[k, column] += pull * panel[i, column]
    if rule.code != FITTED:
        for entry in range(rows.entry_start[step], rows.entry_start[step + 1]):
            source, target, weight = rows.source[entry], rows.target[entry], rows.weight[entry]
            for column in range(columns):
                out[target, column] += weight * work[source, column]
    if rule.code >= PROBE:
        probed = rule.probed
        for i in range(n):
            factor = rule.strength * probed.inverse[probed.row_start[step] + i]
            for column in range(columns):
                work[i, column] *= factor
        for entry in range(probed.entry_start[step], probed.entry_start[step + 1]):
            source, target, weight = probed.source[entry], probed.target[entry], probed.weight[entry]
            for column in range(columns):
                out[target, column] += weight * work[source, column]


def _sparse_backward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]
    """The same step from the other side; `work` holds what each stored row makes of the panel, not yet scaled."""
    n, columns = panel.shape
    if step == IDENTITY:
        _copy(panel, out)
        return
    if step == MEAN:
        out[:] = 0.0
        _add_product(steps.mean, FIRST, n, FIRST, n, panel, out)
        return
    rows, rule = steps.rows, steps.rule
    scale = _scale_of(step, rows, rule, n)
    move = 1.0 - rule.alpha
    for i in range(n):
        for column in range(columns):
            work[i, column] = out[i, column] = 0.0
    if rule.code != FITTED:
        for entry in range(rows.entry_start[step], rows.entry_start[step + 1]):
            source, target, weight = rows.source[entry], rows.target[entry], rows.weight[entry]
            for column in range(columns):
                work[source, column] += weight * panel[target, column]
    if rule.code >= PROBE:
        probed = rule.probed
        for entry in range(probed.entry_start[step], probed.entry_start[step + 1]):
            source, target, weight = probed.source[entry], probed.target[entry], probed.weight[entry]
            for column in range(columns):
                out[source, column] += weight * panel[target, column]
        for i in range(n):
            factor = rule.strength * probed.inverse[probed.row_start[step] + i]
            for column in range(columns):
                work[i, column] += factor * out[i, column]
    mean = np.zeros(columns)
    if rule.code == UNIFORM:
        for i in range(n):
            for column in range(columns):
                mean[column] += panel[i, column] / n
    for i in range(n):
        value = scale[i]
        keep = rule.alpha + (move * (1.0 - rule.beta) if value < 0.0 else 0.0)
        factor = move * value if value > 0.0 else 0.0
        spread = move if rule.code == UNIFORM and value == 0.0 else 0.0
        for column in range(columns):
            out[i, column] = keep * panel[i, column] + factor * work[i, column] + spread * mean[column]
        if value < 0.0:
            for row in range(rows.row_start[step], rows.row_start[step + 1]):
                k = rows.state[row]
                pull = -move * rule.beta * value * rule.similarity[i, k]
                for column in range(columns):
                    out[i, column] += pull * work[k, column]


def _layered_forward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]
    """`x ← x∘d + (x·P)∘s + b`; the last row of a panel is the constant."""
    if step == IDENTITY:
        _copy(panel, out)
        return
    states, columns = panel.shape[0] - 1, panel.shape[1]
    work[:] = 0.0
    for layer in range(0, states, steps.width):
        _add_product(steps.link_columns, layer, layer + steps.width, FIRST, max(layer, steps.width), panel, work)
    for j in range(states):
        decay, gate, entry = steps.decay[step, j], steps.gate[step, j], steps.entry[step, j]
        for column in range(columns):
            out[j, column] = decay * panel[j, column] + gate * work[j, column] + entry * panel[states, column]
    for column in range(columns):
        out[states, column] = panel[states, column]


def _layered_backward(steps, step, panel, work, out):  # type: ignore[no-untyped-def]
    """`y ← d∘y + P·(s∘y)`, and b·y on the constant."""
    if step == IDENTITY:
        _copy(panel, out)
        return
    states, columns = panel.shape[0] - 1, panel.shape[1]
    for column in range(columns):
        out[states, column] = panel[states, column]
    for j in range(states):
        decay, gate, entry = steps.decay[step, j], steps.gate[step, j], steps.entry[step, j]
        for column in range(columns):
            work[j, column] = gate * panel[j, column]
            out[j, column] = decay * panel[j, column]
            out[states, column] += entry * panel[j, column]
    for layer in range(0, states, steps.width):
        first = layer + steps.width if layer else 0  # the first layer's own numbers are partners
        _add_product(steps.links, layer, layer + steps.width, first, states, work, out)


@njit(cache=True, nogil=True)
def nodes_at_once(nodes, classes):  # type: ignore[no-untyped-def]
    """As many as fill a panel, in blocks of about equal size."""
    most = max(1, _COLUMNS // classes)
    blocks = max(1, (nodes + most - 1) // most)
    return max(1, (nodes + blocks - 1) // blocks)


@njit(inline="always")
def _step_on(step, absent, steps, z, panel, scratch):  # type: ignore[no-untyped-def]
    """`a·M_t` in place of the vectors a at the nodes z; `scratch[1]` becomes `a·(Ê_wt − B)`."""
    with_word, without = scratch[1], scratch[2]
    for at in range(2):  # one call, so that the step is compiled once
        forward(steps, absent if at else step, panel, scratch[0], scratch[1 + at])
    for i in range(panel.shape[0]):
        for k in range(len(z)):
            with_word[i, k] -= without[i, k]
            panel[i, k] = without[i, k] + z[k] * with_word[i, k]


@njit(inline="always")
def _differences(words, absent, steps, initial, z, changes):  # type: ignore[no-untyped-def]
    """`g_t` at the nodes z, for every word of a text, into changes: (L, n, Q)"""
    n, nodes = len(initial), len(z)
    panel, scratch = np.empty((n, nodes)), np.empty((3, n, nodes))
    for i in range(n):
        for k in range(nodes):
            panel[i, k] = initial[i]
    for t in range(len(words)):
        _step_on(words[t], absent, steps, z, panel, scratch)
        for i in range(n):
            for k in range(nodes):
                changes[t, i, k] = scratch[1, i, k]


@njit(inline="always")
def _step_back(step, absent, steps, z, panel, scratch):  # type: ignore[no-untyped-def]
    """`β_{t−1} = M_t·β_t` in place of β_t; `scratch[1]` becomes `(Ê_wt − B)·β_t`."""
    with_word, without = scratch[1], scratch[2]
    for at in range(2):
        backward(steps, absent if at else step, panel, scratch[0], scratch[1 + at])
    for i in range(panel.shape[0]):
        for c in range(panel.shape[1] // len(z)):
            for k in range(len(z)):
                at = c * len(z) + k
                with_word[i, at] -= without[i, at]
                panel[i, at] = without[i, at] + z[k] * with_word[i, at]


@njit(cache=True, nogil=True, fastmath=FAST)
def _final_panel(final, nodes):  # type: ignore[no-untyped-def]
    """F for every node; (n, C) -> (n, C · Q), and zeros: loops over full vectors are the fastest"""
    columns = final.shape[1] * nodes
    full = columns if columns <= _LANES else (columns + _LANES - 1) // _LANES * _LANES
    panel = np.zeros((final.shape[0], full))
    for i in range(final.shape[0]):
        for at in range(columns):
            panel[i, at] = final[i, at // nodes]
    return panel


@njit(cache=True, nogil=True, fastmath=FAST)
def add_values(words, offsets, first, last, absent, steps, initial, final, nodes, result):  # type: ignore[no-untyped-def]
    """Values of the texts first … last − 1, onto result: (tokens, C)

    nodes: of every text the first and last + 1 of its nodes, (texts, 2), and of all nodes z and ω, (nodes,) each
    """
    spans, all_z, weight = nodes
    n, classes = final.shape
    for text in range(first, last):
        start, stop = offsets[text], offsets[text + 1]
        size = nodes_at_once(spans[text, 1] - spans[text, 0], classes)
        changes = np.empty((stop - start, n, size))
        for begin in range(spans[text, 0], spans[text, 1], size):
            z = all_z[begin : min(begin + size, spans[text, 1])]
            _differences(words[start:stop], absent, steps, initial, z, changes)
            panel = _final_panel(final, len(z))
            scratch = np.empty((3, n, panel.shape[1]))
            for t in range(stop - 1, start - 1, -1):
                for i in range(n):
                    for k in range(len(z)):
                        changes[t - start, i, k] *= weight[begin + k]
                    for c in range(classes):
                        total = 0.0
                        for k in range(len(z)):
                            total += changes[t - start, i, k] * panel[i, c * len(z) + k]
                        result[t, c] += total
                if t > start:
                    _step_back(words[t], absent, steps, z, panel, scratch)


@njit(cache=True, nogil=True, fastmath=FAST)
def add_pairs(words, absent, steps, initial, final, all_z, weight, result):  # type: ignore[no-untyped-def]
    """Interactions of all pairs of one text, onto result: (L, L, C), above the diagonal."""
    length, n, classes = len(words), final.shape[0], final.shape[1]
    size = nodes_at_once(len(all_z), classes)
    changes, after = np.empty((length, n, size)), np.empty((length, n, size * classes))
    for begin in range(0, len(all_z), size):
        z = all_z[begin : min(begin + size, len(all_z))]
        _differences(words, absent, steps, initial, z, changes)
        panel = _final_panel(final, len(z))
        scratch = np.empty((3, n, panel.shape[1]))
        for t in range(length - 1, 0, -1):
            _step_back(words[t], absent, steps, z, panel, scratch)
            for i in range(n):
                for at in range(classes * len(z)):
                    after[t, i, at] = scratch[1, i, at]  # (Ê_wt − B)·β_t
        pushed, pushed_scratch = np.empty((n, len(z))), np.empty((3, n, len(z)))
        for s in range(length - 1):
            for i in range(n):
                for k in range(len(z)):
                    pushed[i, k] = weight[begin + k] * changes[s, i, k]
            for t in range(s + 1, length):
                for c in range(classes):
                    total = 0.0
                    for i in range(n):
                        for k in range(len(z)):
                            total += pushed[i, k] * after[t, i, c * len(z) + k]
                    result[s, t, c] += total
                _step_on(words[t], absent, steps, z, pushed, pushed_scratch)
