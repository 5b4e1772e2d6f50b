"""The difference between two automata as a result: data first, with tables for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from wfalens.evaluation.agreement import Agreement, Estimate
from wfalens.html import table_html, text_html
from wfalens.results import Result
from wfalens.robustness.compare.changes import StateMatch, TextChanges, WordChanges, label_of

if TYPE_CHECKING:
    import pandas as pd

_NO_STATES = (
    "states are matched between two stochastic automata: those of a linear one are directions, without a centre"
)
Table = tuple[list[str], list[list[str]]]  # columns, rows


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Result):
    """What changed from one automaton to another. What was not asked for is None."""

    class_names: tuple[str, ...]
    states: tuple[StateMatch, ...] | None  # the farthest apart first; None for linear automata
    words: WordChanges
    texts: TextChanges | None = None
    agreement: Agreement | None = None  # between the automata, on the texts
    fidelity_before: Agreement | None = None  # of each to its own model, on the texts
    fidelity_after: Agreement | None = None
    accuracy_before: Estimate | None = None
    accuracy_after: Estimate | None = None

    @property
    def states_note(self) -> str | None:
        """Why no states were matched."""
        return _NO_STATES if self.states is None else None

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Everything, or the first `top` states, words and texts."""

        def plain(item: Agreement | Estimate | None) -> dict[str, Any] | None:
            return None if item is None else asdict(item)

        return {
            "classes": list(self.class_names),
            "agreement": plain(self.agreement),
            "fidelity": {"before": plain(self.fidelity_before), "after": plain(self.fidelity_after)},
            "accuracy": {"before": plain(self.accuracy_before), "after": plain(self.accuracy_after)},
            "states": None if self.states is None else [asdict(state) for state in self.states[:top]],
            "states_note": self.states_note,
            "unit": self.words.unit,
            "words": (self.words if top is None else self.words.top(top)).rows(),
            "texts": None if self.texts is None else (self.texts if top is None else self.texts.top(top)).rows(),
        }

    def rows(self) -> list[dict[str, Any]]:
        """The words, one row each; `texts` has rows of its own."""
        return self.words.rows()

    def to_dataframe(self) -> pd.DataFrame:
        """The words, one row each; `texts` has a table of its own, and `states_dataframe`."""
        return self.words.to_dataframe()

    def states_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([asdict(state) for state in self.states or ()])

    def summary(self) -> str:
        words = ", ".join(map(repr, self.words.words[:5]))
        lines = [f"words whose influence changed most: {words or 'none'}"]
        if self.agreement is not None:
            lines.append(
                f"on {self.agreement.texts:,} texts they choose the same class on {self.agreement.cr:.3f}, at a "
                f"divergence of {self.agreement.jsd:.3f}"
            )
        for name, each in (("before", self.fidelity_before), ("after", self.fidelity_after)):
            lines += [] if each is None else [f"fidelity {name}: {each}"]
        return "\n".join(lines)

    def to_html(self, top: int = 20) -> str:
        words = table_html(f"Words whose influence changed most ({self.words.unit})", *self.word_rows(top))
        states = text_html(_NO_STATES) if self.states is None else table_html("States", *self.state_rows(top))
        texts = "" if self.texts is None else table_html("Texts that they read most differently", *self.text_rows(top))
        return words + texts + states

    def word_rows(self, top: int) -> Table:
        """A table for people: each word with the two classes between which it moved most."""
        shown, rows = self.words.top(top), []
        moved = shown.after - shown.before
        for at, word in enumerate(shown.words):
            up, down = int(moved[at].argmax()), int(moved[at].argmin())
            moves = [
                f"{self.class_names[column]} {shown.before[at, column]:+.3f} → {shown.after[at, column]:+.3f}"
                for column in (up, down)
            ]
            seen = f"{shown.counts[at, 0]:,} / {shown.counts[at, 1]:,}"
            rows.append([word, seen, f"{shown.change[at]:.3f}", *moves])
        return ["word", "seen before / after", "change", "most gained", "most lost"], rows

    def state_rows(self, top: int) -> Table:
        rows = [
            [
                "–" if state.before is None else f"{state.before} ({state.label_before}, {state.share_before:.1%})",
                "–" if state.after is None else f"{state.after} ({state.label_after}, {state.share_after:.1%})",
                "–" if state.distance is None else f"{state.distance:.3f}",
            ]
            for state in (self.states or ())[:top]
        ]
        return ["state before", "state after", "distance of centres"], rows

    def text_rows(self, top: int) -> Table:
        if self.texts is None:
            return [], []
        shown = self.texts.top(top)
        sides = shown.sides()
        columns = ["text", "divergence", *(name.replace("_", " ") for name, _ in sides)]
        rows = [
            [
                text,
                f"{shown.divergence[at]:.3f}",
                *(f"{label_of(self.class_names, side[at]) or 'undecided'} {side[at].max():.2f}" for _, side in sides),
            ]
            for at, text in enumerate(shown.texts)
        ]
        if shown.truth is not None:
            columns.append("truth")
            rows = [[*row, self.class_names[label]] for row, label in zip(rows, shown.truth, strict=True)]
        return columns, rows
