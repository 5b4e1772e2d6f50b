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
from wfalens.inspection.layout import class_corners, radii, spread
from wfalens.inspection.study import Study, short
from wfalens.ragged import Ragged

_FLOWS, _FLOW_WORDS = 80, 5
_TYPICAL_WORDS, _TYPICAL_TEXTS = 12, 6
_REGIONS = 30
_LEAST_MASS = 0.05  # of a state, for a text to be typical of it


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
    names: tuple[str, ...] | None = None  # of the nodes, where they have some

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """The output of each node; (nodes, classes)"""
        wfa = self.study.wfa
        return wfa.probabilities(wfa.read_out(self.vectors))

    @cached_property
    def corners(self) -> NDArray[np.float64]:
        return class_corners(self.centres, self.visits)

    @cached_property
    def frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.visits / max(1.0, float(self.visits.sum())))

    def project(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The points of outputs on the map; (N, classes) -> (N, 2)"""
        return np.asarray(outputs @ self.corners)

    def word_moves(self, word: str) -> dict[str, Any]:
        """Where the word leads from each node: the output after it, and its point on the map."""
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
            "to": short(self.project(outputs), 3),
            "change": short(gap, 3),  # total variation
            "mean_change": round(float(self.frequencies @ gap), 4),
        }

    def to_json(self) -> dict[str, Any]:
        sizes = radii(self.frequencies)
        points = spread(self.project(self.centres), sizes)
        names = self.study.wfa.class_names
        return {
            "kind": self.kind,
            "class_names": list(names),
            "corners": short(self.corners),
            "states": [
                {
                    "id": at,
                    "name": None if self.names is None else self.names[at],
                    "label": names[int(self.centres[at].argmax())],
                    "initial": self.kind == "states" and at == 0,
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
            "texts": 0 if self.sampled is None else len(self.sampled),
        }

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
            heaviest = members[np.argsort(-moves.weight[members], kind="stable")][:_FLOW_WORDS]
            flows.append(
                {
                    "from": int(chosen // number),
                    "to": int(chosen % number),
                    "count": round(float(total[chosen])),
                    "words": [self._words[at] for at in moves.word[heaviest]],
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
        column = self.membership[:, node]
        found: list[dict[str, Any]] = []
        used: set[int] = set()
        for token in np.argsort(-column, kind="stable")[: 20 * _TYPICAL_TEXTS]:
            text = int(np.searchsorted(self.sampled.offsets, token, side="right")) - 1
            if column[token] < _LEAST_MASS or len(found) == _TYPICAL_TEXTS:
                break
            if text not in used:
                used.add(text)
                words = self.study.wfa.encoder.tokens(self.study.texts.texts[self.study.sample[text]])
                after = int(token - self.sampled.offsets[text]) + 1
                found.append({"words": words[:40], "after": after, "share": round(float(column[token]), 3)})
        return found


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
        common = np.argsort(-counts, kind="stable")[:_TYPICAL_WORDS]
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
