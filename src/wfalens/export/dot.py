"""DOT for Graphviz: states, the strongest flows between them, and the words that make them up.

The flow from state i to j is `u(i)·Σσ p(σ)·Êσ[i,j]`, with u the states' and p the words' frequencies in the extraction
texts (of a linear automaton, of absolute values). An edge is drawn as wide as its flow and labelled with the words that
carry more of it than their frequency would have them. A drawing of some flows shows moves only, not what stays in a
state, and only the states that they touch; nothing is scaled up for what is left out: a picture is no model.

For programs, an edge holds the weight of every word on it: `weights="w_good=0.25 w_bad=0.5"`, with the names of
`symbols.escape`; states hold their class weights likewise. A drawing of all flows holds the whole subset. States show
their names, where they have some, else their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.export.exporters import exporter
from wfalens.export.subset import Subset
from wfalens.export.symbols import CLASS, WORD, escape
from wfalens.messages import printable, sentence

_THINNEST, _WIDEST = 0.3, 6.0
_LONGEST_NAME = 60  # characters of a state's
_COLOURS = 12  # of the scheme


@exporter("dot", suffixes=(".dot", ".gv"))
def to_dot(part: Subset, flows: int | None = 60, words_shown: int = 3) -> str:
    """The subset as a drawing of its strongest flows (None: all), each with its most typical words."""
    if flows is not None and flows < 1:
        raise InputError(f"at least one flow must be drawn, not {flows}", code="option-value")
    n, (share, frequency) = len(part.states), _shares(part)
    keys, edge = np.unique(part.source.astype(np.int64) * n + part.target, return_inverse=True)
    strength = np.bincount(edge, share)
    excess = share - frequency[part.word] * strength[edge]
    transitions = np.split(np.argsort(edge, kind="stable"), np.cumsum(np.bincount(edge))[:-1])
    drawn = np.argsort(-strength, kind="stable")
    touched = np.arange(n)
    if flows is not None:
        drawn = drawn[keys[drawn] // n != keys[drawn] % n][:flows]
        touched = np.unique([0, *(keys[drawn] // n), *(keys[drawn] % n)])
    widest = strength[drawn].max(initial=0) or 1.0
    lines = [_node(part, int(place)) for place in touched]
    for number in drawn:
        (source, target), held, flow = divmod(int(keys[number]), n), transitions[number], float(strength[number])
        typical = held[np.argsort(-excess[held], kind="stable")[:words_shown]]
        label = "\\n".join(f"{_shown(part.words[part.word[at]])} {part.weight[at]:.2g}" for at in typical)
        weights = _named([part.words[word] for word in part.word[held]], part.weight[held], WORD)
        lines.append(
            f'  s{source} -> s{target} [label="{label}", penwidth={max(_THINNEST, _WIDEST * (flow / widest)):.2f}, '
            f'flow="{flow!r}", weights="{weights}"];'
        )
    head = 'digraph automaton {\n  rankdir=LR;\n  node [style=filled, colorscheme=set312, fontname="sans-serif"];\n'
    return f'{head}  edge [fontsize=10, fontname="sans-serif"];\n' + "\n".join(lines) + "\n}\n"


def _shares(part: Subset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each transition adds to the flow of its edge, (transitions,), and p, (words,); equal ones if all are 0"""
    visits, counts = (
        weights / weights.sum() if weights.any() else np.full(len(weights), 1 / len(weights))
        for weights in (np.abs(part.state_frequencies), part.word_counts.astype(np.float64))
    )
    return np.asarray(visits[part.source] * counts[part.word] * np.abs(part.weight)), counts


def _node(part: Subset, place: int) -> str:
    state, label, weights = int(part.states[place]), int(part.decided[place]), part.final[place]
    if label < 0:
        shown, colour = "lost", "white"
    else:
        name = str(state) if part.state_names is None else _shown(sentence(part.state_names[place], _LONGEST_NAME))
        shown = f"{name}\\n{_shown(part.class_names[label])} {weights[label]:.2f}"
        colour = str(label % _COLOURS + 1)
    borders = 2 if part.kind == StochasticWFA.kind and part.initial[place] == 1 else 1
    return (
        f'  s{place} [label="{shown}", peripheries={borders}, fillcolor={colour}, state="{state}", '
        f'initial="{part.initial[place].item()!r}", weights="{_named(part.class_names, weights, CLASS)}"];'
    )


def _named(texts: Sequence[str], weights: NDArray[np.float64], prefix: str) -> str:
    return " ".join(f"{escape(text, prefix)}={weight!r}" for text, weight in zip(texts, weights.tolist(), strict=True))


def _shown(text: str) -> str:
    """A text as Graphviz shows it: it knows backslash escapes and HTML entities."""
    return printable(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
