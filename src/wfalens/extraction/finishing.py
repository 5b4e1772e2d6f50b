"""The end of a stream: from parts of counts and a plan to the automaton."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Fitted, Probe
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction.assembly import Assembled, by_words
from wfalens.extraction.completing import completed
from wfalens.extraction.count_parts import CountParts
from wfalens.extraction.counting import Tally, mean_outputs
from wfalens.extraction.extractor import Extractor
from wfalens.extraction.plan import Plan
from wfalens.extraction.stream import Stream
from wfalens.extraction.transitions import TransitionCounts, weighted_sum
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
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
    assembled = Assembled(len(model.encoder.vocabulary), len(plan.states))
    words, per_state = _assemble(assembled, stream, plan, model, parts, progress)
    visits = assembled.visits
    visits[0] = tally.texts
    centres = _centres(parts, visits, plan, model)
    completion, centres = completed(
        stream, plan, model, ids, words, per_state, centres, assembled.self_transition_share, parts.folder, progress
    )
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
    if tally.bad:
        more = "; …" if tally.bad > 3 else ""
        progress.say(f"left out {tally.bad:,} rows, shards or files ({'; '.join(tally.told[:3])}{more})")


def _assemble(
    assembled: Assembled,
    stream: Stream,
    plan: Plan,
    model: StepwiseClassifier,
    parts: CountParts,
    progress: Progress,
) -> tuple[NDArray[np.int32], int]:
    """Put the rows together; -> the words that the completion is to know, and representatives for each state."""
    words = np.arange(1, assembled.words, dtype=np.int32)
    weight = plan.extractor.augmentation.weight if plan.extractor.augmentation else 1.0
    progress.start("merging the counts")
    if not _asks_within_a_budget(plan.extractor, model):
        for counts, more in _merged(assembled, stream, parts):
            assembled.count(counts)
            assembled.add_rows(*weighted_sum(counts, more, weight))
        progress.finish()
        return words, plan.extractor.representatives
    for counts, _ in _merged(assembled, stream, parts):
        assembled.count(counts)
    known, per_state = plan.extractor._affordable(model, words, assembled.word_counts, assembled.states, progress)
    for counts, more in _merged(assembled, stream, parts):
        assembled.add_rows(*weighted_sum(counts.of_words(known), more.of_words(known), weight))
    progress.finish()
    return known, per_state


def _asks_within_a_budget(extractor: Extractor, model: StepwiseClassifier) -> bool:
    """Whether the words that get rows depend on how frequent they are."""
    limited = extractor.queries is not None or not isinstance(model, SteppableClassifier)
    return limited and extractor.completion in (Probe.name, Fitted.name)


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
    centres[0] = plan.extractor._initial_output(model)
    centres /= centres.sum(1, keepdims=True)
    return centres
