"""What a sample of the texts decides before all are read: the settings that were open, the view and the states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import States, named_abstraction, state_centres
from wfalens.extraction.states.asking import Continuations
from wfalens.extraction.states.views import LookAhead, Outputs, PrefixOutputs, View
from wfalens.extraction.stochastic.options import Options
from wfalens.extraction.stochastic.tuning import Held, Tuning
from wfalens.ragged import Ragged
from wfalens.storage import StoredFile, Tensors, compact


@dataclass(frozen=True, eq=False)
class Plan:
    """Options that leave nothing open, the abstraction, and how the search for it went (None: nothing was open)."""

    options: Options
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
        options: Options,
        view: View,
        seen: PrefixOutputs,
        prior: NDArray[np.float32],
        ledger: QueryBudget,
        tuning: Tuning | None = None,
        held: Held | None = None,
    ) -> Plan:
        """Form the states of a sample that was seen; `prior` is ρ(0), the output before any word."""
        progress.start("clustering the outputs")
        wanted, rng = options.states, stream_of(options.seed, Step.STATES)
        abstraction = named_abstraction(wanted.abstraction)
        states, path = abstraction.divide(seen, int(wanted.number), wanted.sample, rng).visited(seen.points)
        progress.finish()
        centres = state_centres(seen.outputs, path, prior, len(states))
        return cls(options, view, states, path, centres, tuning, held, ledger)

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        header = {
            "states": self.options.states.number,
            "abstraction": self.options.states.abstraction_name,
            "alpha": self.options.completion.alpha,
            "beta": self.options.completion.beta,
            "representatives": self.options.completion.representatives,
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
    def restored(cls, file: StoredFile, options: Options, ledger: QueryBudget) -> Plan:
        names = ("states", "abstraction", "alpha", "beta", "representatives")
        given: dict[str, Any] = {name: file.header[name] for name in names}
        settled = replace(
            options,
            states=replace(options.states, number=given["states"], abstraction=given["abstraction"]),
            completion=replace(
                options.completion, alpha=given["alpha"], beta=given["beta"], representatives=given["representatives"]
            ),
        )
        view: View = Outputs()
        if given["abstraction"] == LookAhead.name:
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
            view,
            States(file.tensor("seeds", "f", 2)),
            file.tensor("path", "u").astype(np.int32),
            file.tensor("centres", "f", 2),
            tuning,
            held,
            ledger,
        )
