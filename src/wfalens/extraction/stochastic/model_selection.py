"""The search for what is left open: in which views, over what, and for which share of the queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.comparing import aim_for
from wfalens.extraction.completion.completion_rule import CORPUS
from wfalens.extraction.completion.questions import Attempt
from wfalens.extraction.counts.statistics import TextStatistics
from wfalens.extraction.held_out import comparison_lengths
from wfalens.extraction.method import AUTO, Request
from wfalens.extraction.query_budget import LOOK_AHEAD_SHARE, SEARCH_SHARE, QueryBudget
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import ABSTRACTIONS, abstraction_name, named_abstraction
from wfalens.extraction.states.views import Outputs, PrefixOutputs, View, affordable_continuations, trace_prefixes_in
from wfalens.extraction.stochastic.build import build
from wfalens.extraction.stochastic.memory_budget import MemoryBudget, free_share
from wfalens.extraction.stochastic.paper import StateMethod, Stochastic
from wfalens.extraction.stochastic.size_grid import SizeGrid, representatives_for
from wfalens.extraction.stochastic.state_space import StateSpace
from wfalens.extraction.stochastic.tuning import ALPHAS, BETAS, Held, Trial, Tuning, choose, split
from wfalens.models.contract import PrefixClassifier, StatefulClassifier, is_language_model
from wfalens.ragged import Ragged

AnyMethod = TypeVar("AnyMethod", bound=StateMethod)
_SEARCHED = 1 / 3  # of the time that is left, for the search in each view


@dataclass(frozen=True, eq=False)
class Selected:
    """A method that leaves nothing open, what was seen of the texts in their view, and how the search went."""

    method: StateMethod
    seen: PrefixOutputs
    view: View
    tuning: Tuning | None  # None: nothing was open
    held: Held | None  # the texts on which it was chosen


def select_model(
    method: StateMethod,
    request: Request,
    budget: QueryBudget,
) -> Selected:
    """Trace the texts once, in all views that are to choose from, and choose what is "auto"."""
    model, ids, seed, given = request.model, request.ids, request.seed, method.abstraction
    names = _views(model, ids, budget, whole=request.files is None) if given == AUTO else (given,)
    views = [named_abstraction(name).view(model, ids, stream_of(seed, Step.VIEW), budget) for name in names]
    budget.texts += len(ids.values)
    seen = trace_prefixes_in(model, ids, views)
    if not method.is_open:
        return Selected(method, seen[0], views[0], None, None)
    candidates = [replace(method, abstraction=name) for name in names]
    searches = [
        _search(each, request, look, view, len(names), budget)
        for each, look, view in zip(candidates, seen, views, strict=True)
    ]
    tuning = Tuning.best(searches)
    at = next(number for number, search in enumerate(searches) if search.chosen is tuning.chosen)
    chosen = tuning.chosen
    fixed = _chosen(_sized(method, chosen.states, model), chosen)
    _, held = split(len(ids), stream_of(seed, Step.SEARCH))
    return Selected(fixed, seen[at], views[at], tuning, Held(held, _compared(model, seen[at].take(held)).last))


def _chosen(method: StateMethod, trial: Trial) -> StateMethod:
    """The same with what was chosen in place of what was open; the number of states is there already."""
    changed: dict[str, Any] = {"alpha": trial.alpha}
    if method.abstraction == AUTO:
        changed["abstraction"] = trial.abstraction
    if method.open_beta:
        changed["beta"] = CORPUS if trial.beta is None else trial.beta
    return replace(method, **changed)


def _compared(model: PrefixClassifier, seen: PrefixOutputs) -> PrefixOutputs:
    """What was seen of the texts as far as automata are compared by them."""
    return seen.cut(comparison_lengths(model, seen.ids))


def most_representatives(method: Stochastic, model: PrefixClassifier, budget: QueryBudget) -> int:
    """Of all states together, of as many states as are tried at most or are given."""
    grid = _grid(method, model, budget)
    return max(_sized(method, size, model).representatives * size for size in grid.sizes)


def _grid(method: StateMethod, model: PrefixClassifier, budget: QueryBudget) -> SizeGrid:
    """The numbers of states that are tried."""
    number = method.states
    if number != AUTO:
        return SizeGrid.single(int(number))
    classes, limited = len(model.class_names), budget.limit is not None
    if is_language_model(model) and not method.fits:
        return SizeGrid.for_language_model(classes, limited=limited)
    return SizeGrid.of(classes, fits=method.fits, limited=limited)


def _sized(method: AnyMethod, states: int, model: PrefixClassifier) -> AnyMethod:
    """The same with a number of states; where it was open, many states get few representatives each."""
    if method.states == AUTO and isinstance(method, Stochastic):
        each = representatives_for(method.representatives, states, len(model.encoder.vocabulary))
        return replace(method, states=states, max_bytes=None, representatives=each)
    return replace(method, states=states, max_bytes=None)


def _views(model: PrefixClassifier, ids: Ragged[np.int32], budget: QueryBudget, *, whole: bool) -> tuple[str, ...]:
    """The views to choose from: looking ahead takes queries, of a model that cannot be stepped for every prefix."""
    pays = affordable_continuations(model, ids, budget.share(LOOK_AHEAD_SHARE)) > 0
    looks = pays and (whole or isinstance(model, StatefulClassifier))
    return tuple(ABSTRACTIONS) if looks else (Outputs.name,)


def _search(
    method: StateMethod,
    request: Request,
    seen: PrefixOutputs,
    view: View,
    views: int,
    budget: QueryBudget,
) -> Tuning:
    """The search in one view, of so many.

    For speed it leaves out augmented texts and the fitting of rows; whether that gains is seen in the end.
    """
    model = request.model
    grid = _grid(method, model, budget)
    open_beta: dict[str, Any] = {"beta": CORPUS} if method.open_beta else {}
    plain = replace(method, alpha=0.0, augmentation=None, **open_beta)
    words, (points, width) = len(model.encoder.vocabulary), seen.points.shape
    memory = MemoryBudget(free_share(request.files), words, method.fits, (points, width), method.sample)

    def attempt(states: int, part: PrefixOutputs, words: NDArray[np.int32]) -> StochasticWFA:
        share = SEARCH_SHARE / views / grid.usual
        space = StateSpace.of(_sized(plain, states, model), request, view, part, budget)
        statistics = TextStatistics.of(part, space.path, space.states)
        return build(space, statistics, request, part.ids, {}, Attempt(words, share))

    return choose(
        seen,
        partial(_compared, model),
        abstraction_name(method.abstraction),
        attempt,
        grid,
        memory,
        ALPHAS if method.alpha == AUTO or method.fits else (float(method.alpha),),
        BETAS if method.open_beta else (),
        method.max_bytes,
        stream_of(request.seed, Step.SEARCH),
        request.deadline.part(_SEARCHED),
        aim_for(model),
    )
