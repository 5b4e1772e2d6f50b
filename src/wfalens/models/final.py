"""What a model says of whole texts: each distinct text is read once, and none that only begins another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wfalens.models.contract import (
    PrefixClassifier,
    StatefulClassifier,
    WholeTextClassifier,
    checked_probabilities,
    uniform,
)
from wfalens.models.prefixes import PrefixTree, prefix_tree
from wfalens.models.traces import last_outputs
from wfalens.ragged import Ragged

_SHARED = (
    0.5  # prefixes, as a share of the words of all texts, below which stepping is quicker than reading whole texts
)


def final_outputs(model: PrefixClassifier, texts: Ragged[np.int32]) -> NDArray[np.float64]:
    """The output after the last word of every text, the model's prior for a text without words; -> (texts, classes)

    For texts that repeat or begin one another, such as variants of one; `last_outputs` is quicker for others. A trace
    tells the outputs of all prefixes, so a text that begins another one costs nothing; a model that pays for every
    prefix is asked for each distinct text. A steppable model reads shared beginnings once where they are most of it.
    """
    tree = prefix_tree(texts)
    ends = np.full(len(texts), -1)
    worded = np.flatnonzero(texts.lengths)
    ends[worded] = tree.of_token[texts.offsets[worded + 1] - 1]
    wanted = np.unique(ends[worded])
    outputs = np.empty((len(tree) + 1, len(model.class_names)))  # the last row, -1, is the output before any word
    outputs[-1] = prior_output(model)
    if isinstance(model, WholeTextClassifier):
        outputs[wanted] = last_outputs(model, tree.spelled(wanted))
    elif len(tree):
        leaves = np.setdiff1d(np.arange(len(tree)), tree.parent)
        if isinstance(model, StatefulClassifier) and len(tree) < _SHARED * int(tree.depth[leaves].sum()):
            outputs[:-1] = _stepped(model, tree)
            return np.asarray(outputs[ends])
        spelled = tree.spelled(leaves)
        values = model.trace(spelled).values
        checked_probabilities(values, len(spelled.values), len(model.class_names), "the model")
        outputs[_prefixes_of(tree.parent, leaves, spelled.lengths)] = values
    return np.asarray(outputs[ends])


def _stepped(model: StatefulClassifier, tree: PrefixTree) -> NDArray[np.float32]:
    """The output after every prefix, all prefixes of a length at a time; -> (prefixes, classes)"""
    outputs = np.empty((len(tree), len(model.class_names)), np.float32)
    first = np.searchsorted(tree.depth, np.arange(1, int(tree.depth[-1]) + 2))
    state, previous = model.initial_state(1), -1  # the number of the first prefix that is one word shorter
    for start, end in pairwise(first):
        state, outputs[start:end] = model.step(state[tree.parent[start:end] - previous], tree.word[start:end])
        previous = start
    return checked_probabilities(outputs, len(tree), len(model.class_names), "the model")


def prior_output(model: PrefixClassifier) -> NDArray[np.float64]:
    """The model's output before any word, uniform where it does not tell one; (classes,)"""
    own = getattr(model, "initial_output", None)
    return np.asarray(uniform(len(model.class_names)) if own is None else own, np.float64)


def _prefixes_of(parent: NDArray[np.int64], leaves: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The prefixes along the way to each leaf, one leaf after the other; -> (sum of lengths,)"""
    ends = np.cumsum(lengths)
    found = np.empty(int(lengths.sum()), np.int64)
    here, place = leaves.copy(), ends - 1
    going = np.arange(len(leaves))
    while len(going):
        found[place[going]] = here[going]
        here[going] = parent[here[going]]
        place[going] -= 1
        going = going[here[going] >= 0]
    return found
