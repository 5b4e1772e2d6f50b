"""What a stream's sample decides before all texts are read: the settings that were open, the view and the states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.extraction.building import divide
from wfalens.extraction.choice.search import settle
from wfalens.extraction.completion.queries import Ledger
from wfalens.extraction.extractor import Extractor
from wfalens.extraction.options import AUTO
from wfalens.extraction.states.abstraction import ABSTRACTIONS, States, state_centres
from wfalens.extraction.states.views import LookAhead, Outputs, View
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import initial_output
from wfalens.progress import Progress
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, Tensors

_SETTLED = ("states", "abstraction", "alpha", "beta")


@dataclass(frozen=True, eq=False)
class Plan:
    """The settled extractor, the abstraction, and how the search for it went (None: nothing was open)."""

    extractor: Extractor
    view: View
    states: States
    centres: NDArray[np.float64]  # (n, C): of the sample, for states that the texts never visit
    tuning: dict[str, Any] | None
    ledger: Ledger

    @classmethod
    def made(cls, extractor: Extractor, model: StepwiseClassifier, ids: Ragged[np.int32], progress: Progress) -> Plan:
        """From a sample of texts."""
        ledger = Ledger(extractor.query_limit(model))
        settled = settle(extractor, model, ids, ledger, progress)
        chosen, seen = settled.extractor, settled.seen
        states, path = divide(chosen, seen, progress)
        centres = state_centres(seen.outputs, path, initial_output(model, chosen.initial), len(states))
        tuning = None if settled.tuning is None else settled.tuning.to_json()
        return cls(chosen, settled.view, states, centres, tuning, ledger)

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        header = {
            "settled": {name: getattr(self.extractor, name) for name in _SETTLED},
            "tuning": self.tuning,
            "asked": self.ledger.asked,
            "texts": self.ledger.texts,
        }
        tensors: Tensors = {"seeds": self.states.seeds, "centres": self.centres}
        if isinstance(self.view, LookAhead):
            tensors |= {"view.centre": self.view.centre, "view.basis": self.view.basis}
        return header, tensors

    @classmethod
    def restored(cls, file: StoredFile, extractor: Extractor, model: StepwiseClassifier) -> Plan:
        settled = replace(extractor, **file.field("settled", dict))
        view: View = Outputs()
        if settled.abstraction == LookAhead.name:
            view = LookAhead(file.tensor("view.centre", "f"), file.tensor("view.basis", "f", 2))
        ledger = Ledger(extractor.query_limit(model))
        ledger.asked, ledger.texts = file.field("asked", dict), file.field("texts", int)
        seeds, centres = file.tensor("seeds", "f", 2), file.tensor("centres", "f", 2)
        return cls(settled, view, States(seeds), centres, file.header.get("tuning"), ledger)


def check_plannable(extractor: Extractor, model: StepwiseClassifier) -> None:
    """Refuse what a stream cannot keep or cannot promise."""
    if extractor.abstraction not in (AUTO, *ABSTRACTIONS):
        raise InputError(
            f"a stream keeps its states in a file and knows the abstractions {', '.join(ABSTRACTIONS)} and {AUTO} only"
        )
    if extractor.augmentation is not None and extractor.query_limit(model) is not None:
        raise InputError(
            "augmenting a stream asks the model as often as the stream is long, which no limit on queries can foresee; "
            "leave out one of the two"
        )
