"""The automaton as a map: its states, the strongest flows between them, and what leads in and out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.naming import Anatomy
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.report.study import Study, short

_FLOWS, _FLOW_WORDS = 80, 5
_TYPICAL_WORDS, _TYPICAL_TEXTS = 12, 6
_LEAST_MASS = 0.05  # of a state, for a text to be typical of it
_FINER = 2  # so many times more groups from one level to the next
_REGIONS = 30
_DEALT_WORDS = 12  # of a word cluster, to which its steps are dealt out
WIDTH = 2.0  # of the map, from outputs that prefer no class to sure ones
_ROUNDS = 300
_PULL = 0.02  # back to the true point, in each round
_LARGEST, _SMALLEST = 0.11, 0.022  # radii
_LEAST_BAND, _GAP = 0.16, 0.05
_MANY, _EMPTY_BAND = 12, 0.03  # of so many classes those without a state have a narrow band


@dataclass(frozen=True, eq=False)
class Moves:
    """Steps between nodes, with how often each was made."""

    word: NDArray[np.int64]  # (moves,)
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateMap:
    """The nodes of the map. Those of a stochastic automaton are its states.

    A linear automaton has no states that stand for outputs: its nodes are regions, found by k-means of its outputs.
    """

    study: Study
    kind: str  # "states" or "regions"
    vectors: NDArray[np.float64]  # (nodes, n): the automaton's state vector that stands for each
    visits: NDArray[np.float64]  # (nodes,)
    moves: Moves
    totals: NDArray[np.float64]  # (nodes, nodes): how often each step was made; `moves` may leave out rare words
    sampled: Ragged[np.int32] | None  # texts that were traced
    membership: NDArray[np.float32] | None  # (tokens, nodes): where the automaton was after each of their words
    names: tuple[str | None, ...] | None = None  # of the nodes, where they have some
    group: NDArray[np.int64] | None = None  # of each node of the finest level, where these are groups of them

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """The output of each node; (nodes, classes)"""
        wfa = self.study.wfa
        return wfa.probabilities(wfa.read_out(self.vectors))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The classes from top to bottom; (C,)"""
        return class_order(self.centres, self.visits)

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.visits / max(1.0, float(self.visits.sum())))

    def word_moves(self, word: str) -> dict[str, Any]:
        """Where the word leads from each node: the likeliest class after it, and its probability."""
        wfa = self.study.wfa
        if word not in wfa.encoder.vocabulary and word.lower() in wfa.encoder.vocabulary:
            word = word.lower()
        number = wfa.encoder.vocabulary.id_of(word)
        after = wfa.advance(self.vectors, np.full(len(self.vectors), number, np.int32))
        outputs = wfa.probabilities(wfa.read_out(after))
        gap = np.abs(outputs - self.centres).sum(1) / 2
        return {
            "word": word,
            "known": word in wfa.encoder.vocabulary,
            "count": int(wfa.word_counts[number]),
            "to": [[int(row.argmax()), round(float(row.max()), 3)] for row in outputs],
            "change": short(gap, 3),  # total variation
            "mean_change": round(float(self.frequencies @ gap), 4),
        }

    def to_dict(self) -> dict[str, Any]:
        """Levels from a few groups of nodes to every node by itself."""
        return {
            "kind": self.kind,
            "class_names": list(self.study.wfa.class_names),
            "levels": [level.drawn(self.order) for level in self.levels],
            "texts": 0 if self.sampled is None else len(self.sampled),
        }

    @cached_property
    def levels(self) -> list[StateMap]:
        """Nodes of like outputs put together, fewer first; the last level is this map. The start stays alone."""
        first = int(self.kind == "states")
        free = len(self.vectors) - first
        sizes = [len(self.study.wfa.class_names) + 1]
        while sizes[-1] * _FINER**2 <= free:
            sizes.append(sizes[-1] * _FINER)
        if sizes[-1] >= free:
            return [self]
        from scipy.cluster.hierarchy import fcluster, linkage

        tree = linkage(self.centres[first:], "ward")
        groups = [np.concatenate([np.zeros(first, np.int64), fcluster(tree, k, "maxclust")]) for k in sizes]
        return [*(self.grouped(each) for each in groups), self]

    def grouped(self, group: NDArray[np.int64]) -> StateMap:
        """The map of groups of nodes; (nodes,) -> as many nodes as there are groups"""
        _, group = np.unique(group, return_inverse=True)
        share = np.zeros((len(group), group.max() + 1))
        share[np.arange(len(group)), group] = 1
        weight = share * np.maximum(self.visits, 1e-9)[:, None]
        moves = self.moves
        return StateMap(
            self.study,
            self.kind,
            (weight / weight.sum(0)).T @ self.vectors,
            self.visits @ share,
            Moves(moves.word, group[moves.source], group[moves.target], moves.weight),
            share.T @ self.totals @ share,
            self.sampled,
            None if self.membership is None else self.membership @ share.astype(np.float32),
            self._names_alone(group),
            group,
        )

    def _names_alone(self, group: NDArray[np.int64]) -> tuple[str | None, ...] | None:
        """The names of the nodes that are a group by themselves; (nodes,) -> one for each group"""
        if self.names is None:
            return None
        members = [np.flatnonzero(group == each) for each in range(group.max() + 1)]
        return tuple(self.names[each[0]] if len(each) == 1 else None for each in members)

    def drawn(self, order: NDArray[np.int64]) -> dict[str, Any]:
        """Nodes with their places, flows, and the bands of the classes in the given order."""
        sizes = radii(self.frequencies)
        points, bands = in_bands(self.centres, sizes, order)
        names = self.study.wfa.class_names
        return {
            "states": [
                {
                    "id": at,
                    "name": None if self.names is None else self.names[at],
                    "members": self._members(at),
                    "label": names[int(self.centres[at].argmax())],
                    "initial": self._initial(at),
                    "frequency": round(float(self.frequencies[at]), 5),
                    "visits": int(self.visits[at]),
                    "mix": short(self.centres[at]),
                    "x": round(float(points[at, 0]), 4),
                    "y": round(float(points[at, 1]), 4),
                    "r": round(float(sizes[at]), 4),
                    **self._typical(at),
                }
                for at in range(len(self.vectors))
            ],
            "flows": self._flows(),
            "bands": short(bands),
        }

    def _initial(self, node: int) -> bool:
        return self.kind == "states" and node == 0

    def _members(self, node: int) -> list[int]:
        """The nodes of the finest level that belong to a group."""
        return [node] if self.group is None else np.flatnonzero(self.group == node).tolist()

    def _flows(self) -> list[dict[str, Any]]:
        """The strongest flows between different nodes, with the words that carry them."""
        moves, number = self.moves, len(self.vectors)
        key = moves.source * number + moves.target
        total = self.totals.ravel().copy()
        total[:: number + 1] = 0  # staying is shown with the state
        flows = []
        for chosen in np.argsort(-total, kind="stable")[:_FLOWS]:
            if total[chosen] == 0:
                break
            members = np.flatnonzero(key == chosen)
            words, which = np.unique(moves.word[members], return_inverse=True)
            heaviest = words[np.argsort(-np.bincount(which, moves.weight[members]), kind="stable")][:_FLOW_WORDS]
            flows.append(
                {
                    "from": int(chosen // number),
                    "to": int(chosen % number),
                    "count": round(float(total[chosen])),
                    "words": [self._words[at] for at in heaviest],
                }
            )
        return flows

    def _typical(self, node: int) -> dict[str, Any]:
        moves, left = self.moves, self.totals[node].sum()
        entering, leaving = (moves.target == node) & (moves.source != node), moves.source == node
        stays = self.totals[node, node]
        return {
            "stays": round(float(stays / max(1e-9, left)), 4),
            "words_in": self._typical_words(entering, float(self.totals[:, node].sum() - stays)),
            "words_out": self._typical_words(leaving & (moves.target != node), float(left - stays)),
            "sentences": self._typical_texts(node),
        }

    def _typical_words(self, chosen: NDArray[np.bool_], total: float) -> list[list[Any]]:
        """Words of some moves, which were made so often in total, by count · log(lift), with counts: often there, and
        more often than elsewhere.
        """
        here = np.bincount(self.moves.word[chosen], self.moves.weight[chosen], len(self._word_totals))
        known = np.flatnonzero(here)
        lift = here[known] / total / (self._word_totals[known] / self.totals.sum())
        score = here[known] * np.log(lift)
        best = known[np.argsort(-score, kind="stable")[:_TYPICAL_WORDS]]
        return [[self._words[at], round(float(here[at]))] for at in best]

    @property
    def _words(self) -> tuple[str, ...]:
        return self.study.wfa.encoder.vocabulary.words

    @cached_property
    def _word_totals(self) -> NDArray[np.float64]:
        return np.bincount(self.moves.word, self.moves.weight, len(self._words)).astype(np.float64)

    def _typical_texts(self, node: int) -> list[dict[str, Any]]:
        """Texts that bring the automaton nearest to the node, and after how many words."""
        if self.sampled is None or self.membership is None:
            return []
        if self._initial(node):
            return [self._shown_text(text, 0, 1.0) for text in range(min(_TYPICAL_TEXTS, len(self.sampled)))]
        column = self.membership[:, node]
        found: list[dict[str, Any]] = []
        used: set[int] = set()
        for token in np.argsort(-column, kind="stable")[: 20 * _TYPICAL_TEXTS]:
            text = int(np.searchsorted(self.sampled.offsets, token, side="right")) - 1
            if column[token] < _LEAST_MASS or len(found) == _TYPICAL_TEXTS:
                break
            if text not in used:
                used.add(text)
                found.append(self._shown_text(text, int(token - self.sampled.offsets[text]) + 1, float(column[token])))
        return found

    def _shown_text(self, text: int, after: int, share: float) -> dict[str, Any]:
        words = self.study.wfa.encoder.tokens(self.study.texts.texts[self.study.sample[text]])
        return {"words": words[:40], "after": after, "share": round(share, 3)}


def state_map(study: Study) -> StateMap:
    """The map of any automaton; a linear one needs texts for it."""
    if isinstance(study.wfa, StochasticWFA):
        return _of_states(study, study.wfa)
    if isinstance(study.wfa, LinearWFA):
        return _of_regions(study, study.wfa)
    raise InputError(f"there is no map of an automaton of kind {study.wfa.kind}")


def _of_states(study: Study, wfa: StochasticWFA) -> StateMap:
    moves, totals = _observed(wfa) if wfa.anatomy is None else _by_cluster(wfa.anatomy)
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


def _by_cluster(anatomy: Anatomy) -> tuple[Moves, NDArray[np.float64]]:
    """Where words share rows: what each cluster does, dealt out to its commonest words by their counts."""
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
        raise InputError(
            "a linear automaton has no states that stand for outputs; its map needs texts", code="no-texts"
        )
    sampled = study.encoded.take(study.sample)
    if len(sampled.values) == 0:
        raise InputError("the texts have no words; a map of a linear automaton needs some", code="no-words")
    vectors = wfa.state_vectors(sampled, every=True)
    outputs = wfa.probabilities(wfa.read_out(vectors))
    regions = min(_REGIONS, len(np.unique(outputs.round(6), axis=0)))
    labels = KMeans(regions, n_init=1, random_state=study.seed).fit_predict(outputs)
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


def class_order(outputs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """The classes from top to bottom, so that those that mix stand beside each other; (N, C), (N,) -> (C,)"""
    classes = outputs.shape[1]
    if classes < 3:
        return np.arange(classes)
    together = (outputs * np.maximum(weights, 1e-12)[:, None]).T @ outputs
    alone = np.sqrt(np.maximum(np.diag(together), np.finfo(float).tiny))
    apart = np.maximum(0, 1 - together / np.outer(alone, alone))
    np.fill_diagonal(apart, 0)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return np.asarray(leaves_list(tree), np.int64)


def sureness(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the likeliest class is above chance, from 0 to 1; (N, C) -> (N,)"""
    chance = 1 / outputs.shape[1]
    return np.asarray((outputs.max(1) - chance) / (1 - chance))


def in_bands(
    outputs: NDArray[np.float64], sizes: NDArray[np.float64], order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Circles in the bands of their likeliest classes; the bands as (top, height) of each class.

    outputs: (n, C), sizes: (n,), order: (C,) -> (n, 2), (C, 2); downwards is positive
    """
    says, x = outputs.argmax(1), WIDTH * sureness(outputs)
    points, bands, top = np.empty((len(outputs), 2)), np.empty((outputs.shape[1], 2)), 0.0
    for label in order:
        members = np.flatnonzero(says == label)
        placed = spread(np.column_stack([x[members], np.zeros(len(members))]), sizes[members])
        reach = np.abs(placed[:, 1]) + sizes[members]
        least = _EMPTY_BAND if outputs.shape[1] > _MANY and len(members) == 0 else _LEAST_BAND
        height = max(least, 2 * float(reach.max()) + _GAP) if len(members) else least
        points[members] = placed + np.array([0, top + height / 2])
        bands[label] = top, height
        top += height
    return points, bands


def radii(frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Areas follow frequencies, but no circle is too small to see; (n,) -> (n,)"""
    share = frequencies / max(float(frequencies.max()), np.finfo(float).tiny)
    return np.asarray(np.maximum(_SMALLEST, _LARGEST * np.sqrt(share)))


def spread(points: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Force-directed layout: circles near their points that overlap as little as possible; (n, 2), (n,) -> (n, 2)"""
    angle = np.arange(len(points)) * 2.399963  # the golden angle: equal points move apart in all directions
    moved = points + 1e-3 * np.column_stack([np.cos(angle), np.sin(angle)])
    needed = (sizes[:, None] + sizes) * 1.04
    np.fill_diagonal(needed, 0)
    for _ in range(_ROUNDS):
        gap = moved[:, None] - moved
        distance = np.maximum(np.linalg.norm(gap, axis=2), 1e-9)
        push = np.maximum(needed - distance, 0) / distance / 2
        moved += 0.5 * (gap * push[:, :, None]).sum(1) + _PULL * (points - moved)
    return moved
