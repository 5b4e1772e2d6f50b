"""From an automaton to its map: states and the steps that were counted, or regions of outputs and steps on texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.naming import Anatomy
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.report.study import Study
from wfalens.report.views.statemap import Moves, StateMap

_REGIONS = 30
_DEALT_WORDS = 12  # of a class of words, to which its steps are dealt out


def state_map(study: Study) -> StateMap:
    """The map of any automaton; a linear one needs texts for it."""
    if isinstance(study.wfa, StochasticWFA):
        return _of_states(study, study.wfa)
    if isinstance(study.wfa, LinearWFA):
        return _of_regions(study, study.wfa)
    raise InputError(f"there is no map of an automaton of kind {study.wfa.kind}")


def _of_states(study: Study, wfa: StochasticWFA) -> StateMap:
    moves, totals = _observed(wfa) if wfa.anatomy is None else _by_class(wfa.anatomy)
    sampled = None if study.corpus is None else study.encoded.take(study.sample)
    membership = None if sampled is None else wfa.state_vectors(sampled, every=True).astype(np.float32)
    visits, names = wfa.state_visits.astype(np.float64), None if wfa.names is None else wfa.names.states
    return StateMap(study, "states", np.eye(wfa.states), visits, moves, totals, sampled, membership, names)


def _observed(wfa: StochasticWFA) -> tuple[Moves, NDArray[np.float64]]:
    """Every step that was counted."""
    rows = wfa.rows
    moves = Moves(
        np.repeat(np.arange(len(rows.entry_start) - 1), np.diff(rows.entry_start)),
        rows.source.astype(np.int64),
        rows.target.astype(np.int64),
        rows.weight.astype(np.float64),
    )
    return moves, _totals(moves, wfa.states)


def _by_class(anatomy: Anatomy) -> tuple[Moves, NDArray[np.float64]]:
    """Where words share rows: what each class does, dealt out to its commonest words by their counts."""
    flows = anatomy.flows
    parts = []
    for number, flow in enumerate(flows):
        members = np.flatnonzero(anatomy.word_class == number)
        counts = anatomy.word_counts[members]
        common = np.argsort(-counts, kind="stable")[:_DEALT_WORDS]
        common = common[counts[common] > 0]
        source, target = np.nonzero(flow)
        share = counts[common] / max(1, counts.sum())
        parts.append(
            (
                np.repeat(members[common], len(source)),
                np.tile(source, len(common)),
                np.tile(target, len(common)),
                np.outer(share, flow[source, target]).ravel(),
            )
        )
    word, source, target, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Moves(word, source, target, weight), np.asarray(flows.sum(0))


def _totals(moves: Moves, nodes: int) -> NDArray[np.float64]:
    # -> (nodes, nodes)
    keys = moves.source * nodes + moves.target
    return np.bincount(keys, moves.weight, nodes * nodes).astype(np.float64).reshape(nodes, nodes)


def _of_regions(study: Study, wfa: WFA) -> StateMap:
    from sklearn.cluster import KMeans

    if study.corpus is None:
        raise InputError("a linear automaton has no states that stand for outputs; its map needs texts (--corpus)")
    sampled = study.encoded.take(study.sample)
    if len(sampled.values) == 0:
        raise InputError("the texts have no words; a map of a linear automaton needs some")
    vectors = wfa.state_vectors(sampled, every=True)
    outputs = wfa.probabilities(wfa.read_out(vectors))
    wanted = min(_REGIONS, len(np.unique(outputs.round(6), axis=0)))
    labels = KMeans(wanted, n_init=1, random_state=study.seed).fit_predict(outputs)
    kept, found = np.unique(labels, return_inverse=True)  # k-means may leave a group empty
    regions = len(kept)
    sums = np.zeros((regions, wfa.states))
    np.add.at(sums, found, vectors)
    visits = np.bincount(found, minlength=regions).astype(np.float64)
    inner = np.ones(len(found), bool)
    inner[sampled.offsets[:-1]] = False  # the first word of a text comes from no region
    later = np.flatnonzero(inner)
    moves = Moves(sampled.values[later].astype(np.int64), found[later - 1], found[later], np.ones(len(later)))
    distance = np.abs(outputs[:, None] - _means(outputs, found, regions)).sum(2)
    membership = np.where(np.eye(regions, dtype=bool)[found], 1 - distance / 2, 0).astype(np.float32)
    totals = _totals(moves, regions)
    return StateMap(study, "regions", sums / visits[:, None], visits, moves, totals, sampled, membership)


def _means(values: NDArray[np.float64], group: NDArray[np.int64], groups: int) -> NDArray[np.float64]:
    sums = np.zeros((groups, values.shape[1]))
    np.add.at(sums, group, values)
    return np.asarray(sums / np.bincount(group, minlength=groups)[:, None])
