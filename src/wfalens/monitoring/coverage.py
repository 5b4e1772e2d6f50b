"""Which states and transitions of an automaton a set of texts exercises, against the extraction texts.

A transition is a class of words read in a state; a pair is a transition and the one that follows it. Texts are followed
by their likeliest states. What the extraction texts visited is known from the automaton: a transition counts as *there*
if they read it at least once, and a pair if they can be expected to have read it at least once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy, Names
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA, Texts
from wfalens.errors import InputError
from wfalens.explanation.moves import anatomy_and_names, shown_name, shown_words
from wfalens.html import table_html
from wfalens.messages import percent
from wfalens.monitoring.walks import Walks, reader_of

if TYPE_CHECKING:
    import pandas as pd

_READ = 1.0  # times that the extraction texts read what counts as there
COLUMNS = ("", "there", "exercised", "share")
MISSING_COLUMNS = ("state", "class of words", "read in extraction")


@dataclass(frozen=True)
class Share:
    """How much of what is there a set of texts exercises."""

    there: int
    exercised: int

    @property
    def value(self) -> float:
        return self.exercised / max(1, self.there)


@dataclass(frozen=True, eq=False)
class Coverage:
    """What a set of texts exercises of an automaton."""

    wfa: StochasticWFA
    texts: int
    state_visits: NDArray[np.int64]  # (n,)
    transition_visits: NDArray[np.int64]  # (G, n)
    pair_visits: NDArray[np.int64]  # (G·n, G·n)
    remark: str | None = None

    @property
    def names(self) -> Names:
        return anatomy_and_names(self.wfa)[1]

    @property
    def states(self) -> Share:
        there = np.asarray(self.wfa.state_visits) >= _READ
        return Share(int(there.sum()), int((there & (self.state_visits > 0)).sum()))

    @property
    def transitions(self) -> Share:
        there = _anatomy(self.wfa).visits >= _READ
        return Share(int(there.sum()), int((there & (self.transition_visits > 0)).sum()))

    @cached_property
    def pairs(self) -> Share:
        there = expected_pairs(_anatomy(self.wfa)) >= _READ
        return Share(int(there.sum()), int((there & (self.pair_visits > 0)).sum()))

    @cached_property
    def missing(self) -> list[tuple[int, int]]:
        """Transitions (class, state) that are there and not exercised, the most frequent in extraction first."""
        visits = _anatomy(self.wfa).visits
        open_ones = np.where((visits >= _READ) & (self.transition_visits == 0), visits, 0)
        order = np.argsort(-open_ones, axis=None, kind="stable")
        width = visits.shape[1]
        return [divmod(int(at), width) for at in order if open_ones.flat[at] > 0]

    def rows(self) -> list[list[str]]:
        """Cells for a table, see `COLUMNS`."""
        named = (("states", self.states), ("transitions", self.transitions), ("pairs of transitions", self.pairs))
        return [[name, f"{each.there:,}", f"{each.exercised:,}", percent(each.value, 1)] for name, each in named]

    def missing_rows(self, top: int) -> list[list[str]]:
        """Cells for a table, see `MISSING_COLUMNS`."""
        visits = _anatomy(self.wfa).visits
        return [
            [
                shown_name(self.names.states[state]),
                shown_words(self.names.classes[group].words, 5),
                f"{visits[group, state]:,.0f}",
            ]
            for group, state in self.missing[:top]
        ]

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        shares = {"states": self.states, "transitions": self.transitions, "pairs": self.pairs}
        visits = _anatomy(self.wfa).visits
        return {
            "texts": self.texts,
            **{
                name: {"there": each.there, "exercised": each.exercised, "share": each.value}
                for name, each in shares.items()
            },
            "missing": [
                {
                    "state": self.names.states[state],
                    "word_class": self.names.classes[group].name,
                    "read_in_extraction": float(visits[group, state]),
                }
                for group, state in self.missing[:top]
            ],
            "remark": self.remark,
        }

    def to_dataframe(self) -> pd.DataFrame:
        """One row per transition that is there."""
        import pandas as pd

        visits = _anatomy(self.wfa).visits
        return pd.DataFrame(
            [
                {
                    "state": self.names.states[state],
                    "word_class": self.names.classes[group].name,
                    "extraction": visits[group, state],
                    "texts": self.transition_visits[group, state],
                }
                for group, state in np.argwhere(visits >= _READ)
            ]
        )

    def to_html(self, top: int = 20) -> str:
        head = table_html(f"What {self.texts:,} texts exercise", COLUMNS, self.rows())
        return head + table_html("Not exercised", MISSING_COLUMNS, self.missing_rows(top))

    def _repr_html_(self) -> str:
        return self.to_html()


def cover(wfa: WFA, texts: Texts) -> Coverage:
    """What texts exercise of a readable automaton, or of the readable one that an automaton carries."""
    from wfalens.explanation.moves import require_readable

    readable = reader_of(wfa)
    _, ids = wfa.ids(texts).nonempty()
    if len(ids) == 0:
        raise InputError("there is no text with a word in it")
    walks = Walks.of(readable, ids)
    groups, n = _anatomy(readable).visits.shape
    codes = walks.classes * n + walks.states
    follows = np.ones(len(codes), bool)
    follows[ids.offsets[:-1]] = False  # the first word of a text follows nothing
    behind = np.flatnonzero(follows)
    pairs = np.bincount(codes[behind - 1] * groups * n + codes[behind], minlength=(groups * n) ** 2)
    ends = walks.after[ids.offsets[1:] - 1].argmax(1)
    return Coverage(
        readable,
        len(ids),
        np.bincount(walks.states, minlength=n) + np.bincount(ends, minlength=n),
        np.bincount(codes, minlength=groups * n).reshape(groups, n),
        pairs.reshape(groups * n, groups * n),
        require_readable(wfa).remark,
    )


def expected_pairs(anatomy: Anatomy) -> NDArray[np.float64]:
    """How often the extraction texts can be expected to have read each pair; (G·n, G·n)"""
    read = np.maximum(anatomy.visits.sum(0), 1e-300)
    share = anatomy.visits / read  # (G, n): of the words read in a state
    pairs = np.einsum("gij,hj->gihj", anatomy.flows, share)
    size = anatomy.visits.size
    return np.asarray(pairs.reshape(size, size))


def _anatomy(wfa: StochasticWFA) -> Anatomy:
    return anatomy_and_names(wfa)[0]
