"""A stochastic extraction from end to end: states, statistics, automaton (paper §3).

On the texts in memory (of files, a sample) all is decided that an extraction decides: settings, states,
representatives, fitted rows. If these are all texts, their statistics make the automaton; else those of all blocks.
"""

from __future__ import annotations

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.balance import groups_of
from wfalens.extraction.completion.augmentation import Resampling
from wfalens.extraction.cost_estimate import most_probing, most_training, say_cost, within
from wfalens.extraction.counts.statistics import TextStatistics
from wfalens.extraction.method import AUTO, Request
from wfalens.extraction.query_budget import AUGMENTATION, LOOK_AHEAD_SHARE, SEARCH_SHARE, QueryBudget
from wfalens.extraction.states.continuations import MOST_ASKED
from wfalens.extraction.states.views import LookAhead, trace_prefixes
from wfalens.extraction.stochastic.build import build
from wfalens.extraction.stochastic.count_files import count_files
from wfalens.extraction.stochastic.model_selection import most_representatives, select_model
from wfalens.extraction.stochastic.paper import StateMethod, Stochastic
from wfalens.extraction.stochastic.state_space import StateSpace
from wfalens.models.checks import check_causal
from wfalens.threads import model_threads_limited


def extract_stochastic(method: StateMethod, request: Request) -> StochasticWFA:
    """An extraction from end to end."""
    method = method.resolved(request)
    model, ids, files = request.model, request.ids, request.files
    provenance = method.provenance(request)
    with model_threads_limited():
        check_causal(model, ids)
        _say_cost(method, request)
        budget, resampling = request.new_budget(), Resampling.of(method.augmentation, model.encoder, request.seed)
        space, statistics = _counted(method, request, budget, resampling)
        if files is not None:
            counted = count_files(space, request, files, resampling)
            statistics, rows = counted.statistics, counted.rows
            if rows.texts == 0:
                name = request.texts.corpus["name"]
                raise InputError(f"{name}: there is no text with a word in it to extract from", code="no-words")
            rows.say_cut(model.encoder.max_length)
            read = {"texts": rows.texts, "tokens": rows.tokens, "left_out": rows.left_out}
            provenance["corpus"] = request.texts.corpus | read | {"first_left_out": rows.reasons}
        return build(space, statistics, request, ids, provenance, groups=groups_of(request, budget))


def _counted(
    method: StateMethod, request: Request, budget: QueryBudget, resampling: Resampling | None
) -> tuple[StateSpace, TextStatistics]:
    """The states, and the statistics of these texts; the outputs of all prefixes are not kept any longer."""
    model, ids = request.model, request.ids
    chosen = select_model(method, request, budget)
    space = StateSpace.of(chosen.method, request, chosen.view, chosen.seen, budget, chosen.tuning, chosen.held)
    if request.files is not None:  # all texts are counted later
        return space, TextStatistics(len(space.states), len(model.class_names))
    if resampling is None:
        return space, TextStatistics.of(chosen.seen, space.path, space.states)
    budget.enter(AUGMENTATION, resampling.epochs * len(ids.values))
    fresh = (trace_prefixes(model, texts, space.view) for texts in resampling.texts(ids))
    return space, TextStatistics.of(chosen.seen, space.path, space.states, fresh)


def _say_cost(method: StateMethod, request: Request) -> None:
    model, ids, budget = request.model, request.ids, request.new_budget()
    queries = method.augmentation.epochs * len(ids.values) if method.augmentation else 0
    if isinstance(method, Stochastic):
        prefixes = most_representatives(method, model, budget) + 1
        asks = method.abstraction in (AUTO, LookAhead.name)
        points = 1 + (MOST_ASKED if asks else 0)  # answers that show where a word leads
        queries += points * most_probing(model, prefixes, len(model.encoder.vocabulary), int(ids.lengths.max()))
        queries += (budget.share(LOOK_AHEAD_SHARE) or 0) if asks else 0
        queries += (budget.share(SEARCH_SHARE) or 0) if method.is_open else 0
        if method.fits:
            queries += most_training(int(method.rounds), method.tokens, ids)
    say_cost(model, ids, len(ids.values), within(budget, queries))
