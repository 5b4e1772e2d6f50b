"""From a plan and evidence to a stochastic automaton: rows, centres, completion (paper §3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Fitted
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.completion.probe_pass import probe
from wfalens.extraction.completion.queries import PROBING, SEARCH
from wfalens.extraction.completion.questions import Attempt, Questions
from wfalens.extraction.completion.rules import fitted, probed, rule
from wfalens.extraction.evidence.assembly import assembled
from wfalens.extraction.evidence.count_parts import CountParts
from wfalens.extraction.evidence.sums import mean_outputs
from wfalens.extraction.plan import Plan
from wfalens.extraction.randomness import Step, stream_of
from wfalens.models.contract import StepwiseClassifier
from wfalens.passes.run import Session
from wfalens.ragged import Ragged


def build(
    plan: Plan,
    evidence: CountParts,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    session: Session,
    provenance: dict[str, Any],
    attempt: Attempt | None = None,
) -> StochasticWFA:
    """The automaton of all evidence; `ids` are the texts that the plan was made from.

    An automaton that is only tried has rows for some words, and none of them is fitted.
    """
    options, ledger, words = plan.options.completion, plan.ledger, len(model.encoder.vocabulary)
    weight = options.augmentation.weight if options.augmentation else 1.0
    observed = assembled(evidence, words, len(plan.states), weight, session)
    visits = observed.visits
    visits[0] = evidence.tally().texts  # where every text starts
    centres = _centres(evidence, visits, plan)
    completion: Completion
    asked: NDArray[np.int32] | None = None
    if options.asks_model:
        rng = stream_of(plan.options.seed, Step.PROBING)  # goes on in fitting
        hardness = options.fitting.hardness if options.fits else None
        questions = Questions.chosen(
            options.representatives,
            hardness,
            model,
            ids,
            plan.path,
            observed.word_counts,
            rng,
            ledger,
            session.progress,
            attempt,
        )
        ledger.enter(PROBING if attempt is None else SEARCH, questions.queries(model))
        answers = probe(questions, plan.states, plan.view, model, session)
        completion = probed(options.strength, questions, answers, words)
        asked = questions.words if len(questions.words) < words - 1 else None
        if options.fits and attempt is None:
            completion, centres = fitted(
                options.fitting, model, ids, completion, centres, rng, ledger, session.progress
            )
    else:
        completion = rule(options, observed.self_transition_share)
    provenance["queries"] = ledger.to_json()
    return StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=centres,
        rows=observed.rows(asked),
        completion=completion,
        alpha=0.0 if isinstance(completion, Fitted) else float(options.alpha),
        state_visits=visits,
        word_counts=observed.word_counts,
        provenance=provenance,
    )


def _centres(evidence: CountParts, visits: NDArray[np.int64], plan: Plan) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state; where the texts never were, that of the sample. -> (n, C)"""
    centres = mean_outputs(evidence.output_sums(), visits)
    centres[visits == 0] = plan.centres[visits == 0]
    centres[0] = plan.centres[0]
    centres /= centres.sum(1, keepdims=True)  # float32 outputs sum to 1 only to 1e-7
    return centres
