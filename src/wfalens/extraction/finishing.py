"""The end of a stream: from parts of counts and a plan to the automaton."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Fitted
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.completion.probe_pass import probe_stream
from wfalens.extraction.completion.queries import AUGMENTATION, PROBING
from wfalens.extraction.completion.questions import Questions
from wfalens.extraction.completion.rules import asks_model, fitted, probed, rule
from wfalens.extraction.evidence.assembly import Assembled, by_words, entries_in
from wfalens.extraction.evidence.count_parts import CountParts
from wfalens.extraction.evidence.counting import Tally
from wfalens.extraction.evidence.sums import mean_outputs
from wfalens.extraction.evidence.transitions import TransitionCounts, weighted_sum
from wfalens.extraction.plan import Plan
from wfalens.extraction.states.views import see
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import initial_output
from wfalens.passes.stream import Stream
from wfalens.progress import Progress
from wfalens.ragged import Ragged

_LEAST_BYTES = 1 << 24  # that are merged at once


def finished(
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    parts: CountParts,
    unreadable: tuple[str, ...],
    provenance: dict[str, Any],
    progress: Progress,
) -> StochasticWFA:
    """The automaton of all counts; `ids` are the sample, `unreadable` are files that were left out."""
    tally = Tally.of([parts.tally(), Tally(bad=len(unreadable), told=unreadable)])
    if tally.texts == 0:
        raise InputError(f"{stream.files.name}: there is no text with a word in it to extract from")
    _tell(tally, model, progress)
    words, states = len(model.encoder.vocabulary), len(plan.states)
    assembled = Assembled(words, states, min(entries_in(parts.paths), words * states * states))
    questions = _assemble(assembled, stream, plan, model, ids, parts, progress)
    visits = assembled.visits
    visits[0] = tally.texts
    centres = _centres(parts, visits, plan, model)
    completion: Completion
    if questions is None:
        completion = rule(plan.extractor, assembled.self_transition_share)
    else:
        plan.ledger.enter(PROBING, questions.queries(model))
        answers = probe_stream(stream, plan, model, questions, parts.folder, progress)
        completion = probed(plan.extractor, questions, answers, assembled.words)
        if plan.extractor.completion == Fitted.name:
            completion, centres = fitted(
                plan.extractor, model, ids, completion, centres, questions, plan.ledger, progress
            )
    plan.ledger.texts += tally.tokens
    if plan.extractor.augmentation is not None:
        plan.ledger.enter(AUGMENTATION, plan.extractor.augmentation.epochs * tally.tokens)
    provenance["queries"] = plan.ledger.to_json()
    provenance["corpus"] |= {"texts": tally.texts, "tokens": tally.tokens, "left_out": tally.bad}
    provenance["corpus"]["first_left_out"] = list(tally.told)
    return StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=centres,
        rows=assembled.rows(),
        completion=completion,
        alpha=0.0 if isinstance(completion, Fitted) else float(plan.extractor.alpha),
        state_visits=visits,
        word_counts=assembled.word_counts,
        provenance=provenance,
    )


def _tell(tally: Tally, model: StepwiseClassifier, progress: Progress) -> None:
    if tally.cut:
        progress.say(f"{tally.cut:,} of {tally.texts:,} texts were cut after {model.encoder.max_length} tokens")
    tally.tell_left_out(progress)


def _assemble(
    assembled: Assembled,
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    parts: CountParts,
    progress: Progress,
) -> Questions | None:
    """Put the rows together; -> what the completion is to ask the model, None if nothing."""
    weight = plan.extractor.augmentation.weight if plan.extractor.augmentation else 1.0
    progress.start("merging the counts")
    if not asks_model(plan.extractor):
        for counts, more in _merged(assembled, stream, parts):
            assembled.count(counts)
            assembled.add_rows(*weighted_sum(counts, more, weight))
        progress.finish()
        return None
    for counts, _ in _merged(assembled, stream, parts):  # how frequent words are decides what is asked about them
        assembled.count(counts)
    path = plan.states.assign(see(model, ids, plan.view).points)
    questions = Questions.chosen(plan.extractor, model, ids, path, assembled.word_counts, plan.ledger, progress)
    for counts, more in _merged(assembled, stream, parts):
        if len(questions.words) < assembled.words - 1:
            counts, more = counts.of_words(questions.words), more.of_words(questions.words)
        assembled.add_rows(*weighted_sum(counts, more, weight))
    progress.finish()
    return questions


def _merged(
    assembled: Assembled, stream: Stream, parts: CountParts
) -> Iterator[tuple[TransitionCounts, TransitionCounts]]:
    at_once = max(_LEAST_BYTES, stream.room // 4)
    for counts, more in by_words(parts.paths, assembled.words, assembled.states, at_once):
        stream.check_room(assembled.bytes_needed, "the automaton")
        yield counts, more


def _centres(
    parts: CountParts, visits: NDArray[np.int64], plan: Plan, model: StepwiseClassifier
) -> NDArray[np.float64]:
    """`ρ(s)`: the mean output of each state; where the texts never were, that of the sample. -> (n, C)"""
    centres = mean_outputs(parts.output_sums(), visits)
    centres[visits == 0] = plan.centres[visits == 0]
    centres[0] = initial_output(model, plan.extractor.initial)
    centres /= centres.sum(1, keepdims=True)
    return centres
