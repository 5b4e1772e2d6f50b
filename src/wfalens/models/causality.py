"""A check that a model's output for a prefix does not depend on what follows."""

from __future__ import annotations

import numpy as np

from wfalens.errors import ModelError
from wfalens.models.contract import StepwiseClassifier
from wfalens.ragged import Ragged, positions

_TOLERANCE = 1e-3
_SEQUENCES, _LENGTH = 8, 12


def check_causal(model: StepwiseClassifier, ids: Ragged[np.int32]) -> None:
    """Compare outputs on whole sequences with outputs on their prefixes; refuse models that look ahead.

    A bidirectional network, attention without a mask, or padding that leaks into the outputs all fail here.
    """
    long_enough = np.flatnonzero(ids.lengths >= 2)[:_SEQUENCES]
    if len(long_enough) == 0:
        return
    whole = ids.take(long_enough).cut(_LENGTH)
    lengths = np.maximum(1, whole.lengths // 2)
    halves = Ragged.from_lengths(whole.values[positions(whole.offsets[:-1], lengths)], lengths)
    on_whole, on_halves = model.trace(whole), model.trace(halves)
    for item in range(len(halves)):
        expected, got = on_halves[item], on_whole[item][: len(on_halves[item])]
        gap = np.abs(expected - got).max()
        if gap > _TOLERANCE:
            words = " ".join(model.encoder.vocabulary.decode(halves[item]))
            raise ModelError(
                f"the model is not causal: its output for the prefix {words!r} changes by {gap:.2g} when more words "
                "follow (a bidirectional network, or padding that leaks); an automaton reads from left to right "
                "and cannot copy it. Wrap the model's final output as a callable (CallableClassifier) instead"
            )
