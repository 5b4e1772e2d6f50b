"""The Jensen–Shannon divergence of two distributions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def jensen_shannon(first: NDArray[np.floating], second: NDArray[np.floating]) -> NDArray[np.float64]:
    """Jensen–Shannon divergence of each pair of distributions, in nats; (N, C), (N, C) -> (N,)"""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    middle = (a + b) / 2
    return (_relative_entropy(a, middle) + _relative_entropy(b, middle)) / 2


def _relative_entropy(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = part > 0  # 0 · log 0 = 0
    ratio = np.divide(part, whole, out=np.ones_like(part), where=positive)
    return np.asarray((part * np.log(ratio)).sum(1))
