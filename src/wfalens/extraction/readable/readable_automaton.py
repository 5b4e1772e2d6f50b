"""From what was fitted to an automaton: its states and classes in an order that a person can follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Shared
from wfalens.automaton.kernels.steps import Rows
from wfalens.automaton.rows import make_rows, no_rows
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.readable.fit import Fit
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING

_LEVELS = 4095  # weights of a row are stored as whole numbers up to this
_TOKENS_AT_ONCE = 1 << 18


def automaton_of(
    fitted: Fit, model: PrefixClassifier, ids: Ragged[np.int32], provenance: dict[str, Any]
) -> StochasticWFA:
    """The automaton, with the frequencies that it has in texts; classes without a word are left out."""
    counts = np.bincount(ids.values, minlength=len(fitted.word_class))
    ordered = _ordered(fitted)
    states, classes = len(ordered.centres), len(ordered.matrices)
    nowhere = np.zeros((classes, states))
    bare = _made(ordered, model, nowhere, np.zeros(states, np.int64), counts, {})
    visits, reached = _traffic(bare, ordered.word_class, classes, ids)
    return _made(ordered, model, visits, reached, counts, provenance)


def _made(
    fitted: Fit,
    model: PrefixClassifier,
    visits: NDArray[np.float64],
    state_visits: NDArray[np.int64],
    counts: NDArray[np.int64],
    provenance: dict[str, Any],
) -> StochasticWFA:
    typicality = np.rint(255 * fitted.typicality).astype(np.uint8)
    return StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=fitted.centres / fitted.centres.sum(1, keepdims=True),
        rows=no_rows(len(counts)),
        completion=Shared(_rows(fitted.matrices), fitted.word_class, visits, typicality),
        alpha=0.0,
        state_visits=state_visits,
        word_counts=counts,
        provenance=provenance,
    )


def _ordered(fitted: Fit) -> Fit:
    """States by the class that they say, the surest last; classes of words by what they lead to, without empty ones."""
    centres = fitted.centres
    says, sure = centres.argmax(1), centres.max(1)
    states = np.concatenate([[0], 1 + np.lexsort((sure[1:], says[1:]))])
    present = np.bincount(fitted.word_class[PADDING + 1 :], minlength=len(fitted.matrices)) > 0
    kept = np.flatnonzero(present)
    leads = fitted.matrices[kept].mean(1) @ centres  # (classes, C)
    kept = kept[np.lexsort((-leads.max(1), leads.argmax(1)))]
    place = np.zeros(len(fitted.matrices), np.int64)
    place[kept] = np.arange(len(kept))
    return Fit(
        fitted.matrices[kept][:, states][:, :, states], centres[states], place[fitted.word_class], fitted.typicality
    )


def _rows(matrices: NDArray[np.float64]) -> Rows:
    """Rows with their weights as whole numbers; what vanishes is left out. (G, n, n)"""
    whole = np.rint(matrices / matrices.max(2, keepdims=True) * _LEVELS)
    there = whole > 0
    classes, n, _ = matrices.shape
    states = np.tile(np.arange(n), classes)
    return make_rows(np.full(classes, n), states, there.sum(2).ravel(), np.nonzero(there)[2], whole[there])


def _traffic(
    wfa: StochasticWFA, word_class: NDArray[np.int64], classes: int, ids: Ragged[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How often each class is read in each state, (G, n), and how often each state is reached, (n,)"""
    visits, reached = np.zeros((classes, wfa.states)), np.zeros(wfa.states)
    for part in ids.chunks(_TOKENS_AT_ONCE):
        after = wfa.state_vectors(part, every=True)
        before = np.vstack([wfa.initial, after[:-1]])
        before[part.offsets[:-1][part.lengths > 0]] = wfa.initial
        for state in range(wfa.states):
            visits[:, state] += np.bincount(word_class[part.values], before[:, state], classes)
        reached += after.sum(0)
    reached[0] = len(ids)
    return visits.astype(np.float32).astype(np.float64), np.rint(reached).astype(np.int64)
