"""DOT for Graphviz: states, the strongest flows between them, and the words that make them up.

The flow from state i to j is `u(i)·Σσ p(σ)·Êσ[i,j]`, with u the states' and p the words' frequencies in the extraction
texts (of a linear automaton, of absolute values). An edge is drawn as wide as its flow and labelled with the words that
carry most of it. For programs, it also holds the weight of every word on it: `weights="w_good=0.25 w_bad=0.5"`, with
the names of `symbols.escape`; states hold their class weights likewise. Flows that are not drawn are left out, not
scaled up: a picture is no model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, WORD, escape, unescape
from wfalens.text import printable

_WIDEST = 6.0
_COLOURS = 12  # of the scheme


def to_dot(part: Subset, flows: int | None = 60, words_shown: int = 3) -> str:
    """The subset as a drawing of its strongest flows (None: all), each with its strongest words."""
    if flows is not None and flows < 1:
        raise InputError(f"at least one flow must be drawn, not {flows}")
    shares = _shares(part)
    edges = part.source.astype(np.int64) * len(part.states) + part.target
    keys, edge = np.unique(edges, return_inverse=True)
    strength = np.bincount(edge, shares)
    drawn = np.argsort(-strength, kind="stable")[:flows]
    by_edge = np.split(np.argsort(edge, kind="stable"), np.cumsum(np.bincount(edge))[:-1])
    names = [escape(word) for word in part.words]
    widest = strength.max() or 1.0
    lines = [_node(part, place) for place in range(len(part.states))]
    for number in drawn:
        held = by_edge[number]
        strongest = held[np.argsort(-shares[held], kind="stable")[:words_shown]]
        label = "\\n".join(f"{_shown(part.words[part.word[at]])} {part.weight[at]:.2g}" for at in strongest)
        weights = " ".join(f"{names[part.word[at]]}={part.weight[at].item()!r}" for at in held)
        source, target = divmod(int(keys[number]), len(part.states))
        width = max(0.3, _WIDEST * strength[number] / widest)
        lines.append(
            f'  s{source} -> s{target} [label="{label}", penwidth={width:.2f}, '
            f'flow="{strength[number].item()!r}", weights="{weights}"];'
        )
    head = 'digraph automaton {\n  rankdir=LR;\n  node [style=filled, colorscheme=set312, fontname="sans-serif"];\n'
    return f'{head}  edge [fontsize=10, fontname="sans-serif"];\n' + "\n".join(lines) + "\n}\n"


def read_weights(attribute: str, prefix: str = WORD) -> dict[str, float]:
    """The words of an edge, or (by `symbols.CLASS`) the classes of a state, and their weights, from `weights`."""
    try:
        pairs = [pair.split("=") for pair in attribute.split()]
        return {unescape(name, prefix): float(weight) for name, weight in pairs}
    except ValueError as error:
        raise FormatError(f"an edge's weights cannot be read: {error}") from None


def _shares(part: Subset) -> NDArray[np.float64]:
    """What each transition adds to the flow of its edge; (transitions,)"""
    counts, visits = _spread(part.word_counts.astype(np.float64)), _spread(np.abs(part.state_frequencies))
    return np.asarray(visits[part.source] * counts[part.word] * np.abs(part.weight))


def _spread(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the whole; equal ones if all are 0."""
    total = weights.sum()
    return np.asarray(weights / total if total else np.full(len(weights), 1 / len(weights)))


def _node(part: Subset, place: int) -> str:
    state, label, weights = int(part.states[place]), int(part.decided[place]), part.final[place]
    if label < 0:
        shown, colour = "lost", "white"
    else:
        shown = f"{state}\\n{_shown(part.class_names[label])} {weights[label]:.2f}"
        colour = str(label % _COLOURS + 1)
    shape = "doublecircle" if part.initial[place] == 1 and part.kind == "stochastic" else "circle"
    return (
        f'  s{place} [label="{shown}", shape={shape}, fillcolor={colour}, state="{state}", '
        f'initial="{part.initial[place].item()!r}", weights="{_named(part.class_names, weights)}"];'
    )


def _named(class_names: Sequence[str], weights: NDArray[np.float64]) -> str:
    return " ".join(
        f"{escape(name, CLASS)}={weight!r}" for name, weight in zip(class_names, weights.tolist(), strict=True)
    )


def _shown(text: str) -> str:
    """A text as Graphviz shows it: it knows backslash escapes and HTML entities."""
    return printable(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
