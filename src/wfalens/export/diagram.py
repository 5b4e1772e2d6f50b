"""The drawing of a readable automaton: its states in a row by what the network says there, and the moves between them.

With the network, states stand and are named by its mean output while the automaton is in them; the automaton's own
read-out is often surer than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.moves import MoveTable, anatomy_and_names, moves, require_readable
from wfalens.explanation.opinion_line import Reading, class_order, read_texts
from wfalens.export.canvas import Box, Canvas, Circle, Point, Stroke, Text, fitted, wrapped
from wfalens.messages import percent, visible
from wfalens.models.contract import PrefixClassifier
from wfalens.results import Result
from wfalens.text.corpus import Corpus
from wfalens.text.vocabulary import UNKNOWN

MOST_EDGES = 16
MOST_CLASSES = 10
_CARRIED = 0.5  # share of a move that the words of its label carry
_LABEL_WORDS = 4
_CLUSTER_WORDS = 5
_EDGE, _WIDTH, _BOX = 60.0, 1600.0, 62.0  # margin, width, and height of a box
_ROW, _TYPE = 30.0, 18.0
_LOW, _RISE = 54.0, 27.0  # height of an arc between neighbours, and for each state more between


@dataclass(frozen=True)
class Edge:
    """A move between two states, with the words that carry most of it."""

    source: int
    target: int
    rate: float  # of the words read in the source
    share: float  # of all words
    words: tuple[str, ...]  # the fewest that carry half of it, if four are enough; else the first ones
    carried: float  # share of the move that these words carry

    @property
    def label(self) -> str:
        """The words that carry most of it; where many do, that is said."""
        words = " · ".join(map(visible, self.words)) or "unknown words"
        share = percent(self.carried)
        return f"{words} ({share})" if self.carried >= _CARRIED else f"many words ({share} by {words})"


@dataclass(frozen=True, eq=False, repr=False)
class Diagram(Result):
    """What is drawn of a readable automaton."""

    table: MoveTable
    outputs: NDArray[np.float64]  # (n, C): the network's mean output in each state, else the automaton's read-out
    changes: NDArray[np.float64] | None  # (G, C): the network's mean change by a word of each cluster while not sure
    edges: tuple[Edge, ...]
    frequent: tuple[tuple[str, ...], ...]  # of each cluster, the words that are read most often
    texts: int | None  # that the network read; None: without it

    @property
    def source(self) -> str:
        """Whose outputs are shown, in a sentence."""
        if self.texts is None:
            return "Percentages are the automaton's own read-out; with the network, they would be the network's output."
        return f"Percentages are the network's mean output while the automaton is there, over {self.texts:,} texts."

    @property
    def about(self) -> str:
        return (
            f"A readable automaton with {len(self.outputs)} states and {len(self.table.names.classes)} word clusters. "
            f"{self.source} ↻: share of the words read there that leave it there. Arcs above lead right, arcs below "
            "left; the wider, the more often taken. Listed: the words that carry most of each, with their share."
        )

    @cached_property
    def order(self) -> list[int]:
        """The states from left to right: of two classes by the probability of the second, else class by class."""
        if self.outputs.shape[1] == 2:
            return [int(at) for at in np.argsort(self.outputs[:, 1], kind="stable")]
        place = np.argsort(class_order(self.outputs))
        return [int(at) for at in np.lexsort((self.outputs.max(1), place[self.outputs.argmax(1)]))]

    def name(self, state: int) -> str:
        """What the network says in a state."""
        label = int(self.outputs[state].argmax())
        return f"{self.table.class_names[label]} {percent(float(self.outputs[state, label]))}"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "from": self.name(edge.source),
                "to": self.name(edge.target),
                "rate": edge.rate,
                "words": list(edge.words),
                "carried": edge.carried,
            }
            for edge in self.edges
        ]

    def clusters(self) -> list[dict[str, Any]]:
        """The word clusters, the most frequent first; with the network, how far their words push it."""
        order = sorted(range(len(self.table.names.classes)), key=lambda at: -self.table.names.classes[at].share)
        return [self._cluster(at) for at in order]

    def _cluster(self, at: int) -> dict[str, Any]:
        cluster = self.table.names.classes[at]
        row: dict[str, Any] = {"words": list(self.frequent[at]), "share": cluster.share, "size": cluster.size}
        if self.changes is not None:
            label = int(self.changes[at].argmax())
            row |= {"towards": self.table.class_names[label], "change": float(self.changes[at, label])}
        return row

    def to_dict(self) -> dict[str, Any]:
        states = [
            {"name": self.name(at), "output": self.outputs[at].tolist(), "stays": float(self.table.rates[at, at])}
            for at in self.order
        ]
        shown = {"states": states, "moves": self.rows(), "clusters": self.clusters()}
        return {**shown, "about": self.about, "remark": self.table.remark}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The moves, for people."""
        shown = [
            {
                "from": row["from"],
                "to": row["to"],
                "of words read there": percent(row["rate"]),
                "words that carry it, and their share": edge.label,
            }
            for row, edge in zip(self.rows(), self.edges, strict=True)
        ]
        return {self.about: shown}

    def summary(self) -> str:
        return self.about

    def draw(self) -> Canvas:
        """The states in a row, arcs with numbers, and below what each arc means."""
        return _drawn(self)


def diagram_of(
    wfa: WFA, model: PrefixClassifier | None = None, texts: Corpus | None = None, edges: int = MOST_EDGES
) -> Diagram:
    """The diagram of a readable automaton, or of the one that an automaton carries.

    Args:
        wfa: an automaton that is readable or carries a readable one.
        model: the network; states are then named by its outputs.
        texts: that the network reads for that.
        edges: moves at most, the most frequent first.
    """
    if len(wfa.class_names) > MOST_CLASSES:
        raise InputError(f"{len(wfa.class_names)} classes are too many to show on a page", code="too-many-classes")
    readable, table = require_readable(wfa).wfa, moves(wfa)
    read = None if model is None or texts is None else read_texts(model, texts)
    outputs, changes = (table.centres, None) if read is None else _measured(readable, read)
    chosen = [_edge(readable, table, source, target) for source, target in table.strongest()[:edges]]
    return Diagram(table, outputs, changes, tuple(chosen), _frequent(readable), None if read is None else len(read.ids))


def _frequent(wfa: StochasticWFA) -> tuple[tuple[str, ...], ...]:
    """The words of each cluster that are read most often, unknown ones among them."""
    anatomy, _ = anatomy_and_names(wfa)
    order, words = np.argsort(-anatomy.word_counts, kind="stable"), wfa.encoder.vocabulary.words
    order = order[anatomy.word_counts[order] > 0]
    clusters = range(len(anatomy.matrices))
    return tuple(
        tuple(words[at] for at in order[anatomy.word_class[order] == number][:_CLUSTER_WORDS]) for number in clusters
    )


def _measured(wfa: StochasticWFA, read: Reading) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The network's mean output in each state, and its mean change by a word of each cluster while it is not sure."""
    anatomy, _ = anatomy_and_names(wfa)
    places, after = wfa.state_vectors(read.ids, every=True), read.after.astype(np.float64)  # (words, n)
    total, start = places.sum(0) + wfa.initial * len(read.ids), read.before[read.ids.offsets[:-1]].sum(0)
    mean = (places.T @ after + np.outer(wfa.initial, start)) / np.maximum(1e-12, total)[:, None]
    cluster, change = anatomy.word_class[read.ids.values[read.unsure]], (after - read.before)[read.unsure]
    sums = np.zeros((len(anatomy.matrices), after.shape[1]))
    np.add.at(sums, cluster, change)
    means = sums / np.maximum(1, np.bincount(cluster, minlength=len(sums)))[:, None]
    return np.where(total[:, None] > 0.5, mean, wfa.centres), means


def _edge(wfa: StochasticWFA, table: MoveTable, source: int, target: int) -> Edge:
    """A move with the words that carry most of it: a word makes its cluster's moves in proportion to its count."""
    anatomy, _ = anatomy_and_names(wfa)
    counts = anatomy.word_counts.astype(np.float64)
    share = counts / np.maximum(1, np.bincount(anatomy.word_class, counts, len(anatomy.matrices)))[anatomy.word_class]
    flow = share * table.flows[anatomy.word_class, source, target]
    flow[: UNKNOWN + 1] = 0
    order = np.argsort(-flow, kind="stable")[:_LABEL_WORDS]
    total = max(1e-300, float(table.shares[source, target]))
    carried = np.cumsum(flow[order]) / total
    enough = min(int(np.searchsorted(carried, _CARRIED)) + 1, _LABEL_WORDS)
    words = tuple(wfa.encoder.vocabulary.words[at] for at in order[:enough] if flow[at] > 0)
    rate, of_all = float(table.rates[source, target]), float(table.shares[source, target])
    return Edge(source, target, rate, of_all, words, float(carried[len(words) - 1]) if words else 0.0)


def _drawn(diagram: Diagram) -> Canvas:
    order = diagram.order
    place = {state: at for at, state in enumerate(order)}
    spans = [place[edge.target] - place[edge.source] for edge in diagram.edges]
    above = max((span for span in spans if span > 0), default=1)
    below = max((-span for span in spans if span < 0), default=1)
    canvas = Canvas(_WIDTH, 0, diagram.about)
    y = 34.0
    for line in wrapped(diagram.about, _TYPE, _WIDTH - 2 * _EDGE, 3):
        canvas.add(Text((_EDGE, y), line, _TYPE, "soft"))
        y += 26
    slot = (_WIDTH - 2 * _EDGE) / len(order)
    middle = y + 40 + 0.75 * (_LOW + _RISE * above) + _BOX
    xs = [_EDGE + slot * (at + 0.5) for at in range(len(order))]
    marks: list[Any] = []
    for number, edge in enumerate(diagram.edges, 1):
        marks += _arc(canvas, diagram, edge, number, (xs[place[edge.source]], xs[place[edge.target]]), middle, slot)
    canvas.add(*marks)
    for x, state in zip(xs, order, strict=True):
        _state(canvas, diagram, state, (x, middle), slot)
    y = middle + 0.75 * (_LOW + _RISE * below) + _BOX + 40
    canvas.height = _listed(canvas, diagram, y)
    return canvas


def _arc(
    canvas: Canvas, diagram: Diagram, edge: Edge, number: int, ends: tuple[float, float], middle: float, slot: float
) -> Iterator[Circle | Text]:
    """An arc above for a move to the right, below for one to the left; arcs of one middle differ in height."""
    begin, finish = ends
    up = -1 if finish > begin else 1
    height = _LOW + _RISE * abs(round((finish - begin) / slot))
    base, inset = middle + up * _BOX / 2, 0.18 * slot * (1 if finish > begin else -1)
    (x0, x1), y = (begin + inset, finish - inset), base + up * height
    path: list[Point] = [(x0, base), (x0, y), (x1, y), (x1, base)]
    widest = max(each.share for each in diagram.edges)
    colour = f"class-{int(diagram.outputs[edge.target].argmax())}"
    tip = f"{percent(edge.rate)} of the words read there: {edge.label}"
    canvas.add(Stroke(path, colour, 1.5 + 9 * (edge.share / widest) ** 0.5, 0.7, head=13.0, tip=tip))
    badge = ((x0 + x1) / 2, base + up * 0.75 * height)
    yield Circle(badge, 14.0, "panel")
    yield Text((badge[0], badge[1] + 6), str(number), 17.0, "ink", True, anchor="middle")


def _state(canvas: Canvas, diagram: Diagram, state: int, at: Point, slot: float) -> None:
    (x, y), label = at, int(diagram.outputs[state].argmax())
    share, stays = float(diagram.outputs[state, label]), float(diagram.table.rates[state, state])
    wide = slot - 12
    tip = f"{diagram.name(state)}; {percent(stays)} of the words leave it there"
    strength = max(0.08, min(0.5, share - 1 / diagram.outputs.shape[1]))
    corner = (x - wide / 2, y - _BOX / 2)
    canvas.add(Box(corner, wide, _BOX, "panel", edge="soft"))
    canvas.add(Box(corner, wide, _BOX, f"class-{label}", strength, tip=tip))
    name = "start" if state == 0 else fitted(diagram.table.class_names[label], 16, wide - 6)
    canvas.add(Text((x, y - 10), name, 16, anchor="middle"))
    canvas.add(Text((x, y + 9), percent(share), 18, bold=True, anchor="middle"))
    canvas.add(Text((x, y + 27), f"↻ {percent(stays)}", 16, "soft", anchor="middle"))


def _listed(canvas: Canvas, diagram: Diagram, top: float) -> float:
    """What each numbered arc means, in two columns; returns where they end."""
    half = -(-len(diagram.edges) // 2)
    room = (_WIDTH - 2 * _EDGE) / 2 - 30
    for at, edge in enumerate(diagram.edges):
        x, y = _EDGE + (room + 60) * (at // half), top + _ROW * (at % half)
        text = f"{percent(edge.rate)} from {diagram.name(edge.source)}: {edge.label}"
        canvas.add(Text((x, y), f"{at + 1}", _TYPE, bold=True))
        canvas.add(Text((x + 34, y), fitted(text, _TYPE, room - 34), _TYPE))
    return top + _ROW * half + 10
