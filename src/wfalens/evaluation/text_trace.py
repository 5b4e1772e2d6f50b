"""A text read word by word by an automaton and, beside it, by the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.walk import Walk
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.results import Result

_CLASSES_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class TextTrace(Result):
    """The walk of a text through the automaton, and the network's outputs after every word, where it is given."""

    walk: Walk
    network: NDArray[np.float32] | None  # (words, classes)

    @property
    def diverged_at(self) -> int | None:
        """The position of the word after which the two never predict the same class again; None if they end alike."""
        if self.network is None:
            return None
        agree = self.walk.outputs[1:].argmax(1) == self.network.argmax(1)
        if agree[-1]:
            return None
        return int(agree.nonzero()[0][-1]) + 1 if agree.any() else 0

    @property
    def title(self) -> str:
        return f"{self.walk.label or 'undecided'}: {len(self.walk.words)} words"

    def summary(self) -> str:
        parts = []
        if self.network is not None:
            parts.append(f"the network predicts {self.walk.class_names[int(self.network[-1].argmax())]}")
            if self.diverged_at is not None:
                parts.append(f"the two differ from word {self.diverged_at + 1} on")
        if self.walk.readable is not None:
            label = self.walk.readable.label or "undecided"
            parts.append(f"word clusters and states are those of the readable automaton, which predicts {label}")
        return "; ".join(parts)

    def rows(self) -> list[dict[str, Any]]:
        """One row for the start and one per word."""
        walk, states = self.walk, self.walk.readable or self.walk
        rows = []
        for at, word in enumerate(("(start)", *walk.words)):
            row: dict[str, Any] = {"word": word, "row": walk.row_kinds[at - 1] if at else ""}
            if states.word_classes is not None:
                row["word cluster"] = states.word_classes[at - 1] if at else ""
            if states.names_states:
                row["state"] = f"{states.state_name(int(states.likely_states[at]))} ({states.states[at].max():.2f})"
            row["output"] = _top(walk.class_names, walk.outputs[at])
            if self.network is not None:
                row["network"] = _top(walk.class_names, self.network[at - 1]) if at else ""
            rows.append(row)
        return rows

    def to_dict(self) -> dict[str, Any]:
        found = self.walk.to_json()
        if self.network is not None:
            for step, row in zip(found["steps"], self.network.tolist(), strict=True):
                step["network"] = dict(zip(self.walk.class_names, row, strict=True))
            found["diverged_at"] = self.diverged_at
        return found


def trace_text(wfa: WFA, text: str, model: PrefixClassifier | None = None) -> TextTrace:
    """Read a text word by word, with the network beside the automaton if it is given."""
    walk = wfa.walk(text)
    if not walk.words:
        raise InputError("the text has no words", code="no-words")
    if model is None:
        return TextTrace(walk, None)
    check_pair(wfa, model)
    return TextTrace(walk, model.trace(model.encoder.encode([text])).values)


def _top(names: tuple[str, ...], output: NDArray[np.floating]) -> str:
    return ", ".join(f"{names[label]} {output[label]:.2f}" for label in output.argsort()[::-1][:_CLASSES_SHOWN])
