"""A stochastic extraction from end to end: survey, plan, evidence, automaton.

A survey of the corpus draws a sample of texts (in memory: all of them). On the sample all is decided that an extraction
decides: settings, states, representatives, fitted rows. If it holds the whole corpus, what was seen of it is the
evidence; else a pass over all texts counts their transitions. Both keep what they have in the run's parts; a run that
was stopped goes on there and ends in the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from wfalens import progress
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.balance import groups_of, label_classes
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.cost_estimate import most_probing, most_training, say_forecast, within
from wfalens.extraction.counts.count_parts import CountParts
from wfalens.extraction.counts.counting import CountTask, Evidence, Resampling, evidence_of
from wfalens.extraction.method import AUTO, Request
from wfalens.extraction.provenance import about_corpus, origin
from wfalens.extraction.query_budget import AUGMENTATION, LOOK_AHEAD_SHARE, SEARCH_SHARE, QueryBudget, query_limit
from wfalens.extraction.states.abstraction import ABSTRACTIONS
from wfalens.extraction.states.asking import MOST_ASKED
from wfalens.extraction.states.views import LookAhead, PrefixOutputs, continuations_of, see
from wfalens.extraction.stochastic.build import build
from wfalens.extraction.stochastic.model_selection import most_representatives, settle
from wfalens.extraction.stochastic.paper import StateMethod, Stochastic
from wfalens.extraction.stochastic.plan import Plan
from wfalens.memory import resident_with_children
from wfalens.models.checks import check_causal
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import initial_output
from wfalens.ragged import Ragged
from wfalens.scale.bottom_k import TextSample
from wfalens.scale.map_blocks import Facts, Pass, run_pass
from wfalens.scale.row_counts import RowCounts
from wfalens.scale.run_config import DEFAULT_SAMPLE, Session
from wfalens.scale.shards import Shard
from wfalens.scale.survey import Survey, survey_corpus
from wfalens.text.blocks import Source
from wfalens.text.files import TextFiles
from wfalens.threads import model_threads_limited

_PER_OUTPUT = 8  # words for every output that k-means sees
_TIMES_HELD = 24  # the bytes of parts that are being merged: read, widened, joined, and their result, with as much left


def extract_stochastic(
    method: StateMethod,
    request: Request,
) -> StochasticWFA:
    """An extraction from end to end."""
    model, source, run = request.model, request.source, request.run
    method = method.resolved(request)
    about = origin(model, method.parameters(request), method.augmentation)
    if run.parts is not None and method.abstraction not in (AUTO, *ABSTRACTIONS):
        raise InputError(
            f"a run that keeps parts knows the abstractions {', '.join(ABSTRACTIONS)} and {AUTO} only; keep none"
        )
    with run.opened(source, about, _sample_tokens(method, source)) as session, model_threads_limited():
        balance = request.balance
        survey = survey_corpus(session, model.encoder, request.seed, label_classes(balance, model, source))
        check_texts(source, survey)
        check_causal(model, survey.sample.ids)
        _say_forecast(method, request, survey.sample.ids)
        plan, evidence = _planned(method, request, survey, session)
        if not survey.is_whole:
            _count(plan, evidence, model, survey, session)
        tally = RowCounts.of([evidence.tally(), RowCounts() if survey.is_whole else survey.unreadable])
        if tally.texts == 0:
            raise InputError(f"{source.name}: there is no text with a word in it to extract from")
        tally.say_cut(model.encoder.max_length)
        tally.say_left_out()
        provenance = {"corpus": about_corpus(source, survey, tally), **about}
        groups = groups_of(balance, model, survey.sample, plan.ledger)
        wfa = build(plan, evidence, model, survey.sample.ids, session, provenance, groups=groups)
        session.journal.write("finish", texts=tally.texts, tokens=tally.tokens, left_out=tally.left_out)
        return wfa


def _say_forecast(
    method: StateMethod,
    request: Request,
    ids: Ragged[np.int32],
) -> None:
    model = request.model
    ledger = QueryBudget(query_limit(request.queries, model))
    queries = method.augmentation.epochs * len(ids.values) if method.augmentation else 0
    if isinstance(method, Stochastic):
        prefixes = most_representatives(method, model, ledger) + 1
        asks = method.abstraction in (AUTO, LookAhead.name)
        points = 1 + (MOST_ASKED if asks else 0)  # answers that tell where a word leads
        queries += points * most_probing(model, prefixes, len(model.encoder.vocabulary), int(ids.lengths.max()))
        queries += (ledger.share(LOOK_AHEAD_SHARE) or 0) if asks else 0
        queries += (ledger.share(SEARCH_SHARE) or 0) if method.is_open else 0
        if method.fits:
            queries += most_training(int(method.rounds), method.tokens, ids)
    say_forecast(model, ids, len(ids.values), within(ledger, queries))


def check_texts(source: Source, survey: Survey) -> None:
    """Refuse a corpus in which there is nothing to read."""
    if len(survey.sample) == 0:
        raise InputError(f"{source.name}: there is no text with a word in it to extract from")


def _sample_tokens(method: StateMethod, source: Source) -> int | None:
    """How large a sample serves an extraction; None: all texts, which are in memory."""
    if not isinstance(source, TextFiles):
        return None
    if method.asks_model or method.is_open or method.sample is None:
        return DEFAULT_SAMPLE
    return _PER_OUTPUT * method.sample * int(method.states)


def _planned(method: StateMethod, request: Request, survey: Survey, session: Session) -> tuple[Plan, CountParts]:
    """The plan, and the evidence so far: of what was seen already, or of an earlier run."""
    model = request.model
    ledger = QueryBudget(query_limit(request.queries, model))
    stored = session.parts.read("plan")
    if stored is not None:
        return Plan.restored(stored, method, request, ledger), CountParts(session.parts)
    ids = survey.sample.ids
    settled = settle(method, request, ids, ledger, session, whole=survey.is_whole)
    prior = initial_output(model, method.initial)
    plan = Plan.of(settled.method, request, settled.view, settled.seen, prior, ledger, settled.tuning, settled.held)
    evidence = CountParts(session.parts)
    if survey.is_whole:
        evidence.add(range(max(1, len(survey.shards))), _evidence_of_seen(plan, settled.seen, model, survey))
    session.parts.write("plan", *plan.stored())
    tokens = len(ids.values)
    session.journal.write("plan", states=len(plan.states), sample_texts=len(ids), sample_tokens=tokens)
    session.check_room()
    return plan, evidence


def _evidence_of_seen(plan: Plan, seen: PrefixOutputs, model: PrefixClassifier, survey: Survey) -> Evidence:
    resampling = _resampling(plan.method.augmentation, plan.request.seed, model)
    if resampling is None:
        return evidence_of(seen, plan.path, plan.states, survey.tally)
    plan.ledger.enter(AUGMENTATION, resampling.epochs * len(seen.ids.values))
    fresh = _augmented(resampling, plan, model, survey.sample)
    return evidence_of(seen, plan.path, plan.states, survey.tally, fresh)


def _augmented(
    resampling: Resampling,
    plan: Plan,
    model: PrefixClassifier,
    sample: TextSample,
) -> Iterator[PrefixOutputs]:
    """New texts for those of a whole corpus, block by block as if they were read from files."""
    blocks = sample.address[:, :2]
    starts = np.flatnonzero(np.any(np.diff(blocks, axis=0, prepend=-1), axis=1)).tolist()
    for first, last in pairwise([*starts, len(sample)]):
        ids = sample.ids.take(np.arange(first, last))
        for fresh in resampling.texts(ids, *blocks[first].tolist()):
            yield see(model, fresh, plan.view)


def _resampling(augmentation: Augmentation | None, seed: int, model: PrefixClassifier) -> Resampling | None:
    if augmentation is None:
        return None
    chances = augmentation.chances._replace(drop=0.0) if model.encoder.closed else augmentation.chances
    return Resampling(augmentation.synonyms(model.encoder.vocabulary), chances, augmentation.epochs, seed)


def _count(plan: Plan, evidence: CountParts, model: PrefixClassifier, survey: Survey, session: Session) -> None:
    """The second pass: every shard that no part covers is counted, kept, and in time merged."""
    augmentation, ledger = plan.method.augmentation, plan.ledger
    if continuations_of(plan.view) is not None:
        raise InputError(
            "looking ahead asks a model that cannot be stepped about every prefix, and a corpus beyond its sample has "
            "too many of; choose the abstraction 'outputs', or let the sample hold the whole corpus"
        )
    if augmentation is not None and ledger.limit is not None:
        raise InputError(
            "augmenting a corpus beyond its sample asks the model as often as the corpus is long, which no limit on "
            "queries can foresee; leave out one of the two"
        )
    shards, began = survey.shards, time.monotonic()
    left = [shard for shard in shards if shard.number not in evidence.covered]
    if len(left) < len(shards):
        progress.say(f"going on: {len(shards) - len(left):,} of {len(shards):,} shards are counted already")
    tokens = 0

    def keep(shard: Shard, found: Evidence) -> tuple[Facts, str]:
        nonlocal tokens
        evidence.add([shard.number], found)
        tokens += found.tally.tokens
        facts = {
            "shard": shard.number,
            "texts": found.tally.texts,
            "tokens": found.tally.tokens,
            "transitions": len(found.counts),
            "left_out": found.tally.reasons,
            "resident": resident_with_children(),
        }
        return facts, f"{tokens / (time.monotonic() - began):,.0f} words/s"

    def leave_out(shard: Shard, reason: str) -> None:
        nothing = Evidence.none(plan.centres.shape, RowCounts.without(shard.file, shard.first, [reason]))
        evidence.add([shard.number], nothing)

    def tidy() -> None:
        room = session.room
        due = evidence.full_level(None if room is None else room // _TIMES_HELD)
        if due:
            evidence.merge(due)
        session.check_room()

    task = CountTask(
        session.source,
        session.model_source(model),
        plan.states,
        plan.view,
        _resampling(augmentation, plan.request.seed, model),
        session.skips_bad,
    )
    work = Pass(
        title="counting transitions",
        event="shard",
        task=task,
        name=lambda shard: shard.named(session.source),
        keep=keep,
        leave_out=leave_out if session.skips_bad else None,
    )
    run_pass(work, left, session.engine, session.journal, tidy)
    counted = evidence.tally().tokens
    ledger.texts += counted
    if augmentation is not None:
        ledger.enter(AUGMENTATION, augmentation.epochs * counted)
