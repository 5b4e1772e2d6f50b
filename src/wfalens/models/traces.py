"""Outputs of texts in one batched pass of the model: after every word (paper §2), after the last, before any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier, WholeTextClassifier, checked_probabilities, uniform
from wfalens.ragged import Ragged, concatenate
from wfalens.threads import passes_of_model

INITIAL = MODEL, UNIFORM = ("model", "uniform")  # whose output stands before any word
_TOKENS_PER_CALL = 50_000


def output_traces(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
) -> Ragged[np.float32]:
    """`T(w)` for every text; -> (tokens, classes)"""

    def traced(part: Ragged[np.int32]) -> Ragged[np.float32]:
        trace = model.trace(part)
        checked_probabilities(trace.values, len(part.values), len(model.class_names), "the model")
        if not np.array_equal(trace.offsets, part.offsets):
            raise InputError("the model's trace does not have one row per token of each text")
        return trace

    progress.start("running the model", len(ids.values))
    parts = []
    for trace in passes_of_model(model, traced, ids.chunks(_TOKENS_PER_CALL)):
        parts.append(trace)
        progress.advance(len(trace.values))
    progress.finish()
    return concatenate(parts)


def last_outputs(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
) -> NDArray[np.float32]:
    """The last row of `T(w)` for every text; a model that pays for every prefix is asked for nothing else.

    No text may be empty. -> (texts, classes)
    """
    if not isinstance(model, WholeTextClassifier):
        return output_traces(model, ids).last()

    def asked(part: Ragged[np.int32]) -> NDArray[np.float32]:
        return checked_probabilities(model.final(part), len(part), len(model.class_names), "the model")

    progress.start("asking the model", len(ids))
    parts = [np.empty((0, len(model.class_names)), np.float32)]
    for outputs in passes_of_model(model, asked, ids.chunks(_TOKENS_PER_CALL)):
        parts.append(outputs)
        progress.advance(len(outputs))
    progress.finish()
    return np.concatenate(parts)


def prior_of(model: PrefixClassifier) -> NDArray[np.float32]:
    """The model's output before any word where it has one, else uniform; (classes,)"""
    own = getattr(model, "initial_output", None)
    return uniform(len(model.class_names)) if own is None else np.asarray(own, np.float32)


def initial_output(model: PrefixClassifier, initial: str) -> NDArray[np.float32]:
    """`ρ(0)`: the model's own output before any word if `initial` says "model", else uniform; (classes,)"""
    return prior_of(model) if initial == MODEL else uniform(len(model.class_names))
