"""Texts drawn evenly over classes: small classes count as much as large ones in what an automaton is fitted to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import QueryBudget
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged

PREDICTED, LABEL = BALANCES = ("predicted", "label")  # by the model's class of a text, or by the text's own
_MOST_COPIES = 50  # of a text


def groups_of(request: Request, budget: QueryBudget) -> NDArray[np.int64] | None:
    """The class of every text by which they are balanced; None: they are not. -> (texts,)"""
    if request.balance is None:
        return None
    if request.balance == LABEL:
        return request.texts.truth
    budget.texts += len(request.ids.values)
    return np.asarray(last_outputs(request.model, request.ids).argmax(1))


def balanced(ids: Ragged[np.int32], groups: NDArray[np.int64] | None) -> Ragged[np.int32]:
    """All texts, those of smaller classes several times: about as many of each class. groups: (texts,)"""
    if groups is None:
        return ids
    sizes = np.bincount(groups)
    copies = np.minimum(np.rint(sizes.max() / np.maximum(1, sizes)), _MOST_COPIES).astype(np.int64)
    return ids.take(np.repeat(np.arange(len(ids)), copies[groups]))
