"""The transitions of a readable automaton: how often a word leads from one state to another, and which words do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy, Names
from wfalens.automaton.serving import Serving, readable_of
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.messages import sentence
from wfalens.results import Result

LONGEST_NAME, LONGEST_WORD = 60, 24  # characters shown of the name of a state or cluster, and of a word


@dataclass(frozen=True, eq=False, repr=False)
class MoveTable(Result):
    """How often words lead from state to state, as shares of all words of the extraction texts."""

    names: Names
    class_names: tuple[str, ...]
    centres: NDArray[np.float64]  # (n, C)
    flows: NDArray[np.float64]  # (G, n, n): share of all words that are of a cluster and lead from a state to another
    remark: str | None = None  # whose table it is, where that is the readable automaton that another one carries

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

    def strongest(self) -> list[tuple[int, int]]:
        """All transitions between different states that occur, the most frequent first."""
        moved = self.shares * (1 - np.eye(len(self.shares)))
        order = np.argsort(-moved, axis=None, kind="stable")
        return [divmod(int(at), len(moved)) for at in order if moved.flat[at] > 0]


def moves(wfa: WFA) -> MoveTable:
    """The transitions of a readable automaton, or of the one that an automaton carries.

    Args:
        wfa: a readable automaton, or one that carries a readable automaton.

    Examples:
        >>> from wfalens.explanation import moves
        >>> bool(np.isclose(moves(readable).shares.sum(), 1))  # shares of all words
        True
    """
    readable = require_readable(wfa)
    anatomy, names = anatomy_and_names(readable.wfa)
    shares = anatomy.flows / max(1e-300, float(anatomy.flows.sum()))
    return MoveTable(names, wfa.class_names, anatomy.centres, shares, readable.remark)


def require_readable(wfa: WFA) -> Serving:
    """The readable automaton: this one, or the one that it carries; an error where there is none."""
    found = readable_of(wfa)
    if found is None:
        raise InputError(
            f"this automaton has {wfa.states} states and a row for every word, too many to read; extract one that "
            "carries a readable automaton (the automatic method), or a readable automaton alone (Readable); its "
            "strongest moves can be exported as DOT",
            code="not-readable",
        )
    return found


def anatomy_and_names(wfa: StochasticWFA) -> tuple[Anatomy, Names]:
    """The matrices and names of an automaton whose words share rows."""
    if wfa.anatomy is None or wfa.names is None or not wfa.anatomy.visits.any():
        raise InputError(
            "the file does not record how often its word clusters were read; extract it again", code="no-visits"
        )
    return wfa.anatomy, wfa.names


def shown_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one printable line."""
    return sentence(name, longest)


def shown_words(words: tuple[str, ...], most: int = 3) -> str:
    """Some words of a cluster, each cut to a readable length, blanks made visible."""
    return ", ".join(sentence(word.replace(" ", "␣"), LONGEST_WORD) for word in words[:most]) or "unknown words"
