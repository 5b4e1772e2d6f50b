"""What a sample of the texts decides before all are read: the settings that were open, the view and the states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import States, named_abstraction, state_centres
from wfalens.extraction.states.asking import Continuations
from wfalens.extraction.states.views import LookAhead, Outputs, PrefixOutputs, View
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.extraction.stochastic.tuning import Held, Tuning
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, Tensors, compact

_CHOSEN = ("states", "abstraction", "alpha", "beta", "representatives")  # what a search may have chosen


@dataclass(frozen=True, eq=False)
class Plan:
    """Options that leave nothing open, the abstraction, and how the search for it went (None: nothing was open)."""

    method: StateMethod
    request: Request
    view: View
    states: States
    path: NDArray[np.int32]  # (tokens of the sample,): the state after every word
    centres: NDArray[np.float64]  # (n, C): of the sample, for states that the texts never visit; ρ(0)
    tuning: Tuning | None
    held: Held | None  # the texts of the sample on which it was chosen
    ledger: QueryBudget

    @classmethod
    def of(
        cls,
        method: StateMethod,
        request: Request,
        view: View,
        seen: PrefixOutputs,
        prior: NDArray[np.float32],
        ledger: QueryBudget,
        tuning: Tuning | None = None,
        held: Held | None = None,
    ) -> Plan:
        """Form the states of a sample that was seen; `prior` is ρ(0), the output before any word."""
        progress.start("clustering the outputs")
        rng = stream_of(request.seed, Step.STATES)
        abstraction = named_abstraction(method.abstraction)
        states, path = abstraction.divide(seen, int(method.states), method.sample, rng).visited(seen.points)
        progress.finish()
        centres = state_centres(seen.outputs, path, prior, len(states))
        return cls(method, request, view, states, path, centres, tuning, held, ledger)

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        header = {
            "chosen": {name: getattr(self.method, name) for name in _CHOSEN if hasattr(self.method, name)},
            "tuning": None if self.tuning is None else self.tuning.to_json(),
            "asked": self.ledger.asked,
            "texts": self.ledger.texts,
        }
        tensors: Tensors = {"seeds": self.states.seeds, "path": compact(self.path), "centres": self.centres}
        if isinstance(self.view, LookAhead):
            tensors |= {"view.centre": self.view.centre, "view.basis": self.view.basis}
            asked = self.view.continuations
            if asked is not None:
                tensors |= {"view.asked": asked.texts.values, "view.asked_offsets": asked.texts.offsets}
        if self.held is not None:
            tensors |= {"held.texts": self.held.texts, "held.outputs": self.held.outputs}
        return header, tensors

    @classmethod
    def restored(cls, file: StoredFile, method: StateMethod, request: Request, ledger: QueryBudget) -> Plan:
        settled = replace(method, max_bytes=None, **file.field("chosen", dict))
        view: View = Outputs()
        if settled.abstraction == LookAhead.name:
            asked = None
            if "view.asked" in file.tensors:
                asked = Continuations(Ragged(file.tensor("view.asked", "i"), file.tensor("view.asked_offsets", "i")))
            view = LookAhead(file.tensor("view.centre", "f"), file.tensor("view.basis", "f", 2), asked)
        tuning, held = Tuning.from_json(file.header.get("tuning")), None
        if tuning is not None:
            held = Held(file.tensor("held.texts", "i"), file.tensor("held.outputs", "f", 2))
        ledger.asked, ledger.texts = file.field("asked", dict), file.field("texts", int)
        return cls(
            settled,
            request,
            view,
            States(file.tensor("seeds", "f", 2)),
            file.tensor("path", "u").astype(np.int32),
            file.tensor("centres", "f", 2),
            tuning,
            held,
            ledger,
        )
