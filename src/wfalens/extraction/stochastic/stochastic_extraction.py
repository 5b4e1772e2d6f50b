"""A stochastic extraction from end to end: settings, states, statistics, automaton (paper §3).

On the texts in memory (of files, a sample) all is decided that an extraction decides: settings that are left open,
states, representatives, fitted rows. If these are all texts, their statistics make the automaton; else those of all
blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.completion import Completion, Empirical, Fitted, Probe
from wfalens.automaton.rows import rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.completion import fitting, probing
from wfalens.extraction.completion.augmentation import Resampling
from wfalens.extraction.completion.completion_rule import COMPLETION_RULES, CORPUS
from wfalens.extraction.completion.probing import Attempt
from wfalens.extraction.cost_estimate import most_probing, most_training, say_cost, timed_texts
from wfalens.extraction.held_out import (
    Rates,
    aim_for,
    balanced,
    comparison_lengths,
    groups_of,
    rates,
    select_best,
    split,
)
from wfalens.extraction.method import AUTO, Request, Step, stream_of
from wfalens.extraction.query_budget import (
    AUGMENTATION,
    LOOK_AHEAD_SHARE,
    PROBING,
    SEARCH,
    SEARCH_SHARE,
    QueryBudget,
    TooFewQueriesError,
)
from wfalens.extraction.states import (
    ABSTRACTIONS,
    MOST_ASKED,
    LookAhead,
    Outputs,
    PrefixOutputs,
    TooFewOutputsError,
    View,
    affordable_continuations,
    continuations_of,
    named_abstraction,
    trace_prefixes,
    trace_prefixes_in,
)
from wfalens.extraction.stochastic import tuning
from wfalens.extraction.stochastic.count_files import count_files
from wfalens.extraction.stochastic.paper import StateMethod, Stochastic
from wfalens.extraction.stochastic.tuning import HeldOut, SizeGrid, StateSpace, Trial, Tuning
from wfalens.extraction.transitions import ObservedRows, TextStatistics, observed_rows
from wfalens.memory import shown_size
from wfalens.models.checks import check_causal
from wfalens.models.contract import PrefixClassifier, StatefulClassifier, is_language_model
from wfalens.models.inference import asks_every_prefix
from wfalens.ragged import Ragged
from wfalens.threads import model_threads_limited

AnyMethod = TypeVar("AnyMethod", bound=StateMethod)
_MOST_HELD_OUT = 3000  # texts
_BYTES_PER_ROW = 250  # of a probed row while it is made, by experience
_SEARCHED = 1 / 3  # of the time that is left, for the search in each view


def extract_stochastic(method: StateMethod, request: Request) -> StochasticWFA:
    """An extraction from end to end."""
    method = method.resolved(request)
    model, ids = request.model, request.ids
    provenance = method.provenance(request)
    needed = len(ids.values) + len(timed_texts(ids).values)
    if asks_every_prefix(model) and request.queries is not None and request.queries < needed:
        raise TooFewQueriesError(
            f"a {method.name} automaton is made from all prefixes of the texts, up to {needed:,} calls, but only "
            f"{request.queries:,} queries are allowed; allow more, or choose the linear or the readable method, which "
            "ask whole texts"
        )
    with model_threads_limited():
        budget = request.new_budget()
        if not asks_every_prefix(model):
            check_causal(model, ids)
        if not request.announced:
            _say_cost(method, request)
        resampling = Resampling.of(method.augmentation, model.encoder, request.seed)
        space, statistics = _counted(method, request, budget, resampling)
        if request.files is not None:
            statistics, rows = count_files(space, request, request.files, resampling)
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
    space, seen = select_states(method, request, budget)
    if request.files is not None:  # all texts are counted later
        return space, TextStatistics(len(space.states), len(model.class_names))
    if resampling is None:
        return space, TextStatistics.of(seen, space.path, space.states)
    budget.enter(AUGMENTATION, resampling.epochs * len(ids.values))
    fresh = (trace_prefixes(model, texts, space.view) for texts in resampling.texts(ids))
    return space, TextStatistics.of(seen, space.path, space.states, fresh)


def _say_cost(method: StateMethod, request: Request) -> None:
    model, ids, budget = request.model, request.ids, request.new_budget()
    queries = method.augmentation.epochs * len(ids.values) if method.augmentation else 0
    if isinstance(method, Stochastic):
        sizes = _grid(method, model, budget).sizes
        prefixes = max(_sized(method, size, model).representatives * size for size in sizes) + 1
        asks = method.abstraction in (AUTO, LookAhead.name)
        points = 1 + (MOST_ASKED if asks else 0)  # answers that show where a word leads
        queries += points * most_probing(model, prefixes, len(model.encoder.vocabulary), int(ids.lengths.max()))
        queries += (budget.share(LOOK_AHEAD_SHARE) or 0) if asks else 0
        queries += (budget.share(SEARCH_SHARE) or 0) if method.is_open else 0
        if method.fits:
            queries += most_training(int(method.rounds), method.tokens, ids)
    say_cost(model, ids, len(ids.values), budget.within(queries))


def select_states(method: StateMethod, request: Request, budget: QueryBudget) -> tuple[StateSpace, PrefixOutputs]:
    """Trace the texts once, in all views to choose from, choose what is "auto", and form the states."""
    model, ids, seed, given = request.model, request.ids, request.seed, method.abstraction
    names = _views(request, budget) if given == AUTO else (given,)
    looks = [named_abstraction(name).view(model, ids, stream_of(seed, Step.VIEW), budget) for name in names]
    budget.texts += len(ids.values)
    seen = trace_prefixes_in(model, ids, looks)
    if not method.is_open:
        return StateSpace.of(method, request, looks[0], seen[0], budget), seen[0]
    if len(ids) < 2:
        raise InputError("an automatic choice needs at least two texts", code="too-few-texts")
    numbers, _ = split(len(ids), stream_of(seed, Step.SEARCH), _MOST_HELD_OUT)
    compared = seen[0].take(numbers)
    compared = compared.cut(comparison_lengths(model, compared.ids))
    held, aim = HeldOut(numbers, compared.ids, compared.last), aim_for(model)
    searches = [
        _search(replace(method, abstraction=name), request, each, view, held, len(names), budget)
        for name, each, view in zip(names, seen, looks, strict=True)
    ]
    tops = [tuning.best_trial(trials, len(numbers), aim) for trials in searches]
    best = tuning.best_trial(tops, len(numbers), aim)
    at = tops.index(best)
    found = Tuning(tuple(trial for trials in searches for trial in trials), best, held, aim)
    settled: dict[str, Any] = {"alpha": best.alpha, "abstraction": names[at]}
    if method.open_beta:
        settled["beta"] = CORPUS if best.beta is None else best.beta
    chosen = replace(_sized(method, best.states, model), **settled)
    return StateSpace.of(chosen, request, looks[at], seen[at], budget, found), seen[at]


def _views(request: Request, budget: QueryBudget) -> tuple[str, ...]:
    """The views to choose from: looking ahead takes queries, of a model that cannot be stepped for every prefix."""
    pays = affordable_continuations(request.model, request.ids, budget.share(LOOK_AHEAD_SHARE)) > 0
    is_tried = pays and (request.files is None or isinstance(request.model, StatefulClassifier))
    return tuple(ABSTRACTIONS) if is_tried else (Outputs.name,)


def _grid(method: StateMethod, model: PrefixClassifier, budget: QueryBudget) -> SizeGrid:
    """The numbers of states that are tried."""
    if method.states != AUTO:
        return SizeGrid((int(method.states),), 1)
    classes, limited = len(model.class_names), budget.limit is not None
    if is_language_model(model) and not method.fits:
        return SizeGrid.for_language_model(classes, limited=limited)
    return SizeGrid.of(classes, fits=method.fits, limited=limited)


def _sized(method: AnyMethod, states: int, model: PrefixClassifier) -> AnyMethod:
    """The same with a number of states; where it was open, many states get few representatives each."""
    if method.states == AUTO and isinstance(method, Stochastic):
        each = tuning.representatives_for(method.representatives, states, len(model.encoder.vocabulary))
        return replace(method, states=states, max_bytes=None, representatives=each)
    return replace(method, states=states, max_bytes=None)


def _search(
    method: StateMethod,
    request: Request,
    seen: PrefixOutputs,
    view: View,
    held: HeldOut,
    searches: int,
    budget: QueryBudget,
) -> list[Trial]:
    """The search in one view, one of so many: K from small to large until it no longer helps or time is short.

    Every α and β is tried with each. For speed it leaves out augmented texts and the fitting of rows; whether that
    gains is seen in the end. The model is not run again over the texts, and only words of the held-out ones get rows.
    """
    model, aim, texts = request.model, aim_for(request.model), len(held.numbers)
    known = seen.take(np.setdiff1d(np.arange(len(seen.ids)), held.numbers))
    grid, words = _grid(method, model, budget), np.unique(held.ids.values)
    open_beta: dict[str, Any] = {"beta": CORPUS} if method.open_beta else {}
    plain = replace(method, alpha=0.0, augmentation=None, **open_beta)
    allowed, deadline = tuning.free_share(request.files), request.deadline.part(_SEARCHED)
    trials: list[Trial] = []
    tops: list[Trial] = []  # the best of each size
    wfa: StochasticWFA | None = None
    per_state = 0.0  # seconds that the last size took

    def build_sized(states: int) -> StochasticWFA:
        space = StateSpace.of(_sized(plain, states, model), request, view, known, budget)
        statistics = TextStatistics.of(known, space.path, space.states)
        attempt = Attempt(words, SEARCH_SHARE / searches / grid.usual)
        return build(space, statistics, request, known.ids, {}, attempt)

    progress.start("choosing the number of states", len(grid.sizes))
    for size in grid.sizes:
        if not tuning.continues(tops, grid.usual, texts, aim) or (tops and not deadline.allows(size * per_state)):
            break
        began = deadline.used
        if wfa is not None and allowed is not None:
            needed = tuning.memory_needed(method, seen.points.shape, size, wfa)
            if needed > allowed:
                progress.say(
                    f"{size} states would take about {shown_size(needed)} of memory, more than the "
                    f"{shown_size(allowed)} at hand, and are not tried; a higher limit of memory allows more"
                )
                break
        try:
            wfa = build_sized(size)
        except (TooFewOutputsError, TooFewQueriesError) as error:
            if trials:
                break
            if isinstance(error, TooFewQueriesError):
                raise
            wfa = build_sized(error.distinct)
        file_bytes = tuning.estimated_bytes(wfa, len(words))
        if method.max_bytes is not None and file_bytes > method.max_bytes:
            break
        found = _tried(method, wfa, held, file_bytes)
        trials += found
        tops.append(tuning.best_trial(found, texts, aim))
        per_state = (deadline.used - began) / size
        progress.advance(1, f"K = {size}: CR {tops[-1].cr:.3f}, JSD {tops[-1].jsd:.4f}")
    progress.finish()
    if not trials:
        raise InputError(f"no automaton of {grid.sizes[0]} states fits into {method.max_bytes:,} bytes; allow more")
    return trials


def _tried(method: StateMethod, wfa: StochasticWFA, held: HeldOut, file_bytes: int) -> list[Trial]:
    """An automaton with every α and β that is open."""
    name, rules = named_abstraction(method.abstraction).name, [wfa.completion]
    if method.open_beta and isinstance(wfa.completion, Empirical):
        rules = [Empirical(beta, wfa.completion.distance) for beta in tuning.BETAS]
    alphas = tuning.ALPHAS if method.alpha == AUTO or method.fits else (float(method.alpha),)
    trials = []
    for variant in (wfa.with_rule(alpha, rule) for alpha in alphas for rule in rules):
        beta = getattr(variant.completion, "beta", None)
        measured = rates(variant, held.ids, held.targets)
        trials.append(Trial(name, wfa.states - 1, variant.alpha, beta, *measured, file_bytes))
    return trials


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
    if request.files is not None and attempt is None:
        needed = _BYTES_PER_ROW * len(words) * len(space.states)
        request.files.run.check_memory(needed, f"probing {len(words):,} words")
    progress.start("probing the model")
    answers = probing.probe_rows(model, chosen, space.states, space.view, words, hardness)
    progress.finish()
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
