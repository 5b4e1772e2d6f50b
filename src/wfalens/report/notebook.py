"""What notebooks show of automata: a summary of one, and the card of a sentence. All text is escaped."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import readable_of, recorded
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.attribution import PROBABILITY
from wfalens.explanation.influence import influence
from wfalens.explanation.shapley import network_shapley, shapley
from wfalens.html import figure_html, heat_html, table_html, text_html
from wfalens.messages import percent

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier

_TOP_WORDS = 8
_USUAL_COUNT = 5
_MOVES = 16  # of the small diagram: it must be read in the width of a notebook
_QUERIES = 256  # that the network is asked for its own Shapley values


def automaton_html(wfa: WFA) -> str:
    """Size, fidelity on held-out texts where it was recorded, the strongest words, and the small diagram."""
    rows = [[name, str(value)] for name, value in wfa.summary().items() if not isinstance(value, dict | list)]
    found = recorded(wfa.provenance)
    if found is not None:
        rows.append(["agrees with the network", f"{found.cr:.1%} of {found.texts:,} held-out texts"])
    return "".join([table_html(f"{wfa.kind} automaton", ["", ""], rows), _top_words(wfa), _diagram(wfa)])


def _top_words(wfa: WFA) -> str:
    seen = int(wfa.word_counts[2:].max(initial=0))
    if seen == 0:
        return ""
    scores = influence(wfa, min(_USUAL_COUNT, seen))
    rows = [[name, ", ".join(scores.top(name, _TOP_WORDS).words)] for name in wfa.class_names]
    return table_html("Words that speak most for each class", ["class", "words"], rows)


def _diagram(wfa: WFA) -> str:
    from wfalens.export.diagram import diagram_of
    from wfalens.export.diagram_drawing import draw_diagram

    teller = readable_of(wfa)
    if teller is None:
        return ""
    try:
        drawing = draw_diagram(diagram_of(wfa, _MOVES), "svg", "down")
    except InputError as error:
        return text_html(f"There is no diagram: {error}")
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"
    return figure_html(source, teller.remark or "The automaton as a diagram", {})


@dataclass(frozen=True, eq=False)
class Card:
    """Why, and can I trust it here: one sentence as the automaton and, where it is given, the network read it."""

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    shown_class: str  # whose contributions are shown: the network's, else the automaton's
    automaton: NDArray[np.float64]  # (classes,)
    automaton_values: NDArray[np.float64]  # (words,)
    rows: tuple[str, ...]  # (words,): the kind of row of each word
    unit: str
    network: NDArray[np.float64] | None = None  # (classes,)
    network_values: NDArray[np.float64] | None = None  # (words,)
    parted: int | None = None  # the word after which the two never agree again

    def to_html(self) -> str:
        parts = [table_html("Who says what", ["reader", "class", "probability"], self._said())]
        parts += [text_html(self._parting())] if self.network is not None else []
        values = self.automaton_values.tolist()
        parts.append(heat_html(f"The automaton, for {self.shown_class}", self.words, values, self.unit))
        if self.network_values is not None:
            parts.append(
                heat_html(f"The network, for {self.shown_class}", self.words, self.network_values.tolist(), PROBABILITY)
            )
        return "".join(parts)

    def _repr_html_(self) -> str:
        return self.to_html()

    def _said(self) -> list[list[str]]:
        readers = {"automaton": self.automaton, **({} if self.network is None else {"network": self.network})}
        return [
            [
                name,
                self.class_names[int(output.argmax())] if output.any() else "undecided",
                percent(float(output.max())),
            ]
            for name, output in readers.items()
        ]

    def _parting(self) -> str:
        if self.parted is None:
            return "The copy agrees with the network here."
        row = {"completed": "never seen in this state", "unknown": "never seen at all"}.get(self.rows[self.parted])
        reason = f": {row}" if row else ""
        return f"The copy is wrong here: they part at “{self.words[self.parted]}”{reason}."


def card(wfa: WFA, text: str, model: PrefixClassifier | None = None) -> Card:
    """The card of a sentence; with the model the network reads along, and its class is the one that is explained."""
    way = wfa.walk(text)
    if not way.words:
        raise InputError("the text has no words")
    output = wfa.probabilities(way.weights[-1:])[0] if way.label is not None else np.zeros(len(wfa.class_names))
    if model is None:
        column = int(output.argmax())
        values = shapley(wfa, text).values[:, column]
        return Card(way.words, wfa.class_names, wfa.class_names[column], output, values, tuple(way.row_kinds), wfa.unit)
    check_pair(wfa, model)
    trace = model.trace(model.encoder.encode([text])).values.astype(np.float64)
    column = int(trace[-1].argmax())
    agree = wfa.trace([text]).values.argmax(1) == trace.argmax(1)
    theirs = network_shapley(model, wfa, text, queries=max(_QUERIES, 4 * len(way.words)), seed=0)
    return Card(
        way.words,
        wfa.class_names,
        wfa.class_names[column],
        output,
        shapley(wfa, text, unit=PROBABILITY, seed=0).values[:, column],
        tuple(way.row_kinds),
        PROBABILITY,
        trace[-1],
        theirs.values[:, column],
        None if agree[-1] else int(np.flatnonzero(agree)[-1]) + 1 if agree.any() else 0,
    )
