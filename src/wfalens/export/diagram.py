"""What is drawn of a readable automaton: states from the start to the surest, and the moves that matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import HARDLY, LEANING, LEANING_OF_TWO, SURE, WordClass
from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.explanation.moves import MoveTable, moves, require_readable, shown_name, shown_words
from wfalens.messages import percent, sentence
from wfalens.palette import GREY, class_colour, mixed
from wfalens.results import Result
from wfalens.validation import Bounds, check_numbers, real, whole

MOST_EDGES, ENOUGH = 40, 0.9  # arrows at most, and the share of the moves that they should carry
_WHITE = "#ffffff"
_CERTAIN = 0.97
_PALEST, _FULLEST = 0.1, 0.5  # how much of a class's colour a box has
_LONGEST_LABEL, _LONGEST_CLASS = 44, 20  # characters in a box
_LONGEST_EFFECT = 60
_LEAST_SHARE = 0.1  # of a move, that a word cluster must make up to stand for it


@dataclass(frozen=True)
class Edge:
    """A move that is drawn."""

    source: int
    target: int
    share: float  # of all words
    rate: float  # of the words read in the source
    words: str  # of the class that makes it most beyond its share, among those that matter where one does


class LegendRow(NamedTuple):
    """A word cluster in the legend."""

    words: str
    effect: str
    moved: str
    share: str
    colour: str


LEGEND_TITLES = ("word clusters", "what they do", "moves", "of all words")


@dataclass(frozen=True, eq=False, repr=False)
class Diagram(Result):
    """The drawing of an automaton, but for where things stand on the page."""

    table: MoveTable
    most_edges: int = MOST_EDGES
    enough: float = ENOUGH
    about: str = ""  # what the caption begins with

    def __post_init__(self) -> None:
        check_numbers(self, {"most_edges": Bounds(whole, 1, 10_000), "enough": Bounds(real, 0, 1)})

    @cached_property
    def edges(self) -> list[Edge]:
        """As few of the most frequent moves as carry enough of all moves, and not more than may be drawn."""
        chosen, carried = [], 0.0
        for source, target in self.table.strongest()[: self.most_edges]:
            if carried >= self.enough * self._moved:
                break
            chosen.append(self.edge(source, target))
            carried += chosen[-1].share
        return chosen

    @property
    def carried(self) -> float:
        """Share of all moves between different states that is drawn; 1 where there are none."""
        return sum(edge.share for edge in self.edges) / self._moved if self._moved > 0 else 1.0

    @property
    def caption(self) -> str:
        every, drawn = len(self.table.strongest()), len(self.edges)
        short = "" if self.carried >= self.enough else f" ({self.most_edges} at most are drawn)"
        return self.about + (
            "How to read it: a box is a state; every word that is read leads to another state, or it stays. "
            f"{percent(1 - self._moved)} of all words stay (see the boxes). "
            f"Of the others, {percent(self.carried)} go along one of the {drawn} arrows drawn, "
            f"of {every} that occur{short}. "
            "The wider an arrow, the more often it is taken; it has the colour of the class that it leads to, "
            "and is dashed where it leads back to a less sure state. Its label: how many of the words read at its "
            "beginning take it, and the word cluster that stands out among them. Below: how much of the "
            "probability a word of each cluster moves on average, in states where words still matter."
        )

    def rows(self) -> list[dict[str, Any]]:
        names = self.table.names.states
        return [
            {"from": names[edge.source], "to": names[edge.target], "rate": edge.rate, "words": edge.words}
            for edge in self.edges
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "edges": len(self.edges),
            "share": self.carried,
            "caption": self.caption,
            "remark": self.table.remark,
        }

    def summary(self) -> str:
        return f"diagram of {len(self.table.names.states)} states and {len(self.edges)} arrows"

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """From left to right: the start, then states by how sure they are; no arrow within a column; (n,)"""
        surest, level = self.table.centres.max(1), self.levels
        joined = {frozenset((edge.source, edge.target)) for edge in self.edges}
        part = np.zeros(len(level), np.int64)  # of a level
        order = np.lexsort((surest, level))
        for at, state in enumerate(order):
            before = [other for other in order[:at] if level[other] == level[state]]
            part[state] = max((part[other] + 1 for other in before if frozenset((other, state)) in joined), default=0)
        _, columns = np.unique(level * len(level) + part, return_inverse=True)
        return np.asarray(columns, np.int64)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """How sure states are: 0 the start, 1 undecided, 2 leaning, 3 sure, 4 certain; (n,)"""
        surest = self.table.centres.max(1)
        level = np.select([self.undecided, surest < SURE, surest < _CERTAIN], [1, 2, 3], 4)
        level[0] = 0
        return np.asarray(level, np.int64)

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """States that lean to no class; (n,)"""
        centres = self.table.centres
        return np.asarray(centres.max(1) < (LEANING_OF_TWO if centres.shape[1] == 2 else LEANING))

    def colour(self, state: int) -> str:
        """Of the class that a state says."""
        return GREY if self.undecided[state] else class_colour(int(self.table.centres[state].argmax()))

    def tint(self, state: int) -> str:
        """The same for its box, the paler the less sure it is."""
        if self.undecided[state]:
            return _WHITE
        sureness = float(self.table.centres[state].max() - LEANING) / (1 - LEANING)
        return mixed(self.colour(state), _PALEST + (_FULLEST - _PALEST) * sureness)

    def box(self, state: int) -> list[str]:
        """The lines in a state's box: its name, what it says, and how often it stays."""
        table = self.table
        lines = [shown_name(table.names.states[state], _LONGEST_LABEL), self._says(table.centres[state])]
        if state == 0 and table.rates[0, 0] == 0:
            return [*lines, "before the first word"]
        return [*lines, f"stays here on {percent(table.rates[state, state])} of words"]

    def legend(self) -> list[LegendRow]:
        """The word clusters, grouped by what they do."""
        classes = self.table.names.classes
        order = sorted(range(len(classes)), key=lambda at: _place(classes[at]))
        return [
            LegendRow(
                shown_words(classes[at].words, 5),
                sentence(classes[at].effect, _LONGEST_EFFECT),
                percent(classes[at].moved),
                percent(classes[at].share, 1),
                self._cluster_colour(classes[at]),
            )
            for at in order
        ]

    @cached_property
    def _moved(self) -> float:
        return float(self.table.shares.sum() - np.trace(self.table.shares))

    def edge(self, source: int, target: int) -> Edge:
        """A move with the words that stand for it."""
        table = self.table
        clusters, carriers = table.names.classes, table.carriers(source, target, len(table.names.classes))
        strong = [each for each in carriers if clusters[each.word_class].moved >= HARDLY and each.share >= _LEAST_SHARE]
        words = shown_words(clusters[(strong or carriers)[0].word_class].words) if carriers else "any word"
        return Edge(source, target, float(table.shares[source, target]), float(table.rates[source, target]), words)

    def _says(self, output: NDArray[np.float64]) -> str:
        first, second = np.argsort(-output, kind="stable")[:2]
        classes = [
            f"{shown_name(self.table.class_names[each], _LONGEST_CLASS)} {percent(float(output[each]))}"
            for each in (first, second)
        ]
        return classes[0] if output[first] >= SURE else ", ".join(classes)

    def _cluster_colour(self, cluster: WordClass) -> str:
        towards = cluster.moved >= HARDLY and cluster.effect.startswith("turns towards ")
        return class_colour(int(cluster.change.argmax())) if towards else GREY


def diagram_of(wfa: WFA, most_edges: int = MOST_EDGES, enough: float = ENOUGH) -> Diagram:
    """What is drawn of a readable automaton: as few arrows as carry enough of the moves.

    The caption begins with its size and how faithful it was on texts held out from fitting, if that was recorded.
    """
    table, drawn = moves(wfa), require_readable(wfa).wfa
    size = f"An automaton with {drawn.states} states and {len(table.names.classes)} word clusters. "
    found = recorded(drawn.provenance)
    faithful = (
        f"It gives the network's class to {percent(found.cr, 1)} of {found.texts:,} held-out texts. " if found else ""
    )
    return Diagram(table, most_edges, enough, size + faithful)


def rows_by_class(centres: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """A row for each state, by its class, at least one apart within a column; (n, C), (n,) -> (n,)"""
    says = centres.argmax(1)
    columns_of = [columns[says == label] for label in range(centres.shape[1])]
    tallest = np.array([np.bincount(each).max() if len(each) else 1 for each in columns_of])  # of a class's columns
    bands = np.cumsum(tallest) - tallest / 2
    ideal = centres @ bands  # an undecided state stands between its classes
    rows = np.empty(len(centres))
    for column in np.unique(columns):
        members = np.flatnonzero(columns == column)
        members = members[np.argsort(ideal[members], kind="stable")]
        steps = np.arange(len(members))
        packed = np.maximum.accumulate(ideal[members] - steps) + steps  # at least a row apart
        rows[members] = packed - (packed - ideal[members]).mean()
    return rows


def self_contained(svg: bytes) -> bytes:
    """A drawing without its document type, which names an address."""
    return re.sub(rb"<!DOCTYPE[^>]*>\s*", b"", svg, count=1)


def _place(cluster: WordClass) -> tuple[bool, bool, int, float]:
    """Words that turn towards a class first, class by class; those that hardly matter last."""
    towards = cluster.effect.startswith("turns towards ")
    return cluster.moved < HARDLY, not towards, int(cluster.change.argmax()) if towards else 0, -cluster.moved
