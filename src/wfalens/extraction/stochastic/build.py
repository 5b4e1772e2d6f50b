"""From a plan and evidence to a stochastic automaton: rows, centres, completion (paper §3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Completion, Fitted, Probe
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.balance import evened
from wfalens.extraction.comparing import Rates
from wfalens.extraction.completion.probe_pass import probe
from wfalens.extraction.completion.questions import Attempt, Questions
from wfalens.extraction.completion.rules import fitted, probed, rule
from wfalens.extraction.counts.assembly import assembled
from wfalens.extraction.counts.count_parts import CountParts
from wfalens.extraction.counts.fixed_point import mean_outputs
from wfalens.extraction.query_budget import PROBING, SEARCH
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.views import continuations_of
from wfalens.extraction.stochastic.paper import Stochastic
from wfalens.extraction.stochastic.plan import Plan
from wfalens.extraction.stochastic.tuning import Delivered, Tuning
from wfalens.models.contract import PrefixClassifier
from wfalens.ragged import Ragged
from wfalens.scale.run_config import Session


def build(
    plan: Plan,
    evidence: CountParts,
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    session: Session,
    provenance: dict[str, Any],
    attempt: Attempt | None = None,
    groups: NDArray[np.int64] | None = None,
) -> StochasticWFA:
    """The automaton of all evidence; `ids` are the texts that the plan was made from.

    An automaton that is only tried has rows for some words, and none of them is fitted. Where a search held out texts,
    rows are not fitted to them, and fitted rows that are worse there than the probed ones are left out. `groups` are
    the classes of the texts by which rows are fitted evenly; (texts,)
    """
    method, ledger, words = plan.method, plan.ledger, len(model.encoder.vocabulary)
    weight = method.augmentation.weight if method.augmentation else 1.0
    observed = assembled(evidence, words, len(plan.states), weight, session)
    visits = observed.visits
    visits[0] = evidence.tally().texts  # where every text starts
    centres = _centres(evidence, visits, plan)
    completion: Completion
    asked: NDArray[np.int32] | None = None
    if isinstance(method, Stochastic):
        with ledger.telling():
            rng = stream_of(plan.request.seed, Step.PROBING)  # goes on in fitting
            hardness = method.hardness if method.fits else None
            questions = Questions.chosen(
                method.representatives,
                hardness,
                model,
                ids,
                plan.path,
                observed.word_counts,
                rng,
                ledger,
                attempt,
                continuations_of(plan.view),
            )
            ledger.enter(PROBING if attempt is None else SEARCH, questions.queries(model))
            answers = probe(questions, plan.states, plan.view, model, session)
            completion = probed(method.strength, questions, answers, words)
            asked = questions.words if len(questions.words) < words - 1 else None
    else:
        completion = rule(method, observed.self_transition_share)
    wfa = StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=centres,
        rows=observed.rows(asked),
        completion=completion,
        alpha=float(method.alpha),
        state_visits=visits,
        word_counts=observed.word_counts,
        provenance=provenance,
    )
    if attempt is not None:
        return wfa
    tuning = plan.tuning
    if method.fits and isinstance(completion, Probe):
        with ledger.telling():
            wfa, tuning = _fitted(wfa, completion, plan, model, ids, groups, rng)
    if tuning is not None:
        wfa.provenance["tuning"] = tuning.to_json()
    wfa.provenance["queries"] = ledger.to_json()
    return wfa


def _fitted(
    start: StochasticWFA,
    probe: Probe,
    plan: Plan,
    model: PrefixClassifier,
    ids: Ragged[np.int32],
    groups: NDArray[np.int64] | None,
    rng: np.random.Generator,
) -> tuple[StochasticWFA, Tuning | None]:
    """The automaton with fitted rows, or as it is where these were worse on held-out texts; and what was seen there."""
    held, tuning = plan.held, plan.tuning
    known = np.arange(len(ids)) if held is None else held.others(len(ids))
    texts = evened(ids.take(known), None if groups is None else groups[known])
    assert isinstance(plan.method, Stochastic)  # noqa: S101 - others do not fit rows
    completion, centres, stop = fitted(
        plan.method, model, texts, probe, start.centres, rng, plan.ledger, plan.request.deadline
    )
    wfa = start.with_rule(0.0, completion, centres)
    if stop is not None:
        start.provenance["stopped"] = wfa.provenance["stopped"] = stop.to_json()
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


def _centres(evidence: CountParts, visits: NDArray[np.int64], plan: Plan) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state; where the texts never were, that of the sample. -> (n, C)"""
    centres = mean_outputs(evidence.output_sums(), visits)
    centres[visits == 0] = plan.centres[visits == 0]
    centres[0] = plan.centres[0]
    centres /= centres.sum(1, keepdims=True)  # float32 outputs sum to 1 only to 1e-7
    return centres
