"""The search for what is left open: in which views, over what, and for which share of the queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.build import build
from wfalens.extraction.choice.tuning import ALPHAS, BETAS, FIT_LADDER, LADDER, Tuning, choose
from wfalens.extraction.completion.queries import LOOK_AHEAD_SHARE, SEARCH_SHARE, Ledger
from wfalens.extraction.completion.questions import Attempt
from wfalens.extraction.evidence.count_parts import CountParts
from wfalens.extraction.evidence.counting import evidence_of
from wfalens.extraction.options import AUTO, CORPUS, Options
from wfalens.extraction.plan import Plan
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import ABSTRACTIONS, named_abstraction
from wfalens.extraction.states.views import Outputs, Seen, View, most_look_ahead_queries, see_in
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
from wfalens.models.traces import initial_output
from wfalens.passes.run import Session
from wfalens.passes.tally import Tally
from wfalens.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Settled:
    """Options that leave nothing open, what was seen of the texts in their view, and how the search went."""

    options: Options
    seen: Seen
    view: View
    tuning: dict[str, Any] | None  # None: nothing was open


def settle(
    options: Options, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, session: Session
) -> Settled:
    """Look at the texts once, in all views that are to choose from, and choose what is "auto"."""
    given = options.states.abstraction
    names = _views(model, ids, ledger) if given == AUTO else (given,)
    views = [named_abstraction(name).view(model, ids, stream_of(options.seed, Step.VIEW), ledger) for name in names]
    ledger.texts += len(ids.values)
    seen = see_in(model, ids, views, session.progress)
    if not options.is_open:
        return Settled(options, seen[0], views[0], None)
    candidates = [replace(options, states=replace(options.states, abstraction=name)) for name in names]
    searches = [
        _search(each, model, look, view, len(names), ledger, session)
        for each, look, view in zip(candidates, seen, views, strict=True)
    ]
    tuning = Tuning.best(searches)
    at = next(number for number, search in enumerate(searches) if search.chosen is tuning.chosen)
    chosen = tuning.chosen
    settled = options.settled(chosen.states, chosen.abstraction, chosen.alpha, chosen.beta)
    return Settled(settled, seen[at], views[at], tuning.to_json())


def most_states(options: Options) -> int:
    """The largest number that is tried, or the one that is given."""
    return max(_ladder(options))


def _ladder(options: Options) -> tuple[int, ...]:
    """The numbers of states that are tried."""
    number = options.states.number
    if number != AUTO:
        return (int(number),)
    return FIT_LADDER if options.completion.fits else LADDER


def _views(model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger) -> tuple[str, ...]:
    """The views to choose from: looking ahead needs a model that can be stepped, and queries."""
    most = ledger.share(LOOK_AHEAD_SHARE)
    looks = isinstance(model, SteppableClassifier) and (most is None or most_look_ahead_queries(ids) <= most)
    return tuple(ABSTRACTIONS) if looks else (Outputs.name,)


def _search(
    options: Options,
    model: StepwiseClassifier,
    seen: Seen,
    view: View,
    views: int,
    ledger: Ledger,
    session: Session,
) -> Tuning:
    """The search in one view, of so many.

    For speed it leaves out augmented texts and the fitting of rows, which gains alike for all settings.
    """
    wanted, completion = options.states, options.completion
    ladder = _ladder(options)
    beta = CORPUS if completion.beta == AUTO else completion.beta
    plain = replace(options, completion=replace(completion, alpha=0.0, beta=beta, augmentation=None))
    prior = initial_output(model, wanted.initial)

    def attempt(states: int, part: Seen, words: NDArray[np.int32]) -> StochasticWFA:
        share = SEARCH_SHARE / views / len(ladder)
        tried = replace(plain, states=replace(wanted, number=states))
        here = session.aside()
        plan = Plan.of(tried, view, part, prior, ledger, here.progress)
        evidence = CountParts(here.parts)
        evidence.add([0], evidence_of(part, plan.path, plan.states, Tally(len(part.ids), len(part.ids.values))))
        return build(plan, evidence, model, part.ids, here, {}, Attempt(words, share))

    return choose(
        seen,
        wanted.abstraction_name,
        attempt,
        ladder,
        ALPHAS if completion.alpha == AUTO else (float(completion.alpha),),
        BETAS if completion.beta == AUTO else (),
        options.choice.budget,
        stream_of(options.seed, Step.SEARCH),
        session.progress,
    )
