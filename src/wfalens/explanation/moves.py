"""The from → to table of a readable automaton: how often a word leads from one state to another, and which words do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy, Names
from wfalens.automaton.serving import Serving, readable_of
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.html import table_html
from wfalens.messages import percent, sentence

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("from", "to", "of words", "carried by")
CLASS_COLUMNS = ("typical words", "what they do", "moves", "words", "of all words")
LONGEST_NAME, LONGEST_WORD = 60, 24  # characters shown of a state's or class's name, and of a word
_CARRIERS, _CARRIERS_SHOWN = 3, 2
_LEAST_SHOWN = 0.01  # of the words read in a state: rarer moves are left out of a shown table


@dataclass(frozen=True, eq=False)
class Carrier:
    """A class of words that makes a move more often than its frequency would have it."""

    word_class: int
    share: float  # of the move


@dataclass(frozen=True, eq=False)
class MoveTable:
    """What words do between states, as shares of all words of the extraction texts."""

    names: Names
    class_names: tuple[str, ...]
    centres: NDArray[np.float64]  # (n, C)
    flows: NDArray[np.float64]  # (G, n, n): share of all words that are of a class and lead from a state to another
    remark: str | None = None  # whose table it is, where that is the attached readable automaton

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Of all words, those that lead from a state to another; (n, n)"""
        return np.asarray(self.flows.sum(0))

    @cached_property
    def read(self) -> NDArray[np.float64]:
        """Share of all words that are read in each state; (n,)"""
        return np.asarray(self.shares.sum(1))

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Of the words read in a state, those that lead to another; a row sums to 1, or 0 if no word is read; (n, n)"""
        return np.asarray(self.shares / np.maximum(1e-300, self.read)[:, None])

    def carriers(self, source: int, target: int, most: int = _CARRIERS) -> list[Carrier]:
        """The classes that bring more of a move than their share of the words read there, the most of it first."""
        move = self.flows[:, source, target]
        expected = self.flows[:, source].sum(1) * self.rates[source, target]
        excess = move - expected
        first = np.argsort(-excess, kind="stable")[:most]
        total = max(1e-300, float(move.sum()))
        return [Carrier(int(each), float(move[each] / total)) for each in first if excess[each] > 1e-12 * total]

    def strongest(self) -> list[tuple[int, int]]:
        """All moves between different states that ever happen, the most frequent first."""
        moved = self.shares * (1 - np.eye(len(self.shares)))
        order = np.argsort(-moved, axis=None, kind="stable")
        return [divmod(int(at), len(moved)) for at in order if moved.flat[at] > 0]

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([{**row, "carried by": _told(row["carried by"])} for row in self._rows()])

    def to_json(self) -> dict[str, Any]:
        """States, classes of words, and every move that happens."""
        return {
            "states": [
                {"name": name, "output": dict(zip(self.class_names, map(float, row), strict=True)), "read": float(read)}
                for name, row, read in zip(self.names.states, self.centres, self.read, strict=True)
            ],
            "word_classes": [
                {
                    "name": each.name,
                    "words": list(each.words),
                    "effect": each.effect,
                    "size": each.size,
                    "share": each.share,
                    "moved": each.moved,
                    "change": dict(zip(self.class_names, map(float, each.change), strict=True)),
                }
                for each in self.names.classes
            ],
            "moves": self._rows(),
            "remark": self.remark,
        }

    def shown(self, least: float = _LEAST_SHOWN) -> list[list[str]]:
        """Cells for a table, see `COLUMNS`: shares are of the words read in a state; rare moves are left out."""
        rows, n = [], len(self.names.states)
        for source in range(n):
            for target in np.argsort(-self.rates[source], kind="stable"):
                if self.rates[source, target] < least:
                    break
                same = source == int(target)
                rows.append(
                    [
                        shown_name(self.names.states[source]),
                        "(stays)" if same else shown_name(self.names.states[int(target)]),
                        percent(float(self.rates[source, target])),
                        "" if same else self._carried(source, int(target)),
                    ]
                )
        return rows

    def shown_classes(self) -> list[list[str]]:
        """Cells for a table of the classes of words, see `CLASS_COLUMNS`."""
        return [
            [
                shown_words(each.words, 5),
                sentence(each.effect, LONGEST_NAME),
                percent(each.moved),
                f"{each.size:,}",
                percent(each.share, 1),
            ]
            for each in self.names.classes
        ]

    def to_html(self) -> str:
        title = f"Moves between {len(self.names.states)} states: what a word does, in shares of the words read"
        title += "" if self.remark is None else f" ({self.remark})"
        kinds = table_html("Kinds of words", CLASS_COLUMNS, self.shown_classes())
        return table_html(title, COLUMNS, self.shown()) + kinds

    def _repr_html_(self) -> str:
        return self.to_html()

    def _rows(self) -> list[dict[str, Any]]:
        n, states, classes = len(self.names.states), self.names.states, self.names.classes
        return [
            {
                "from": states[source],
                "to": states[target],
                "of words read there": float(self.rates[source, target]),
                "of all words": float(self.shares[source, target]),
                "carried by": [
                    {"word_class": classes[each.word_class].name, "share": each.share}
                    for each in self.carriers(source, target)
                ],
            }
            for source in range(n)
            for target in range(n)
            if self.shares[source, target] > 0
        ]

    def _carried(self, source: int, target: int) -> str:
        return "; ".join(
            shown_words(self.names.classes[each.word_class].words)
            for each in self.carriers(source, target, _CARRIERS_SHOWN)
        )


def moves(wfa: WFA) -> MoveTable:
    """The moves of a readable automaton, or of the readable one that an automaton carries.

    Args:
        wfa: a readable automaton, or one that carries a readable automaton.

    Examples:
        >>> from wfalens.explanation import moves
        >>> bool(np.isclose(moves(readable).shares.sum(), 1))  # shares of all words
        True
    """
    told = teller_of(wfa)
    anatomy, names = anatomy_and_names(told.wfa)
    shares = anatomy.flows / max(1e-300, float(anatomy.flows.sum()))
    return MoveTable(names, wfa.class_names, anatomy.centres, shares, told.remark)


def teller_of(wfa: WFA) -> Serving:
    """Who tells the story of an automaton; one whom nobody can tell is refused, with the way to get a readable one."""
    told = readable_of(wfa)
    if told is None:
        raise InputError(
            f"this automaton has {wfa.states} states and rows for single words, too much to read on a page; "
            "`wfalens extract MODEL` makes one that carries a readable automaton, `--kind readable` makes that alone"
        )
    return told


def anatomy_and_names(wfa: StochasticWFA) -> tuple[Anatomy, Names]:
    """Of an automaton whose words share rows."""
    if wfa.anatomy is None or wfa.names is None or not wfa.anatomy.visits.any():
        raise InputError("the automaton does not say how often its classes of words were read; extract it again")
    return wfa.anatomy, wfa.names


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one printable line."""
    return sentence(name, longest)


def shown_words(words: tuple[str, ...], most: int = 3) -> str:
    """Some words of a class, each cut to a readable length; blanks, which runs of characters may have, are in sight."""
    return ", ".join(sentence(word.replace(" ", "␣"), LONGEST_WORD) for word in words[:most]) or "unknown words"


def _told(carriers: list[dict[str, Any]]) -> str:
    return "; ".join(f"{each['word_class']} ({percent(each['share'])})" for each in carriers)
