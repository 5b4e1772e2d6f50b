"""From a weighted automaton to a deterministic one: the formal language that a network has learned.

Two ways. *likely* follows the likeliest state after every letter. *behaviour* distinguishes prefixes by the classes
that the automaton gives them and all their short continuations, as in the theorem of Myhill and Nerode; it keeps
whole distributions, and needs no rows that are nearly deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.robustness.certify.induction import stochastic_only
from wfalens.robustness.dfa.machines import Machine
from wfalens.text.vocabulary import UNKNOWN
from wfalens.validation import check_choice

WAYS = ("behaviour", "likely")
_MOST_CONTINUATIONS = 100_000


def determinise(
    wfa: WFA, letters: Sequence[str] | None = None, *, way: str = "behaviour", depth: int = 6, most: int = 1000
) -> Machine:
    """A machine that reads `letters` (default: all words seen in extraction) as the automaton does; not minimal yet.

    depth  behaviour: length of the continuations by which prefixes are distinguished
    most   behaviour: states at which the search gives up
    """
    automaton = stochastic_only(wfa, "determinised").wfa
    check_choice("way", way, WAYS)
    vocabulary = automaton.encoder.vocabulary
    if letters is None:
        letters = [vocabulary.words[at] for at in np.flatnonzero(automaton.word_counts) if at > UNKNOWN]
    for letter in letters:
        if letter not in vocabulary:
            raise InputError(f"the automaton does not know the letter {letter!r}")
    matrices = automaton.matrices(np.array([vocabulary.id_of(letter) for letter in letters], np.int32))
    if way == "likely":
        return _by_likely_state(automaton, tuple(letters), matrices)
    if sum(len(letters) ** length for length in range(depth + 1)) > _MOST_CONTINUATIONS:
        raise InputError(f"{len(letters)} letters have too many continuations of length {depth}; lower the depth")
    return _by_behaviour(automaton, tuple(letters), matrices, depth, most)


def _by_likely_state(wfa: StochasticWFA, letters: tuple[str, ...], matrices: NDArray[np.float64]) -> Machine:
    targets = matrices.argmax(2)  # (letters, n)
    outputs = wfa.decide(wfa.read_out(np.eye(wfa.states)))
    return Machine(letters, tuple(map(tuple, targets.T.tolist())), tuple(outputs.tolist()))


def _by_behaviour(
    wfa: StochasticWFA, letters: tuple[str, ...], matrices: NDArray[np.float64], depth: int, most: int
) -> Machine:
    """One state for every behaviour; each is followed from the first prefix that shows it."""
    after = _continuations(wfa, matrices, depth)
    vectors = [wfa.initial]
    known = {_behaviour(wfa, after, wfa.initial): 0}
    rows: list[tuple[int, ...]] = []
    while len(rows) < len(vectors):
        row = []
        for vector in vectors[len(rows)] @ matrices:
            shown = _behaviour(wfa, after, vector)
            if shown not in known:
                if len(vectors) == most:
                    raise InputError(
                        f"after {most:,} states there are still new ones: no small machine reads as the automaton does"
                    )
                known[shown] = len(vectors)
                vectors.append(vector)
            row.append(known[shown])
        rows.append(tuple(row))
    return Machine(letters, tuple(rows), tuple(wfa.decide(wfa.read_out(np.array(vectors))).tolist()))


def _continuations(wfa: StochasticWFA, matrices: NDArray[np.float64], depth: int) -> NDArray[np.float64]:
    """`Ê_w·F` of all texts up to a length; -> (texts, n, classes)"""
    levels = [wfa.centres[None]]
    for _ in range(depth):
        levels.append((matrices[:, None] @ levels[-1]).reshape(-1, *wfa.centres.shape))
    return np.concatenate(levels)


def _behaviour(wfa: StochasticWFA, after: NDArray[np.float64], vector: NDArray[np.float64]) -> bytes:
    """The classes of a prefix and of all its continuations."""
    return wfa.decide(np.einsum("n,tnc->tc", vector, after)).astype(np.int16).tobytes()
