"""OpenFst's text form: one acceptor per class, over the log semiring.

An automaton with C classes is C automata with one weight each, which differ in their final weights only; the file holds
the one for a chosen class. A weight p is written as −log p, so that the arcs of a state and a word sum to 0 (which is
1) in the log semiring, and a text's weight there is −log A(w) of the class. Words are names of the symbol table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.export.exporters import exporter
from wfalens.export.subset import Subset
from wfalens.export.symbols import chosen, escape, lines, numbers


@exporter("openfst", stochastic=True, symbols=True)
def to_openfst(part: Subset, class_name: str | None = None) -> str:
    """The subset as an acceptor whose weights are those of one class; arcs `source target word weight`."""
    if class_name not in part.class_names:
        classes = ", ".join(part.class_names)
        raise InputError(f"OpenFst holds one class; choose one of {classes}, not {class_name!r}", code="class-name")
    states = [str(state) for state in range(len(part.states))]
    # the first arc's source is the start: transitions are sorted, and state 0 is always exported
    arcs = lines(
        chosen(states, part.source),
        "\t",
        chosen(states, part.target),
        "\t",
        chosen([escape(word) for word in part.words], part.word),
        "\t",
        numbers(_cost(part.weight)),
        "\n",
    )
    final = part.final[:, part.class_names.index(class_name)]
    ends = np.flatnonzero(final > 0)
    return arcs + lines(chosen(states, ends), "\t", numbers(_cost(final[ends])), "\n")


def _cost(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.0 - np.log(weights))  # 0 − 0 is 0, not −0
