"""What a sample of the texts decides before all are counted: settings that were open, the view and the states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import States, named_abstraction, state_centres
from wfalens.extraction.states.views import PrefixOutputs, View
from wfalens.extraction.stochastic.paper import StateMethod
from wfalens.extraction.stochastic.tuning import Held, Tuning
from wfalens.models.inference import initial_output


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A method that leaves nothing open, the states, and how the search for it went (None: nothing was open)."""

    method: StateMethod
    view: View
    states: States
    path: NDArray[np.int32]  # (tokens of the sample,): the state after every word
    centres: NDArray[np.float64]  # (n, C): of the sample, for states that the texts never visit; ρ(0)
    budget: QueryBudget
    tuning: Tuning | None = None
    held: Held | None = None  # the texts of the sample on which it was chosen

    @classmethod
    def of(
        cls,
        method: StateMethod,
        request: Request,
        view: View,
        seen: PrefixOutputs,
        budget: QueryBudget,
        tuning: Tuning | None = None,
        held: Held | None = None,
    ) -> StateSpace:
        """Form the states of prefixes in a view."""
        progress.start("clustering the outputs")
        abstraction, rng = named_abstraction(method.abstraction), stream_of(request.seed, Step.STATES)
        states, path = abstraction.divide(seen, int(method.states), method.sample, rng).visited(seen.points)
        progress.finish()
        prior = initial_output(request.model, method.initial)
        centres = state_centres(seen.outputs, path, prior, len(states))
        return cls(method, view, states, path, centres, budget, tuning, held)
