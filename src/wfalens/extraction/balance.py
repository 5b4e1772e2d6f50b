"""Texts drawn evenly over classes: small classes count as much as large ones in what an automaton is fitted to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.extraction.query_budget import QueryBudget
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.scale.bottom_k import TextSample
from wfalens.text.blocks import Source

PREDICTED, LABEL = BALANCES = ("predicted", "label")  # by the model's class of a text, or by the text's own
_MOST_COPIES = 50  # of a text


def label_classes(balance: str | None, model: PrefixClassifier, source: Source) -> Mapping[str, int] | None:
    """The classes of labels, if texts are balanced by them; None: labels are not read."""
    if balance != LABEL:
        return None
    if not source.has_labels:
        raise InputError(f"{source.name} has no labels to balance by; balance by the predicted class instead")
    return {name: number for number, name in enumerate(model.class_names)}


def groups_of(
    balance: str | None, model: PrefixClassifier, sample: TextSample, ledger: QueryBudget
) -> NDArray[np.int64] | None:
    """The class of every text by which they are balanced; None: they are not. -> (texts,)"""
    if balance is None:
        return None
    if balance == LABEL:
        return sample.truth
    ledger.texts += len(sample.ids.values)
    return np.asarray(last_outputs(model, sample.ids).argmax(1))


def evened(ids: Ragged[np.int32], groups: NDArray[np.int64] | None) -> Ragged[np.int32]:
    """All texts, those of smaller classes several times: about as many of each class. groups: (texts,)"""
    if groups is None:
        return ids
    sizes = np.bincount(groups)
    copies = np.minimum(np.rint(sizes.max() / np.maximum(1, sizes)), _MOST_COPIES).astype(np.int64)
    return ids.take(np.repeat(np.arange(len(ids)), copies[groups]))
