"""Local attribution: what each word of a text contributes, and what would happen without it or with another.

Contributions are Shapley values, or those of the walk: with `d_t` the state vector after t words, word t contributes
`(d_t − d_{t−1})·F`. Both add up exactly to the output minus the prior. Deletion and replacement follow from forward
vectors `α_t = d_t` and backward matrices `β_t = Ê_{t+1}⋯Ê_L·F`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.walk import ROW_KINDS, row_kinds
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import words_seen
from wfalens.explanation.shapley.shapley_values import MOST_WORDS, check_length, shapley
from wfalens.html import heat_html, table_html
from wfalens.validation import check_choice

if TYPE_CHECKING:
    import pandas as pd

_UNDECIDED = (
    "the automaton is undecided on this text: null completion lost all mass in rows that were never observed; "
    "extract with another completion, or name a class"
)
METHODS = SHAPLEY, WALK = ("shapley", "walk")
_SHOWN = {SHAPLEY: "Shapley values", WALK: "contributions along the walk"}


@dataclass(frozen=True, eq=False)
class Attribution:
    """Contributions of a text's words to every class: Shapley values, or those of the walk."""

    words: tuple[str, ...]
    class_names: tuple[str, ...]
    prior: NDArray[np.float64]  # (classes,)
    output: NDArray[np.float64]  # (classes,)
    contributions: NDArray[np.float64]  # (words, classes): they sum to output − prior
    without: NDArray[np.float64]  # (words, classes): the output if the word were deleted
    shares: NDArray[np.float64]  # (words, 3): observed, completed, unknown rows
    unit: str
    method: str

    @property
    def title(self) -> str:
        """What the contributions are called in tables and figures."""
        return _SHOWN[self.method]

    @property
    def label(self) -> str | None:
        """The predicted class; None where all mass was lost (null completion)."""
        lost = self.unit == "probability" and not self.output.any()
        return None if lost else self.class_names[int(self.output.argmax())]

    @property
    def trust(self) -> dict[str, float]:
        """Share of the mass that went through observed, completed and unknown-word rows, over the whole text."""
        return dict(zip(ROW_KINDS, map(float, self.shares.mean(0)), strict=True))

    def of_class(self, class_name: str | None = None) -> NDArray[np.float64]:
        """Contributions to one class (default: the predicted one); (words,)"""
        name = self.label if class_name is None else class_name
        if name is None:
            raise InputError(_UNDECIDED)
        check_choice("class", name, self.class_names)
        column: NDArray[np.float64] = self.contributions[:, self.class_names.index(name)]
        return column

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        columns = {name: self.contributions[:, at] for at, name in enumerate(self.class_names)}
        return pd.DataFrame({"word": self.words, "rows": row_kinds(self.shares), **columns})

    def to_json(self) -> dict[str, Any]:
        def by_class(row: NDArray[np.float64]) -> dict[str, float]:
            return dict(zip(self.class_names, map(float, row), strict=True))

        words = [
            {
                "word": word,
                "contribution": by_class(self.contributions[at]),
                "without": by_class(self.without[at]),
                "shares": dict(zip(ROW_KINDS, map(float, self.shares[at]), strict=True)),
            }
            for at, word in enumerate(self.words)
        ]
        return {
            "method": self.method,
            "unit": self.unit,
            "label": self.label,
            "prior": by_class(self.prior),
            "output": by_class(self.output),
            "trust": self.trust,
            "words": words,
        }

    def to_html(self) -> str:
        heat = (
            heat_html(f"{self.label}: {self.title}", self.words, list(self.of_class()), self.unit) if self.label else ""
        )
        rows = [
            [word, *(f"{value:+.3f}" for value in row)]
            for word, row in zip(self.words, self.contributions, strict=True)
        ]
        rows.append(["sum = output − prior", *(f"{value:+.3f}" for value in self.output - self.prior)])
        return heat + table_html(f"By class: {self.title} ({self.unit})", ["word", *self.class_names], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True)
class Replacement:
    """A word at a position, and the output with it."""

    position: int
    old: str
    new: str
    output: NDArray[np.float64]


def attribute(wfa: WFA, text: str, method: str = SHAPLEY) -> Attribution:
    """Explain one text without any query of the model.

    method  "shapley": each word's share of the output, the mean over all orders in which the words could be added (an
            absent word is deleted): which words matter? "walk": what each word changed when it was read: how did the
            decision come about?
    """
    check_choice("method", method, METHODS)
    words, ids = _read(wfa, text)
    forward, backward = forward_backward(wfa, ids)
    outputs = wfa.read_out(forward)
    return Attribution(
        words=tuple(words),
        class_names=wfa.class_names,
        prior=outputs[0],
        output=outputs[-1],
        contributions=shapley(wfa, text).values if method == SHAPLEY else np.diff(outputs, axis=0),
        without=np.einsum("tn,tnc->tc", forward[:-1], backward[1:]),
        shares=wfa.row_shares(ids, forward[:-1]),
        unit=wfa.unit,
        method=method,
    )


def best_replacements(wfa: WFA, text: str, class_name: str | None = None, min_count: int = 5) -> list[Replacement]:
    """At every position the word that lowers a class (default: the predicted one) most."""
    words, ids = _read(wfa, text)
    forward, backward = forward_backward(wfa, ids)
    decision = int(wfa.decide(wfa.read_out(forward[-1:]))[0])
    if class_name is None and decision == UNDECIDED:
        raise InputError(_UNDECIDED)
    name = class_name or wfa.class_names[decision]
    check_choice("class", name, wfa.class_names)
    column, candidates = wfa.class_names.index(name), words_seen(wfa, min_count)
    found = []
    for position, word in enumerate(words):
        outputs = replacement_outputs(wfa, forward, backward, position, candidates)
        best = int(outputs[:, column].argmin())
        found.append(Replacement(position, word, wfa.encoder.vocabulary.words[candidates[best]], outputs[best]))
    return found


def _read(wfa: WFA, text: str) -> tuple[list[str], NDArray[np.int32]]:
    words = wfa.encoder.tokens(text)
    if not words:
        raise InputError("the text has no words")
    ids = wfa.encoder.vocabulary.encode([words])
    check_length(ids, MOST_WORDS, "explained word by word")
    return words, ids.values
