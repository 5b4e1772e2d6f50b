"""The search for what is left open: in which views, over what, and for which share of the queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.comparing import aim_for
from wfalens.extraction.completion.questions import Attempt
from wfalens.extraction.counts.count_parts import CountParts
from wfalens.extraction.counts.counting import evidence_of
from wfalens.extraction.held_out import judged_lengths
from wfalens.extraction.method import AUTO, Request
from wfalens.extraction.query_budget import LOOK_AHEAD_SHARE, SEARCH_SHARE, QueryBudget
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import ABSTRACTIONS, abstraction_name, named_abstraction
from wfalens.extraction.states.views import Outputs, PrefixOutputs, View, affordable_continuations, see_in
from wfalens.extraction.stochastic.build import build
from wfalens.extraction.stochastic.memory_budget import Room
from wfalens.extraction.stochastic.paper import CORPUS, StateMethod, Stochastic
from wfalens.extraction.stochastic.plan import Plan
from wfalens.extraction.stochastic.size_grid import Ladder, representatives_for
from wfalens.extraction.stochastic.tuning import ALPHAS, BETAS, Held, Trial, Tuning, choose, split
from wfalens.models.contract import PrefixClassifier, StatefulClassifier, is_language_model
from wfalens.models.inference import initial_output
from wfalens.ragged import Ragged
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.run_config import Session

AnyMethod = TypeVar("AnyMethod", bound=StateMethod)
_SEARCHED = 1 / 3  # of the time that is left, for the search in each view


@dataclass(frozen=True, eq=False)
class Settled:
    """Options that leave nothing open, what was seen of the texts in their view, and how the search went."""

    method: StateMethod
    seen: PrefixOutputs
    view: View
    tuning: Tuning | None  # None: nothing was open
    held: Held | None  # the texts on which it was chosen


def settle(
    method: StateMethod,
    request: Request,
    ids: Ragged[np.int32],
    ledger: QueryBudget,
    session: Session,
    *,
    whole: bool,
) -> Settled:
    """Look at the texts once, in all views that are to choose from, and choose what is "auto".

    whole   these are all texts; else others follow, which a model is not asked about one prefix at a time
    """
    model, seed, given = request.model, request.seed, method.abstraction
    names = _views(model, ids, ledger, whole=whole) if given == AUTO else (given,)
    views = [named_abstraction(name).view(model, ids, stream_of(seed, Step.VIEW), ledger) for name in names]
    ledger.texts += len(ids.values)
    seen = see_in(model, ids, views)
    if not method.is_open:
        return Settled(method, seen[0], views[0], None, None)
    candidates = [replace(method, abstraction=name) for name in names]
    searches = [
        _search(each, request, look, view, len(names), ledger, session)
        for each, look, view in zip(candidates, seen, views, strict=True)
    ]
    tuning = Tuning.best(searches)
    at = next(number for number, search in enumerate(searches) if search.chosen is tuning.chosen)
    chosen = tuning.chosen
    settled = _chosen(_sized(method, chosen.states, model), chosen)
    _, held = split(len(ids), stream_of(seed, Step.SEARCH))
    return Settled(settled, seen[at], views[at], tuning, Held(held, _judged(model, seen[at].take(held)).last))


def _chosen(method: StateMethod, trial: Trial) -> StateMethod:
    """The same with what was chosen in place of what was open; the number of states is there already."""
    changed: dict[str, Any] = {"alpha": trial.alpha}
    if method.abstraction == AUTO:
        changed["abstraction"] = trial.abstraction
    if method.open_beta:
        changed["beta"] = CORPUS if trial.beta is None else trial.beta
    return replace(method, **changed)


def _judged(model: PrefixClassifier, seen: PrefixOutputs) -> PrefixOutputs:
    """What was seen of the texts as far as automata are judged by them."""
    return seen.cut(judged_lengths(model, seen.ids))


def most_representatives(method: Stochastic, model: PrefixClassifier, ledger: QueryBudget) -> int:
    """Of all states together, of as many states as are tried at most or are given."""
    ladder = _ladder(method, model, ledger)
    return max(_sized(method, rung, model).representatives * rung for rung in ladder.rungs)


def _ladder(method: StateMethod, model: PrefixClassifier, ledger: QueryBudget) -> Ladder:
    """The numbers of states that are tried."""
    number = method.states
    if number != AUTO:
        return Ladder.single(int(number))
    classes, limited = len(model.class_names), ledger.limit is not None
    if is_language_model(model) and not method.fits:
        return Ladder.speaking(classes, limited=limited)
    return Ladder.of(classes, fits=method.fits, limited=limited)


def _sized(method: AnyMethod, states: int, model: PrefixClassifier) -> AnyMethod:
    """The same with a number of states; where it was open, many states get few representatives each."""
    if method.states == AUTO and isinstance(method, Stochastic):
        each = representatives_for(method.representatives, states, len(model.encoder.vocabulary))
        return replace(method, states=states, max_bytes=None, representatives=each)
    return replace(method, states=states, max_bytes=None)


def _views(model: PrefixClassifier, ids: Ragged[np.int32], ledger: QueryBudget, *, whole: bool) -> tuple[str, ...]:
    """The views to choose from: looking ahead takes queries, of a model that cannot be stepped for every prefix."""
    pays = affordable_continuations(model, ids, ledger.share(LOOK_AHEAD_SHARE)) > 0
    looks = pays and (whole or isinstance(model, StatefulClassifier))
    return tuple(ABSTRACTIONS) if looks else (Outputs.name,)


def _search(
    method: StateMethod,
    request: Request,
    seen: PrefixOutputs,
    view: View,
    views: int,
    ledger: QueryBudget,
    session: Session,
) -> Tuning:
    """The search in one view, of so many.

    For speed it leaves out augmented texts and the fitting of rows; whether that gains is seen in the end.
    """
    model = request.model
    ladder = _ladder(method, model, ledger)
    open_beta: dict[str, Any] = {"beta": CORPUS} if method.open_beta else {}
    plain = replace(method, alpha=0.0, augmentation=None, **open_beta)
    prior = initial_output(model, method.initial)
    words, (points, width) = len(model.encoder.vocabulary), seen.points.shape
    room = Room(Room.within(session), words, method.fits, (points, width), method.sample)

    def attempt(states: int, part: PrefixOutputs, words: NDArray[np.int32]) -> StochasticWFA:
        share = SEARCH_SHARE / views / ladder.usual
        tried = _sized(plain, states, model)
        here = session.aside()
        plan = Plan.of(tried, request, view, part, prior, ledger)
        evidence = CountParts(here.parts)
        evidence.add([0], evidence_of(part, plan.path, plan.states, RowCounts(len(part.ids), len(part.ids.values))))
        return build(plan, evidence, model, part.ids, here, {}, Attempt(words, share))

    return choose(
        seen,
        partial(_judged, model),
        abstraction_name(method.abstraction),
        attempt,
        ladder,
        room,
        ALPHAS if method.alpha == AUTO or method.fits else (float(method.alpha),),
        BETAS if method.open_beta else (),
        method.max_bytes,
        stream_of(request.seed, Step.SEARCH),
        request.deadline.part(_SEARCHED),
        aim_for(model),
    )
