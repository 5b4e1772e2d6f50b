"""What a stream's sample decides before all texts are read: the settings that were open, the view and the states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.abstraction import States, cluster, state_centres
from wfalens.extraction.extractor import AUTO, Extractor
from wfalens.extraction.views import LookAhead, Outputs, Seen, View, see
from wfalens.models.contract import StepwiseClassifier
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

    @classmethod
    def made(cls, extractor: Extractor, model: StepwiseClassifier, ids: Ragged[np.int32], progress: Progress) -> Plan:
        """From a sample of texts."""
        settled, tuning = extractor, None
        seen: Seen | None = None
        if AUTO in (extractor.states, extractor.alpha, extractor.beta, extractor.abstraction):
            found, seen = extractor._tuned(model, ids, progress)
            settled, tuning = found.settled(extractor), found.to_json()
        view = settled._view(model, ids)
        seen = see(model, ids, view, progress) if seen is None else seen
        for_states = np.random.default_rng(np.random.SeedSequence(extractor.seed).spawn(1)[0])
        progress.start("clustering the outputs")
        states, path = cluster(seen.points, int(settled.states), settled.sample, for_states).visited(seen.points)
        progress.finish()
        centres = state_centres(seen.outputs, path, settled._initial_output(model), len(states))
        return cls(settled, view, states, centres, tuning)

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        header = {"settled": {name: getattr(self.extractor, name) for name in _SETTLED}, "tuning": self.tuning}
        tensors: Tensors = {"seeds": self.states.seeds, "centres": self.centres}
        if isinstance(self.view, LookAhead):
            tensors |= {"view.centre": self.view.centre, "view.basis": self.view.basis}
        return header, tensors

    @classmethod
    def restored(cls, file: StoredFile, extractor: Extractor) -> Plan:
        settled = replace(extractor, **file.field("settled", dict))
        view: View = Outputs()
        if settled.abstraction == LookAhead.name:
            view = LookAhead(file.tensor("view.centre", "f"), file.tensor("view.basis", "f", 2))
        return cls(
            settled,
            view,
            States(file.tensor("seeds", "f", 2)),
            file.tensor("centres", "f", 2),
            file.header.get("tuning"),
        )
