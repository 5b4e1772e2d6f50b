"""The rule for missing rows: one that asks the model nothing, or rows that are probed, and then perhaps fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Empirical, Fitted, Null, Probe, Uniform
from wfalens.automaton.rows import rows_from_keys
from wfalens.extraction.completion.fitting import affordable_rounds, fit_rows
from wfalens.extraction.completion.questions import Questions
from wfalens.extraction.counts.transitions import TransitionCounts
from wfalens.extraction.deadline import Deadline, Stop
from wfalens.extraction.query_budget import QueryBudget
from wfalens.extraction.stochastic.paper import CORPUS, Paper, StateMethod, Stochastic
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged


def rule(method: StateMethod, self_transition_share: float) -> Completion:
    """The completions that ask the model nothing."""
    if method.completion == Null.name:
        return Null()
    if method.completion == Uniform.name:
        return Uniform()
    assert isinstance(method, Paper)  # noqa: S101 - others ask the model
    beta = 1 - self_transition_share if method.beta == CORPUS else float(method.beta)
    return Empirical(beta, method.distance)


def probed(strength: float, questions: Questions, answers: TransitionCounts, alphabet: int) -> Probe:
    """The completion by what the model answered."""
    rows = rows_from_keys(answers.keys, answers.counts, alphabet, answers.states)
    return Probe(strength, questions.representatives.per_state, rows)


def fitted(
    method: Stochastic,
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    probe: Probe,
    centres: NDArray[np.float64],
    rng: np.random.Generator,
    ledger: QueryBudget,
    deadline: Deadline,
) -> tuple[Fitted, NDArray[np.float64], Stop | None]:
    """Rows that are fitted from probed ones, the centres (n, C), which fitting moves, and what ended it early."""
    within = affordable_rounds(method, ledger.left(), ids)
    found = fit_rows(model, ids, probe.rows, centres, within, rng, ledger, deadline)
    drift = float(np.abs(found.centres - centres).sum(1).mean())
    return Fitted(found.rows, drift), found.centres, found.stop
