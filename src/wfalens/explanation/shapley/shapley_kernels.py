"""The compiled core of exact values: integrals of the multilinear extension over z, for all words and classes at once.

With `M_i(z) = (1−z)·B + z·Ê_wi`, `g_t(z) = I·M_1⋯M_{t−1}·(Ê_wt − B)` from a forward pass and
`β_t(z) = M_{t+1}⋯M_L·F` from a backward pass,

    φ_t = Σ_q ω_q · g_t(z_q)·β_t(z_q)          I_st = Σ_q ω_q · g_s·M_{s+1}⋯M_{t−1}·(Ê_wt − B)·β_t

over the nodes z_q and weights ω_q of a quadrature. Nodes stand side by side in a panel; in the backward pass so do the
classes: column c·Q + q is class c at node q.

The steps become part of the functions below, which are kept compiled until this file changes: whoever changes `steps`
changes something here as well.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wfalens.explanation.shapley.panels import FAST, backward, forward

_COLUMNS = 64  # of a panel in the backward pass: nodes × classes


@njit(cache=True, nogil=True)
def nodes_at_once(nodes, classes):  # type: ignore[no-untyped-def]
    """As many as fill a panel, in blocks of about equal size."""
    most = max(1, _COLUMNS // classes)
    blocks = max(1, (nodes + most - 1) // most)
    return max(1, (nodes + blocks - 1) // blocks)


@njit(cache=True, nogil=True, fastmath=FAST)
def _step_on(step, absent, steps, z, panel, work, with_word, without):  # type: ignore[no-untyped-def]
    """`a·M_t` in place of the vectors a at the nodes z; what remains in `with_word` is `a·(Ê_wt − B)`."""
    forward(steps, step, panel, work, with_word)
    forward(steps, absent, panel, work, without)
    for i in range(panel.shape[0]):
        for k in range(len(z)):
            with_word[i, k] -= without[i, k]
            panel[i, k] = without[i, k] + z[k] * with_word[i, k]


@njit(cache=True, nogil=True, fastmath=FAST)
def _differences(words, absent, steps, initial, z, changes):  # type: ignore[no-untyped-def]
    """`g_t` at the nodes z, for every word of a text, into changes: (L, n, Q)"""
    n, nodes = len(initial), len(z)
    panel, work = np.empty((n, nodes)), np.empty((n, nodes))
    with_word, without = np.empty((n, nodes)), np.empty((n, nodes))
    for i in range(n):
        for k in range(nodes):
            panel[i, k] = initial[i]
    for t in range(len(words)):
        _step_on(words[t], absent, steps, z, panel, work, with_word, without)
        for i in range(n):
            for k in range(nodes):
                changes[t, i, k] = with_word[i, k]


@njit(cache=True, nogil=True, fastmath=FAST)
def _step_back(step, absent, steps, z, panel, work, with_word, without):  # type: ignore[no-untyped-def]
    """`β_{t−1} = M_t·β_t` in place of β_t; what remains in `with_word` is `(Ê_wt − B)·β_t`."""
    backward(steps, step, panel, work, with_word)
    backward(steps, absent, panel, work, without)
    for i in range(panel.shape[0]):
        for c in range(panel.shape[1] // len(z)):
            for k in range(len(z)):
                at = c * len(z) + k
                with_word[i, at] -= without[i, at]
                panel[i, at] = without[i, at] + z[k] * with_word[i, at]


@njit(cache=True, nogil=True, fastmath=FAST)
def _final_panel(final, nodes):  # type: ignore[no-untyped-def]
    """F for every node; (n, C) -> (n, C · Q)"""
    panel = np.empty((final.shape[0], final.shape[1] * nodes))
    for i in range(final.shape[0]):
        for at in range(final.shape[1] * nodes):
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
            work, with_word, without = np.empty_like(panel), np.empty_like(panel), np.empty_like(panel)
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
                    _step_back(words[t], absent, steps, z, panel, work, with_word, without)


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
        work, with_word, without = np.empty_like(panel), np.empty_like(panel), np.empty_like(panel)
        for t in range(length - 1, 0, -1):
            _step_back(words[t], absent, steps, z, panel, work, with_word, without)
            for i in range(n):
                for at in range(classes * len(z)):
                    after[t, i, at] = with_word[i, at]  # (Ê_wt − B)·β_t
        pushed, pushed_work = np.empty((n, len(z))), np.empty((n, len(z)))
        pushed_with, pushed_without = np.empty((n, len(z))), np.empty((n, len(z)))
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
                _step_on(words[t], absent, steps, z, pushed, pushed_work, pushed_with, pushed_without)


@njit(cache=True, nogil=True, fastmath=FAST)
def transposed_mean(words, shares, steps, n):  # type: ignore[no-untyped-def]
    """`(Σσ p(σ)·Êσ)ᵀ`; words, shares: (words,) -> (n, n)"""
    panel, mean, work, out = np.eye(n), np.zeros((n, n)), np.empty((n, n)), np.empty((n, n))
    for at in range(words.shape[0]):
        forward(steps, words[at], panel, work, out)
        for i in range(n):
            for j in range(n):
                mean[i, j] += shares[at] * out[i, j]
    return mean
