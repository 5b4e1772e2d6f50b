"""Comparing two automata: of two checkpoints, of two data sets, or extracted in two ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import UNDECIDED, WFA
from wfalens.divergence import jensen_shannon
from wfalens.errors import InputError
from wfalens.evaluation.agreement import Agreement, Estimate, agreement, wilson
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.influence import influence_of
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import last_outputs
from wfalens.ragged import Ragged
from wfalens.robustness.compare.changes import StateMatch, TextChanges, WordChanges
from wfalens.robustness.compare.difference import Difference
from wfalens.text.corpus import Corpus
from wfalens.text.vocabulary import UNKNOWN

Models = tuple[PrefixClassifier | None, PrefixClassifier | None]


def compare(
    before: WFA,
    after: WFA,
    texts: Sequence[str] | Corpus = (),
    *,
    models: Models = (None, None),
    min_count: int = 5,
    seed: int = 0,
) -> Difference:
    """What changed from `before` to `after`: states, words, and how both read `texts`.

    Args:
        before: one automaton.
        after: another one, with the same classes.
        texts: that both read; without them, only states and words are compared.
        models: those that the automata were extracted from, to tell the fidelity of each and what they say
            themselves.
        min_count: words that both saw less often are left out.
        seed: of intervals.

    Examples:
        >>> from wfalens.robustness import compare
        >>> compare(wfa, wfa, corpus.texts).agreement.cr.value  # an automaton and itself
        1.0
    """
    if set(before.class_names) != set(after.class_names):
        raise InputError(
            f"only automata of the same classes can be compared, not {', '.join(before.class_names)} "
            f"and {', '.join(after.class_names)}",
            code="other-classes",
        )
    for wfa, model in zip((before, after), models, strict=True):
        if model is not None:
            check_pair(wfa, model)
    columns = [after.class_names.index(name) for name in before.class_names]
    states = None
    if isinstance(before, StochasticWFA) and isinstance(after, StochasticWFA):
        states = match_states(before, after)
    corpus = texts if isinstance(texts, Corpus) else Corpus.of(list(texts), name="texts")
    words = _word_changes(before, after, columns, min_count)
    if len(corpus) == 0:
        if any(model is not None for model in models):
            raise InputError("give texts too: the fidelity to a model is measured on them", code="no-texts")
        return Difference(before.class_names, states, words)
    corpus, ids = _worded(before, after, corpus)
    rng = np.random.default_rng(seed)
    read = [_Reading(wfa, model, each) for wfa, model, each in zip((before, after), models, ids, strict=True)]
    divergence = jensen_shannon(read[0].outputs, read[1].outputs[:, columns])
    agrees = read[0].decisions == _renumbered(read[1].decisions, columns)
    truth = corpus.relabelled(before.class_names).labels
    accuracies: list[Estimate | None] = [None, None]
    if truth is not None:
        decisions = read[0].decisions, _renumbered(read[1].decisions, columns)
        accuracies = [wilson(int(np.sum(each == truth)), len(truth)) for each in decisions]
    return Difference(
        before.class_names,
        states,
        words,
        _text_changes(corpus, read[0], read[1], columns, divergence, truth, before.class_names),
        agreement(agrees, divergence, rng),
        read[0].fidelity(rng),
        read[1].fidelity(rng),
        *accuracies,
    )


def match_states(before: StochasticWFA, after: StochasticWFA) -> tuple[StateMatch, ...]:
    """Linear sum assignment: the pairs with the smallest sum of distances between centres; start goes with start.

    States that are left over come first, then the pairs, the farthest apart first.
    """
    from scipy.optimize import linear_sum_assignment

    columns = [after.class_names.index(name) for name in before.class_names]
    first, second = before.centres, after.centres[:, columns]
    gap = np.linalg.norm(first[1:, None] - second[None, 1:], axis=2)
    left, right = (np.append(0, matched + 1) for matched in linear_sum_assignment(gap))
    shares = before.state_frequencies, after.state_frequencies
    labels = [[before.class_names[at] for at in centres.argmax(1)] for centres in (first, second)]

    def match(a: int | None, b: int | None) -> StateMatch:
        return StateMatch(
            a,
            b,
            None if a is None else labels[0][a],
            None if b is None else labels[1][b],
            None if a is None else float(shares[0][a]),
            None if b is None else float(shares[1][b]),
            None if a is None or b is None else float(np.linalg.norm(first[a] - second[b])),
        )

    farthest = np.argsort(-np.linalg.norm(first[left] - second[right], axis=1), kind="stable")
    pairs = [match(int(left[at]), int(right[at])) for at in farthest]
    lone = [match(int(a), None) for a in np.setdiff1d(np.arange(before.states), left)]
    lone += [match(None, int(b)) for b in np.setdiff1d(np.arange(after.states), right)]
    return (*lone, *pairs)


def _word_changes(before: WFA, after: WFA, columns: list[int], min_count: int) -> WordChanges:
    """All words that one of the two has seen `min_count` times, by the change of their influence."""
    vocabularies = before.encoder.vocabulary, after.encoder.vocabulary
    known = [
        {vocabulary.words[at] for at in np.flatnonzero(wfa.word_counts >= max(1, min_count)) if at > UNKNOWN}
        for wfa, vocabulary in zip((before, after), vocabularies, strict=True)
    ]
    words = sorted(known[0] | known[1])
    if not words:
        raise InputError(f"no word was seen {min_count} times in extraction; lower the minimum count")
    ids = [np.array([vocabulary.id_of(word) for word in words], np.int32) for vocabulary in vocabularies]
    counts = np.stack(
        [np.where(each == UNKNOWN, 0, wfa.word_counts[each]) for wfa, each in zip((before, after), ids, strict=True)],
        axis=1,
    )
    unit = before.unit if before.unit == after.unit else "probability"
    scores = influence_of(before, ids[0], unit), influence_of(after, ids[1], unit)[:, columns]
    order = np.argsort(-np.linalg.norm(scores[1] - scores[0], axis=1), kind="stable")
    side = np.where(counts[:, 1] == 0, 1, np.where(counts[:, 0] == 0, 2, 0)).astype(np.int8)
    return WordChanges(
        tuple(words[at] for at in order),
        side[order],
        counts[order],
        scores[0][order],
        scores[1][order],
        before.class_names,
        unit,
    )


class _Reading:
    """What an automaton, and its model where there is one, make of texts."""

    def __init__(
        self,
        wfa: WFA,
        model: PrefixClassifier | None,
        ids: Ragged[np.int32],
    ) -> None:
        weights = wfa.prediction_weights(ids)
        self.outputs, self.decisions = wfa.probabilities(weights), wfa.decide(weights)
        self.model_outputs = None if model is None else last_outputs(model, ids).astype(np.float64)

    def fidelity(self, rng: np.random.Generator) -> Agreement | None:
        if self.model_outputs is None:
            return None
        agrees = self.decisions == self.model_outputs.argmax(1)
        return agreement(agrees, jensen_shannon(self.outputs, self.model_outputs), rng)


def _worded(before: WFA, after: WFA, corpus: Corpus) -> tuple[Corpus, tuple[Ragged[np.int32], Ragged[np.int32]]]:
    """The texts that have a word for both, and their ids in each alphabet."""
    ids = before.encoder.encode(corpus.texts), after.encoder.encode(corpus.texts)
    worded = np.flatnonzero((ids[0].lengths > 0) & (ids[1].lengths > 0))
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it", code="no-words")
    return corpus.subset(worded), (ids[0].take(worded), ids[1].take(worded))


def _text_changes(
    corpus: Corpus,
    before: _Reading,
    after: _Reading,
    columns: list[int],
    divergence: NDArray[np.float64],
    truth: NDArray[np.int64] | None,
    class_names: tuple[str, ...],
) -> TextChanges:
    """Every different text once, the largest divergence first."""
    _, once = np.unique(np.array(corpus.texts, object).astype(str), return_index=True)
    order = once[np.argsort(-divergence[once], kind="stable")]
    models = before.model_outputs, after.model_outputs
    return TextChanges(
        tuple(corpus.texts[at] for at in order),
        divergence[order],
        before.outputs[order],
        after.outputs[order][:, columns],
        None if models[0] is None else models[0][order],
        None if models[1] is None else models[1][order][:, columns],
        None if truth is None else truth[order],
        class_names,
    )


def _renumbered(decisions: NDArray[np.int64], columns: list[int]) -> NDArray[np.int64]:
    """Class indices of the second automaton as those of the first; undecided stays so."""
    number = np.argsort(columns)
    return np.where(decisions == UNDECIDED, UNDECIDED - 1, number[decisions])
