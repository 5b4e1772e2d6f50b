"""Sequences of many lengths through a model that reads padded tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged, positions
from wfalens.text.vocabulary import PADDING

TOKENS_PER_BATCH = 8192  # padded tokens that go through a model at once


def trace_padded(
    ids: Ragged[np.int32],
    classes: int,
    run: Callable[[NDArray[np.int32]], NDArray[np.float32]],
    tokens: int = TOKENS_PER_BATCH,
) -> Ragged[np.float32]:
    """One row per token, from `run(ids (batch, time)) -> (batch, time, classes)`; what stands on padding is dropped."""
    values = np.empty((len(ids.values), classes), np.float32)
    for batch in length_sorted_batches(ids.lengths, tokens):
        sequences = ids.take(batch)
        table = sequences.padded(PADDING)
        real = np.arange(table.shape[1]) < sequences.lengths[:, None]
        values[positions(ids.offsets[batch], sequences.lengths)] = run(table)[real]
    return Ragged(values, ids.offsets)


def length_sorted_batches(lengths: NDArray[np.int64], tokens: int) -> list[NDArray[np.int64]]:
    """Items sorted by length and cut into batches of at most `tokens` padded tokens (one item at least)."""
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    batches, start = [], int(np.searchsorted(ordered, 1))  # empty items need no pass
    while start < len(order):
        # the longest item decides the width: find the largest batch that fits
        candidates = ordered[start : start + tokens]
        fits = candidates * np.arange(1, len(candidates) + 1) <= tokens
        stop = start + max(1, int(fits.sum()))
        batches.append(order[start:stop])
        start = stop
    return batches
