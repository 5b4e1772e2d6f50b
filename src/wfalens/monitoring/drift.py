"""Whether texts still look like those that the automaton was extracted from: p-values for a window of texts.

Against the extraction texts themselves, the mean surprise of a word is known, and the window's mean is compared with
it, with texts as units: words of a text depend on each other. Against a sample of reference texts, ranks are compared,
and the number of texts beyond nearly all of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wfalens.monitoring.surprise import TextFeatures

_FEW = 20  # texts below which nothing is said
_BEYOND = 0.99  # quantile of the reference beyond which a text is an outlier


@dataclass(frozen=True)
class Drift:
    """How a window of texts differs from what the automaton is used to."""

    texts: int
    surprise: float  # mean of a word
    usual: float  # the same in extraction, or of the reference
    p: float | None  # that so large a difference is chance; None from too few texts


def against_extraction(mean_surprise: float, seen: TextFeatures) -> Drift:
    """From the mean surprise of a word in extraction."""
    words = float(seen.lengths.sum())
    mean = float((seen.surprise * seen.lengths).sum() / max(1.0, words))
    return Drift(len(seen.label), mean, mean_surprise, _p_of_mean(mean_surprise, seen))


def against_reference(reference: NDArray[np.float64], seen: TextFeatures) -> Drift:
    """From the surprise of reference texts; the smaller of two p-values, doubled. reference: (texts,)"""
    mean, usual = float(seen.surprise.mean()), float(reference.mean())
    if min(len(reference), len(seen.surprise)) < _FEW:
        return Drift(len(seen.label), mean, usual, None)
    ranks = stats.mannwhitneyu(seen.surprise, reference).pvalue
    limit = float(np.quantile(reference, _BEYOND))
    beyond = [int((values > limit).sum()) for values in (seen.surprise, reference)]
    table = np.array([[beyond[0], len(seen.surprise) - beyond[0]], [beyond[1], len(reference) - beyond[1]]])
    outliers = stats.fisher_exact(table, alternative="greater")[1]
    return Drift(len(seen.label), mean, usual, float(min(1.0, 2 * min(ranks, outliers))))


def _p_of_mean(mean_surprise: float, seen: TextFeatures) -> float | None:
    if len(seen.label) < _FEW:
        return None
    excess = (seen.surprise - mean_surprise) * seen.lengths  # of each text
    error = float(excess.std(ddof=1)) * np.sqrt(len(excess))
    if error == 0:
        return None
    return float(2 * stats.t.sf(abs(float(excess.sum())) / error, len(excess) - 1))
