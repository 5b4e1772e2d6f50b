"""From states and statistics to a stochastic automaton: rows, centres, completion (paper §3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Completion, Fitted, Probe
from wfalens.automaton.rows import rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.completion import fitting, probing
from wfalens.extraction.completion.completion_rule import COMPLETION_RULES
from wfalens.extraction.completion.probing import Attempt
from wfalens.extraction.held_out import Rates, balanced, rates, select_best
from wfalens.extraction.method import Request, Step, stream_of
from wfalens.extraction.query_budget import PROBING, SEARCH
from wfalens.extraction.states.views import continuations_of
from wfalens.extraction.stochastic.count_files import probe_on_workers
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.extraction.stochastic.tuning import StateSpace
from wfalens.extraction.transitions import ObservedRows, TextStatistics, observed_rows
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
    if space.tuning is not None:
        wfa.provenance["tuning"] = space.tuning.to_dict()
    if isinstance(method, Stochastic) and method.fits and isinstance(completion, Probe):
        with space.budget.recording_errors():
            wfa = _fitted(wfa, completion, method, space, request, groups, rng)
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
    model, counts, budget, behind = request.model, observed.word_counts, space.budget, continuations_of(space.view)
    candidates = probing.choose_representatives(ids, space.path, method.representatives, rng)
    words, chosen = probing.affordable_questions(model, counts, candidates, budget, behind, attempt, fits=method.fits)
    budget.enter(PROBING if attempt is None else SEARCH, probing.probing_queries(model, chosen, len(words), behind))
    hardness = method.hardness if method.fits else None
    if request.files is None or attempt is not None:
        progress.start("probing the model")
        answers = probing.probe_rows(model, chosen, space.states, space.view, words, hardness)
        progress.finish()
    else:
        answers = probe_on_workers(model, chosen, space.states, space.view, words, hardness, request.files.run)
    rows = rows_from_keys(answers.keys, answers.counts, len(counts), answers.states)
    return Probe(method.strength, chosen.per_state, rows), words if len(words) < len(counts) - 1 else None


def _fitted(
    start: StochasticWFA,
    probe: Probe,
    method: Stochastic,
    space: StateSpace,
    request: Request,
    groups: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> StochasticWFA:
    """The automaton with fitted rows, or as it is where these were worse on held-out texts."""
    tuning, ids, known = space.tuning, request.ids, np.arange(len(request.ids))
    if tuning is not None:
        known = np.setdiff1d(known, tuning.held.numbers)
    texts = balanced(ids.take(known), None if groups is None else groups[known])
    within = fitting.affordable_rounds(method, space.budget.left(), texts)
    found = fitting.fit_rows(
        request.model, texts, probe.rows, start.centres, within, rng, space.budget, request.deadline
    )
    drift = float(np.abs(found.centres - start.centres).sum(1).mean())
    wfa = start.with_rule(0.0, Fitted(found.rows, drift), found.centres)
    delivered = wfa
    if tuning is not None:
        held, texts_held = tuning.held, len(tuning.held.numbers)
        fit, probed = rates(wfa, held.ids, held.targets), Rates(tuning.chosen.cr, tuning.chosen.jsd)
        delivered = (wfa, start)[select_best([fit, probed], texts_held, tuning.aim)]
        record = {"rows": delivered.completion.name, "fit": fit._asdict(), "probe": probed._asdict()}
        delivered.provenance["tuning"]["delivered"] = record
        if delivered is start:
            progress.say(
                f"fitted rows have a CR of {fit.cr:.3f} on {texts_held:,} held-out texts, less faithful than the "
                f"probed ones that they began from ({probed.cr:.3f}), which are kept"
            )
    if found.stop is not None:
        delivered.provenance["stopped"] = found.stop.to_dict()
    return delivered


def _centres(statistics: TextStatistics, visits: NDArray[np.int64], space: StateSpace) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state; where the texts never were, that of the sample. -> (n, C)"""
    centres = statistics.mean_outputs(visits)
    centres[visits == 0] = space.centres[visits == 0]
    centres[0] = space.centres[0]
    centres /= centres.sum(1, keepdims=True)  # float32 outputs sum to 1 only to 1e-7
    return centres
