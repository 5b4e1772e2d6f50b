"""What notebooks show of automata: a summary of one, and the card of a sentence."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.serving import readable_of, recorded
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.attribution import PROBABILITY
from wfalens.explanation.influence import influence
from wfalens.explanation.shapley import network_shapley, shapley
from wfalens.export import diagram_of
from wfalens.html import figure_html, heat_html, table_html, text_html
from wfalens.messages import percent
from wfalens.report.study import records
from wfalens.results import Result

if TYPE_CHECKING:
    from wfalens.models.contract import PrefixClassifier

_TOP_WORDS = 8
_USUAL_COUNT = 5
_QUERIES = 256  # that the network is asked for its own Shapley values


def automaton_html(wfa: WFA) -> str:
    """Size, fidelity on held-out texts where it was recorded, the strongest words, and the small diagram."""
    rows = [[name, str(value)] for name, value in wfa.summary().items() if isinstance(value, str | int | float)]
    found, seen = recorded(wfa.provenance), int(wfa.word_counts[2:].max(initial=0))
    if found is not None:
        rows.append(["agrees with the network", f"{found.cr:.1%} of {found.texts:,} extraction texts set aside"])
    parts = [table_html(f"{wfa.kind} automaton", ["", ""], rows)]
    if seen:
        scores = influence(wfa, min(_USUAL_COUNT, seen))
        words = [[name, ", ".join(scores.top(name, _TOP_WORDS).words)] for name in wfa.class_names]
        parts.append(table_html("Words with the largest influence on each class", ["class", "words"], words))
    return "".join([*parts, _diagram(wfa)])


def _diagram(wfa: WFA) -> str:
    readable = readable_of(wfa)
    if readable is None:
        return ""
    try:
        drawing = diagram_of(wfa).draw().to_svg().encode()
    except InputError as error:
        return text_html(f"There is no diagram: {error}")
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing).decode()}"
    return figure_html(source, readable.remark or "The automaton as a diagram", {})


@dataclass(frozen=True, eq=False, repr=False)
class SentenceCard(Result):
    """One sentence: the outputs of automaton and network, where they differ, and the contributions of its words."""

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    shown_class: str  # whose contributions are shown: the network's, else the automaton's
    automaton: NDArray[np.float64]  # (classes,)
    automaton_values: NDArray[np.float64]  # (words,)
    row_kinds: tuple[str, ...]  # (words,): the kind of row of each word
    unit: str
    network: NDArray[np.float64] | None = None  # (classes,)
    network_values: NDArray[np.float64] | None = None  # (words,)
    diverged: int | None = None  # the word after which the two never agree again

    def to_html(self) -> str:
        parts = [table_html("Outputs", ["model", "class", "probability"], self._outputs())]
        parts += [text_html(self._agreement())] if self.network is not None else []
        for name, values in (("automaton", self.automaton_values), ("network", self.network_values)):
            if values is not None:
                parts.append(heat_html(f"The {name}, for {self.shown_class}", self.words, values.tolist(), self.unit))
        return "".join(parts)

    def rows(self) -> list[dict[str, Any]]:
        network = {} if self.network_values is None else {"network": self.network_values.tolist()}
        return records(word=self.words, automaton=self.automaton_values.tolist(), **network)

    def summary(self) -> str:
        return "; ".join(f"{name}: {label} ({share})" for name, label, share in self._outputs())

    def _outputs(self) -> list[list[str]]:
        models = {"automaton": self.automaton, "network": self.network}
        return [
            [name, self.class_names[output.argmax()] if output.any() else "undecided", percent(float(output.max()))]
            for name, output in models.items()
            if output is not None
        ]

    def _agreement(self) -> str:
        if self.diverged is None:
            return "Automaton and network agree on this text."
        kind = self.row_kinds[self.diverged]
        reason = {"completed": ": never seen in this state", "unknown": ": never seen at all"}.get(kind, "")
        return f"Automaton and network disagree, from “{self.words[self.diverged]}” on{reason}."


def sentence_card(wfa: WFA, text: str, model: PrefixClassifier | None = None) -> SentenceCard:
    """The card of a sentence; with the model, its class is the one that is explained."""
    walk = wfa.walk(text)
    if not walk.words:
        raise InputError("the text has no words", code="no-words")
    output = wfa.probabilities(walk.weights[-1:])[0] if walk.label is not None else np.zeros(len(wfa.class_names))
    rows, names = tuple(walk.row_kinds), wfa.class_names
    if model is None:
        column = int(output.argmax())
        values = shapley(wfa, text, unit=PROBABILITY).values[:, column]
        return SentenceCard(walk.words, names, names[column], output, values, rows, PROBABILITY)
    check_pair(wfa, model)
    trace = model.trace(model.encoder.encode([text])).values.astype(np.float64)
    column = int(trace[-1].argmax())
    agree = wfa.trace([text]).values.argmax(1) == trace.argmax(1)
    values = shapley(wfa, text, unit=PROBABILITY, seed=0).values[:, column]
    theirs = network_shapley(model, wfa, text, queries=_QUERIES, seed=0).values[:, column]
    diverged = None if agree[-1] else int(np.flatnonzero(agree)[-1]) + 1 if agree.any() else 0
    card = SentenceCard(walk.words, names, names[column], output, values, rows, PROBABILITY)
    return replace(card, network=trace[-1], network_values=theirs, diverged=diverged)
