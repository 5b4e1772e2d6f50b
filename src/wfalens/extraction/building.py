"""From what was seen of texts to a stochastic automaton: states, counts, centres, completion (paper §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Completion, Fitted
from wfalens.automaton.rows import rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.completion.augmentation import Augmentation, augmented
from wfalens.extraction.completion.probing import probe_rows
from wfalens.extraction.completion.queries import AUGMENTATION, PROBING, SEARCH, Ledger
from wfalens.extraction.completion.questions import Attempt, Questions
from wfalens.extraction.completion.rules import asks_model, fitted, probed, rule
from wfalens.extraction.evidence.transitions import TransitionCounts, count_transitions, weighted_sum
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import States, named_abstraction, state_centres
from wfalens.extraction.states.views import Seen, View, see
from wfalens.models.contract import StepwiseClassifier
from wfalens.models.traces import initial_output
from wfalens.progress import Progress
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor


def build(
    extractor: Extractor,
    model: StepwiseClassifier,
    seen: Seen,
    view: View,
    provenance: dict[str, Any],
    ledger: Ledger,
    progress: Progress,
    attempt: Attempt | None = None,
) -> StochasticWFA:
    """The automaton of texts and what the model showed on them; `extractor` leaves nothing open."""
    ids, alphabet = seen.ids, len(model.encoder.vocabulary)
    states, path = divide(extractor, seen, progress)
    counts = count_transitions(ids, path, len(states))
    more = TransitionCounts.empty(len(states))
    if extractor.augmentation is not None:
        rng = stream_of(extractor.seed, Step.AUGMENTATION)
        more = _augmented_counts(extractor.augmentation, model, ids, states, view, rng, ledger, progress)
    centres = state_centres(seen.outputs, path, initial_output(model, extractor.initial), len(states))
    word_counts = np.bincount(ids.values, minlength=alphabet)
    words = None if attempt is None else attempt.words
    completion: Completion
    if asks_model(extractor):
        questions = Questions.chosen(extractor, model, ids, path, word_counts, ledger, progress, attempt)
        words = questions.words
        ledger.enter(PROBING if attempt is None else SEARCH, questions.queries(model))
        answers = probe_rows(model, questions.representatives, states, view, words, questions.hardness, progress)
        completion = probed(extractor, questions, answers, alphabet)
        if extractor.completion == Fitted.name and attempt is None:
            completion, centres = fitted(extractor, model, ids, completion, centres, questions, ledger, progress)
    else:
        completion = rule(extractor, counts.self_transition_share())
    if words is not None and len(words) < alphabet - 1:
        counts, more = counts.of_words(words), more.of_words(words)
    weight = extractor.augmentation.weight if extractor.augmentation else 1.0
    visits = np.bincount(path, minlength=len(states))
    visits[0] += len(ids)  # where every text starts
    provenance["queries"] = ledger.to_json()
    return StochasticWFA(
        encoder=model.encoder,
        class_names=model.class_names,
        centres=centres,
        rows=rows_from_keys(*weighted_sum(counts, more, weight), alphabet, len(states)),
        completion=completion,
        alpha=0.0 if isinstance(completion, Fitted) else float(extractor.alpha),
        state_visits=visits,
        word_counts=word_counts,
        provenance=provenance,
    )


def divide(extractor: Extractor, seen: Seen, progress: Progress) -> tuple[States, NDArray[np.int32]]:
    """The states that were visited, and the state after every word."""
    progress.start("clustering the outputs")
    abstraction, rng = named_abstraction(extractor.abstraction), stream_of(extractor.seed, Step.STATES)
    states, path = abstraction.divide(seen, int(extractor.states), extractor.sample, rng).visited(seen.points)
    progress.finish()
    return states, path


def _augmented_counts(
    augmentation: Augmentation,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    states: States,
    view: View,
    rng: np.random.Generator,
    ledger: Ledger,
    progress: Progress,
) -> TransitionCounts:
    progress.start("looking for synonyms")
    synonyms = augmentation.synonyms(model.encoder.vocabulary)
    progress.finish()
    epochs = []
    for _ in range(augmentation.epochs):
        fresh = augmented(ids, synonyms, augmentation.chances, rng)
        ledger.enter(AUGMENTATION, len(fresh.values))
        path = states.assign(see(model, fresh, view, progress).points)
        epochs.append(count_transitions(fresh, path, len(states)))
    return TransitionCounts.empty(len(states)).merge(*epochs)
