"""From states and statistics to a stochastic automaton: rows, centres, completion (paper §3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Completion, Fitted, Probe
from wfalens.automaton.rows import rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.balance import balanced
from wfalens.extraction.comparing import Rates
from wfalens.extraction.completion.completion_rule import COMPLETION_RULES
from wfalens.extraction.completion.fitting import affordable_rounds, fit_rows
from wfalens.extraction.completion.probing import probe_rows
from wfalens.extraction.completion.questions import Attempt, Questions
from wfalens.extraction.counts.statistics import ObservedRows, TextStatistics, observed_rows
from wfalens.extraction.method import Request
from wfalens.extraction.query_budget import PROBING, SEARCH
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.views import continuations_of
from wfalens.extraction.stochastic.count_files import probe_on_workers
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.extraction.stochastic.state_space import StateSpace
from wfalens.extraction.stochastic.tuning import Delivered, Tuning
from wfalens.ragged import Ragged


def build(
    space: StateSpace,
    statistics: TextStatistics,
    request: Request,
    ids: Ragged[np.int32],
    provenance: dict[str, Any],
    attempt: Attempt | None = None,
    groups: NDArray[np.int64] | None = None,
) -> StochasticWFA:
    """The automaton of all statistics; `ids` are the texts that the states were formed from.

    An automaton that is only tried has rows for some words, and none of them is fitted. Where a search held out texts,
    rows are not fitted to them, and fitted rows that are worse there than the probed ones are left out. `groups` are
    the classes of the texts by which rows are fitted evenly; (texts,)
    """
    method, model, words = space.method, request.model, len(request.model.encoder.vocabulary)
    observed = observed_rows(statistics, words, method.augmentation.weight if method.augmentation else 1.0)
    completion: Completion
    asked: NDArray[np.int32] | None = None
    rng = stream_of(request.seed, Step.PROBING)  # continues in fitting
    if isinstance(method, Stochastic):
        with space.budget.recording_errors():
            completion, asked = _probed(method, space, observed, request, ids, rng, attempt)
    else:
        completion = COMPLETION_RULES[method.completion].complete(method, observed)
    wfa = StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=_centres(statistics, observed.visits, space),
        rows=observed.rows(asked),
        completion=completion,
        alpha=float(method.alpha),
        state_visits=observed.visits,
        word_counts=observed.word_counts,
        provenance=provenance,
    )
    if attempt is not None:
        return wfa
    tuning = space.tuning
    if isinstance(method, Stochastic) and method.fits and isinstance(completion, Probe):
        with space.budget.recording_errors():
            wfa, tuning = _fitted(wfa, completion, method, space, request, groups, rng)
    if tuning is not None:
        wfa.provenance["tuning"] = tuning.to_dict()
    wfa.provenance["queries"] = space.budget.to_dict()
    return wfa


def _probed(
    method: Stochastic,
    space: StateSpace,
    observed: ObservedRows,
    request: Request,
    ids: Ragged[np.int32],
    rng: np.random.Generator,
    attempt: Attempt | None,
) -> tuple[Probe, NDArray[np.int32] | None]:
    """The completion by what the model answered, and the words that it was asked about (None: all)."""
    model, words = request.model, len(observed.word_counts)
    questions = Questions.chosen(
        method.representatives,
        method.hardness if method.fits else None,
        model,
        ids,
        space.path,
        observed.word_counts,
        rng,
        space.budget,
        attempt,
        continuations_of(space.view),
    )
    space.budget.enter(PROBING if attempt is None else SEARCH, questions.queries(model))
    if request.files is None or attempt is not None:
        progress.start("probing the model")
        answers = probe_rows(
            model, questions.representatives, space.states, space.view, questions.words, questions.hardness
        )
        progress.finish()
    else:
        answers = probe_on_workers(questions, space.states, space.view, model, request.files)
    rows = rows_from_keys(answers.keys, answers.counts, words, answers.states)
    asked = questions.words if len(questions.words) < words - 1 else None
    return Probe(method.strength, questions.representatives.per_state, rows), asked


def _fitted(
    start: StochasticWFA,
    probe: Probe,
    method: Stochastic,
    space: StateSpace,
    request: Request,
    groups: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> tuple[StochasticWFA, Tuning | None]:
    """The automaton with fitted rows, or as it is where these were worse on held-out texts; and how they compared."""
    held, tuning, ids = space.held, space.tuning, request.ids
    known = np.arange(len(ids)) if held is None else held.others(len(ids))
    texts = balanced(ids.take(known), None if groups is None else groups[known])
    within = affordable_rounds(method, space.budget.left(), texts)
    found = fit_rows(request.model, texts, probe.rows, start.centres, within, rng, space.budget, request.deadline)
    drift = float(np.abs(found.centres - start.centres).sum(1).mean())
    wfa = start.with_rule(0.0, Fitted(found.rows, drift), found.centres)
    if found.stop is not None:
        start.provenance["stopped"] = wfa.provenance["stopped"] = found.stop.to_dict()
    if held is None or tuning is None:
        return wfa, tuning
    chosen = Rates(tuning.chosen.cr, tuning.chosen.jsd)
    delivered = Delivered.better(held.measured(wfa, ids), chosen, tuning.texts, tuning.aim)
    if delivered.rows == Probe.name:
        progress.say(
            f"fitted rows have a CR of {delivered.fit.cr:.3f} on {tuning.texts:,} held-out texts, less faithful than "
            f"the probed ones that they began from ({chosen.cr:.3f}), which are kept"
        )
    return wfa if delivered.rows == Fitted.name else start, replace(tuning, delivered=delivered)


def _centres(statistics: TextStatistics, visits: NDArray[np.int64], space: StateSpace) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state; where the texts never were, that of the sample. -> (n, C)"""
    centres = statistics.mean_outputs(visits)
    centres[visits == 0] = space.centres[visits == 0]
    centres[0] = space.centres[0]
    centres /= centres.sum(1, keepdims=True)  # float32 outputs sum to 1 only to 1e-7
    return centres
