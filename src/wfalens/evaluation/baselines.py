"""Trivial stand-ins for a model: what agreement costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FOLDS = 5


def majority(outputs: NDArray[np.float64], texts: int) -> NDArray[np.float64]:
    """The model's mean output, with its most frequent class on top; outputs: (N, C) -> (texts, C)"""
    classes = outputs.shape[1]
    constant = outputs.mean(0)
    top = np.bincount(outputs.argmax(1), minlength=classes).argmax()
    if constant.argmax() != top:
        constant[top] = constant.max() * 1.001
    return np.tile(constant / constant.sum(), (texts, 1))


def bag_of_words(
    fit_ids: Ragged[np.int32], fit_outputs: NDArray[np.float64], ids: Ragged[np.int32], words: int
) -> NDArray[np.float64]:
    """Logistic regression on word counts, fitted to the model's predictions; -> (texts, C)"""
    return _fit_predict(_counts(fit_ids, words), fit_outputs.argmax(1), _counts(ids, words), fit_outputs.shape[1])


def cross_fitted_bag_of_words(
    ids: Ragged[np.int32], outputs: NDArray[np.float64], words: int
) -> NDArray[np.float64] | None:
    """The same where there are no other texts to fit on: each fifth is predicted from the rest.

    None if there are too few texts, or only one of some class.
    """
    from sklearn.model_selection import StratifiedKFold

    table, labels = _counts(ids, words), outputs.argmax(1)
    smallest = np.bincount(labels)[np.unique(labels)].min()
    if len(labels) < 2 * _FOLDS or smallest < 2:
        return None
    result = np.empty(outputs.shape)
    folds = StratifiedKFold(min(_FOLDS, int(smallest)), shuffle=True, random_state=0)
    for fit, rest in folds.split(table, labels):
        result[rest] = _fit_predict(table[fit], labels[fit], table[rest], outputs.shape[1])
    return result


def _fit_predict(
    fit_table: csr_array, labels: NDArray[np.int64], table: csr_array, classes: int
) -> NDArray[np.float64]:
    from sklearn.linear_model import LogisticRegression

    result = np.zeros((table.shape[0], classes))
    present = np.unique(labels)
    if len(present) == 1:
        result[:, present[0]] = 1
        return result
    model = LogisticRegression(max_iter=1000, tol=1e-3).fit(fit_table, labels)
    result[:, model.classes_] = model.predict_proba(table)
    return result


def _counts(ids: Ragged[np.int32], words: int) -> csr_array:
    from scipy.sparse import csr_array

    # a copy: counting sorts the words of every text where they stand
    table = csr_array((np.ones(len(ids.values)), ids.values, ids.offsets), shape=(len(ids), words), copy=True)
    table.sum_duplicates()
    return table
