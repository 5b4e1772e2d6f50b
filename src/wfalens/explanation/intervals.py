"""Standard errors and intervals of means over few samples of many words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_PRIOR = 2  # samples that the mean variance of all words counts for


def moderated_errors(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors of the means over samples, NaN from a single one; (samples, words, classes) -> (words, classes)

    The variance of a few samples is often far too small by chance. That of each word is therefore mixed with the mean
    variance of all words (Smyth 2004, moderated t).
    """
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1:], np.nan)
    variance = samples.var(0, ddof=1)
    moderated = (_PRIOR * variance.mean(0) + (count - 1) * variance) / (_PRIOR + count - 1)
    return np.asarray(np.sqrt(moderated / count))


def half_widths(errors: NDArray[np.float64], samples: int, level: float) -> NDArray[np.float64]:
    """Of the intervals around means over so many samples, by Student's t with the degrees of moderated variances."""
    from scipy.stats import t

    return np.asarray(t.ppf((1 + level) / 2, samples - 1 + _PRIOR) * errors)
