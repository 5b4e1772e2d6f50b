"""The rule for missing rows: one that asks the model nothing, or rows that are probed, and then perhaps fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Empirical, Fitted, Null, Probe, Uniform
from wfalens.automaton.rows import rows_from_keys
from wfalens.extraction.completion.fitting import fit_rows
from wfalens.extraction.completion.queries import Ledger
from wfalens.extraction.completion.questions import Questions
from wfalens.extraction.evidence.transitions import TransitionCounts
from wfalens.extraction.options import CORPUS
from wfalens.models.contract import StepwiseClassifier
from wfalens.progress import Progress
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor


def asks_model(extractor: Extractor) -> bool:
    """Whether the completion learns its rows from the model."""
    return extractor.completion in (Probe.name, Fitted.name)


def rule(extractor: Extractor, self_transition_share: float) -> Completion:
    """The completions that ask the model nothing."""
    if extractor.completion == Null.name:
        return Null()
    if extractor.completion == Uniform.name:
        return Uniform()
    beta = 1 - self_transition_share if extractor.beta == CORPUS else float(extractor.beta)
    return Empirical(beta, extractor.distance)


def probed(extractor: Extractor, questions: Questions, answers: TransitionCounts, alphabet: int) -> Probe:
    """The completion by what the model answered."""
    rows = rows_from_keys(answers.keys, answers.counts, alphabet, answers.states)
    return Probe(extractor.strength, questions.representatives.per_state, rows)


def fitted(
    extractor: Extractor,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    probe: Probe,
    centres: NDArray[np.float64],
    questions: Questions,
    ledger: Ledger,
    progress: Progress,
) -> tuple[Fitted, NDArray[np.float64]]:
    """Rows that are fitted from probed ones, and the centres (n, C), which fitting moves."""
    within = extractor.fitting.within(ledger.left(), ids)
    rows, moved = fit_rows(model, ids, probe.rows, centres, within, questions.rng, progress, ledger)
    return Fitted(rows, float(np.abs(moved - centres).sum(1).mean())), moved
