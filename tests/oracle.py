"""The method, transcribed plainly: one sentence at a time, one dense matrix per word.

Slow on purpose and simple to check against the formulas: the oracle of the equality tests and the baseline of
the speed benchmark.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans


def count_matrices(sentences, paths, words, n, dtype=np.float64):
    """T̂σ for every word; sentences: lists of ids, paths: lists of states after each word. -> (V, n, n)"""
    counts = np.zeros((words, n, n), dtype)
    for sentence, path in zip(sentences, paths, strict=True):
        before = 0
        for word, after in zip(sentence, path, strict=True):
            counts[word, before, after] += 1
            before = after
    return counts


def transition_matrix(counts, centres, completion, *, beta=0.3, squared=False, probed=None, strength=2.0):
    """Eσ from T̂σ, row by row. counts: (n, n), centres: (n, C)"""
    n = len(counts)
    matrix = np.zeros((n, n))
    for i in range(n):
        total = counts[i].sum()
        if completion == "probe":
            share = probed[i] / probed[i].sum()
            matrix[i] = (counts[i] + strength * share) / (total + strength)
        elif completion == "fit":
            matrix[i] = probed[i] / probed[i].sum()
        elif total > 0:
            matrix[i] = counts[i] / total
        elif completion == "uniform":
            matrix[i] = 1 / n
        elif completion == "empirical":
            distance = np.linalg.norm(centres[i] - centres, axis=1)
            g = np.exp(-(distance**2 if squared else distance))
            seen = g @ counts
            stay = np.zeros(n)
            stay[i] = 1
            matrix[i] = beta * seen / seen.sum() + (1 - beta) * stay
    return matrix


def context_enhanced(matrix, alpha):
    """Êσ = α·I + (1−α)·Eσ"""
    return alpha * np.eye(len(matrix)) + (1 - alpha) * matrix


def evaluate(sentence, matrices, centres):
    """I·Ê_w1·…·Ê_wL·F; `matrices` maps a word to its matrix."""
    d = np.zeros(len(centres))
    d[0] = 1
    for word in sentence:
        d = d @ matrices[word]
    return d @ centres


def extract(outputs, sentences, words, clusters, sample, rng, alpha, beta, initial):
    """Empirical completion with context from output traces; -> matrices by word, centres.

    outputs: one (L, C) array per sentence. k-means is the library's, on the same sample as the fast path.
    """
    flat = np.concatenate(outputs)
    if len(flat) > sample * clusters:
        flat = flat[np.sort(rng.choice(len(flat), sample * clusters, replace=False))]
    seeds = KMeans(clusters, n_init=1, random_state=int(rng.integers(2**31))).fit(flat).cluster_centers_
    paths = [[1 + int(np.argmin(np.square(row - seeds).sum(1))) for row in trace] for trace in outputs]
    n = clusters + 1
    centres = np.zeros((n, len(initial)))
    sizes = np.zeros(n)
    for trace, path in zip(outputs, paths, strict=True):
        for row, state in zip(trace, path, strict=True):
            centres[state] += row
            sizes[state] += 1
    centres[1:] /= sizes[1:, None]
    centres[0] = initial
    counts = count_matrices(sentences, paths, words, n, np.float32)
    identity = np.eye(n)
    matrices = [
        context_enhanced(transition_matrix(counts[word], centres, "empirical", beta=beta), alpha)
        if counts[word].any()
        else identity
        for word in range(words)
    ]
    return matrices, centres
