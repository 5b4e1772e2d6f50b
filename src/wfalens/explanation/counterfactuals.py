"""Texts of characters that would be of another class: the edits of a text that turn the automaton, the surest first."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.errors import InputError
from wfalens.html import table_html
from wfalens.messages import visible
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.text.character_edits import KINDS, Edit, edited_texts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """An edit of a text that gives it another class; `network` is None where no network was asked."""

    edit: Edit
    label: str  # the automaton's new class
    automaton: NDArray[np.float64]  # (classes,)
    network: NDArray[np.float64] | None = None  # (classes,)
    holds: bool | None = None  # whether the network changes its class, too

    def to_json(self) -> dict[str, Any]:
        edit = self.edit
        told = {"kind": edit.kind, "position": edit.position, "old": edit.old, "new": edit.new, "text": edit.text}
        told |= {"to": self.label, "automaton": self.automaton.tolist()}
        return told if self.network is None else told | {"network": self.network.tolist(), "holds": self.holds}


@dataclass(frozen=True)
class Counterfactuals:
    """Of one text, the surest first; `tried` texts were read."""

    text: str
    label: str
    tried: int
    items: tuple[Counterfactual, ...]

    def __len__(self) -> int:
        return len(self.items)

    def to_json(self) -> dict[str, Any]:
        items = [each.to_json() for each in self.items]
        return {"text": self.text, "label": self.label, "tried": self.tried, "counterfactuals": items}

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([each.to_json() for each in self.items])

    def to_html(self) -> str:
        rows = [
            [visible(each.edit.text), each.edit.kind, each.label, "–" if each.holds is None else str(each.holds)]
            for each in self.items
        ]
        title = f"{visible(self.text)} is {self.label}; one edit away ({self.tried:,} texts were read)"
        return table_html(title, ["text", "edit", "automaton", "network changes, too"], rows)

    def _repr_html_(self) -> str:
        return self.to_html()


def counterfactuals(
    wfa: WFA,
    text: str,
    *,
    model: PrefixClassifier | None = None,
    kinds: Collection[str] = KINDS,
    most: int = 20,
) -> Counterfactuals:
    """All edits of a text are read by the automaton; those that change its class, the surest first, by the network too.

    For automata whose tokens are characters, or runs of them.
    """
    own = wfa.ids([text])
    if len(own.values) == 0:
        raise InputError("the text has no characters that the automaton reads")
    found = edited_texts(wfa.encoder, text, kinds)
    label = int(wfa.decide(wfa.weights(own))[0])
    if label == UNDECIDED:
        raise InputError("the automaton is undecided on the text: all mass was lost")
    weights = wfa.weights(found.ids)
    decided, outputs, margins = wfa.decide(weights), wfa.probabilities(weights), wfa.margins(weights)
    turned = np.flatnonzero((decided != label) & (decided != UNDECIDED))
    best = turned[np.argsort(-margins[turned], kind="stable")][:most]
    said = None if model is None else final_outputs(model, _both(own, found.ids.take(best)))
    items = []
    for rank, at in enumerate(best.tolist()):
        network = None if said is None else said[rank + 1]
        holds = None if said is None else bool(said[rank + 1].argmax() != said[0].argmax())
        items.append(Counterfactual(found.edits[at], wfa.class_names[decided[at]], outputs[at], network, holds))
    return Counterfactuals(text, wfa.class_names[label], len(found), tuple(items))


def _both(first: Ragged[np.int32], others: Ragged[np.int32]) -> Ragged[np.int32]:
    lengths = np.concatenate([first.lengths, others.lengths])
    return Ragged.from_lengths(np.concatenate([first.values, others.values]), lengths)
