"""Phrases that decide by themselves: their effects in a random context, precision on texts, without redundant ones.

The output with the phrase is exact, `I·B^a·Ê_phrase·B^b·F`. B, the mean of Êσ over the words of the extraction corpus
by their frequency, is a random word. The numbers of words before and after the phrase, a and b, are independent,
each distributed as the number of words before a random word of the texts. With `u = Σ_a p(a)·I·B^a` and
`G = Σ_b p(b)·B^b·F` computed once, a phrase costs one step of the automaton per word. Its *effect* is the difference to
random words in its place, gap included: `u·Ê_phrase·G − u·B^m·G`. A gap is `Γ = (B + B² + … + B^g)/g`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.agreement import wilson_bounds
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.attribution import AUTOMATON, NETWORK
from wfalens.explanation.phrases.phrase_candidates import GAP, Key, PhraseCandidates, frequent_phrases
from wfalens.explanation.phrases.phrase_result import DecidingPhrases, more_than_words, regular_expression
from wfalens.explanation.shapley.game import mean_matrix
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus
from wfalens.validation import Bounds, real, whole

_SHARE = 0.25  # of the largest effect on a class: what a phrase must have to decide, by default
_TOKENS_AT_ONCE = 50_000
_VECTOR_FLOATS = 1 << 22  # of phrases that are read at a time
_BOUNDS = {
    "min_support": Bounds(whole, 1, 10**9),
    "longest": Bounds(whole, 1, 4),
    "gap": Bounds(whole, 0, 20),
    "min_effect": Bounds(real, 0, 1e6, (None,)),
}


@dataclass(frozen=True, eq=False)
class _LabelledTexts:
    """Texts with the classes that the reference gives them, and their true classes; -1: none."""

    ids: Ragged[np.int32]
    predicted: NDArray[np.int64]  # (texts,)
    true: NDArray[np.int64] | None  # (texts,)
    reference: str


@dataclass(frozen=True, eq=False)
class _Scored:
    """All candidates, of any number of words."""

    keys: list[Key]
    effects: NDArray[np.float64]  # (P, C)
    interactions: NDArray[np.float64]  # (P, C)
    support: NDArray[np.int64]  # (P,)
    predicted: NDArray[np.int64]  # (P, C): texts by the reference's class
    true: NDArray[np.int64] | None  # (P, C): texts by their true class

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The class that each phrase raises most; (P,)"""
        return np.asarray(self.effects.argmax(1))

    @cached_property
    def effect(self) -> NDArray[np.float64]:
        return np.asarray(self.effects[np.arange(len(self.keys)), self.labels])

    @cached_property
    def interaction(self) -> NDArray[np.float64]:
        return np.asarray(self.interactions[np.arange(len(self.keys)), self.labels])

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        return np.asarray(self.predicted[np.arange(len(self.keys)), self.labels])


def deciding_phrases(
    wfa: WFA,
    corpus: Corpus | Sequence[str],
    model: PrefixClassifier | None = None,
    *,
    min_support: int = 10,
    longest: int = 4,
    gap: int = 3,
    min_effect: float | None = None,
) -> DecidingPhrases:
    """Words and phrases of up to `longest` words, with at most one gap of up to `gap` words, that decide by themselves.

    A phrase decides if its effect on a class in a random context is at least `min_effect` (default: a quarter of the
    largest effect of any phrase on that class), and if the model gives that class to significantly more of the texts
    with the phrase than of all texts. Without a model the automaton's own classes count.
    """
    given = {"min_support": min_support, "longest": longest, "gap": gap, "min_effect": min_effect}
    for name, bounds in _BOUNDS.items():
        bounds.checked(name, given[name])
    texts = _labelled(wfa, corpus, model)
    levels = frequent_phrases(texts.ids, min_support, longest, gap)
    table = _table(wfa, texts, levels, RandomContext.of(wfa, texts.ids.lengths, gap))
    largest = table.effects.max(0)
    least = _SHARE * largest if min_effect is None else np.full(len(largest), min_effect)
    rates = np.bincount(texts.predicted[texts.predicted >= 0], minlength=len(largest)) / len(texts.ids)
    rows = _ordered(table, _deciding(table, rates, least, gap))
    return _result(wfa, texts, table, rows, rates, gap)


def _labelled(wfa: WFA, corpus: Corpus | Sequence[str], model: PrefixClassifier | None) -> _LabelledTexts:
    texts = corpus if isinstance(corpus, Corpus) else Corpus.of(list(corpus))
    if model is not None:
        check_pair(wfa, model)
    true = texts.relabelled(wfa.class_names).labels
    worded, ids = wfa.ids(texts.texts).nonempty()
    if len(ids) == 0:
        raise InputError(f"{texts.name} has no text with words", code="no-words")
    predicted = wfa.predict_indices(ids) if model is None else _predicted(model, ids)
    truth = None if true is None else true[worded]
    return _LabelledTexts(ids, predicted, truth, AUTOMATON if model is None else NETWORK)


def _predicted(model: PrefixClassifier, ids: Ragged[np.int32]) -> NDArray[np.int64]:
    """The model's class of every text; -> (texts,)"""
    progress.start("running the model", len(ids.values))
    parts = []
    for part in ids.chunks(_TOKENS_AT_ONCE):
        parts.append(final_outputs(model, part).argmax(1))
        progress.advance(len(part.values))
    progress.finish()
    return np.concatenate(parts)


def _table(wfa: WFA, texts: _LabelledTexts, levels: list[PhraseCandidates], context: RandomContext) -> _Scored:
    classes = len(wfa.class_names)
    effects = [context.effects(level) for level in levels]
    words = np.zeros((len(wfa.word_counts), classes))  # effect of every word
    words[levels[0].words[:, 0]] = effects[0]
    return _Scored(
        [key for level in levels for key in level.spelled()],
        np.concatenate(effects),
        np.concatenate([each - words[level.words].sum(1) for each, level in zip(effects, levels, strict=True)]),
        np.concatenate([level.support for level in levels]),
        np.concatenate([level.texts_by_class(texts.predicted, classes) for level in levels]),
        None if texts.true is None else np.concatenate([level.texts_by_class(texts.true, classes) for level in levels]),
    )


def _deciding(table: _Scored, rates: NDArray[np.float64], least: NDArray[np.float64], gap: int) -> NDArray[np.int64]:
    """The rows of the phrases that decide and are not redundant; rates, least: (C,) -> (N,)"""
    low, _ = wilson_bounds(table.hits, table.support)
    labels, effect = table.labels, table.effect
    rows = np.flatnonzero((effect >= least[labels]) & (effect > 0) & (low > rates[labels]))
    scores = {
        table.keys[row]: Score(int(labels[row]), effect[row], table.hits[row] / table.support[row], low[row])
        for row in rows
    }
    effects = dict(zip(table.keys, table.effects.tolist(), strict=True))
    kept = set(without_redundant(scores, effects, gap, (least / 2).tolist()))
    return np.array([row for row in rows if table.keys[row] in kept], np.int64)


def _ordered(table: _Scored, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Phrases whose effect exceeds that of their words first, by interaction; then the others, by effect."""
    effect, interaction = table.effect[rows], table.interaction[rows]
    more = more_than_words(effect, interaction)
    return np.asarray(rows[np.lexsort((-np.where(more, interaction, effect), ~more))])


def _result(
    wfa: WFA,
    texts: _LabelledTexts,
    table: _Scored,
    rows: NDArray[np.int64],
    rates: NDArray[np.float64],
    gap: int,
) -> DecidingPhrases:
    spelling, tokenizer = wfa.encoder.vocabulary.words, wfa.encoder.tokenizer_name
    words = [tuple(None if word == GAP else spelling[word] for word in table.keys[row]) for row in rows]
    labels = table.labels[rows]
    return DecidingPhrases(
        words=tuple(words),
        regexes=tuple(regular_expression(each, gap, tokenizer) for each in words),
        labels=labels,
        effects=table.effects[rows],
        interactions=table.interactions[rows],
        support=table.support[rows],
        hits=table.hits[rows],
        true_hits=None if table.true is None else table.true[rows, labels],
        texts=len(texts.ids),
        base_rates=rates,
        reference=texts.reference,
        gap=gap,
        class_names=wfa.class_names,
        unit=wfa.unit,
    )


@dataclass(frozen=True, eq=False)
class RandomContext:
    """Random words around a phrase and in its gap."""

    wfa: WFA
    before: NDArray[np.float64]  # u: (n,)
    after: NDArray[np.float64]  # G: (n, C)
    mean: NDArray[np.float64]  # B: (n, n)
    gap: NDArray[np.float64]  # Γ: (n, n)

    @classmethod
    def of(cls, wfa: WFA, lengths: NDArray[np.int64], gap: int) -> RandomContext:
        """lengths: (texts,), the numbers of words of the texts"""
        mean = mean_matrix(wfa)
        longer = len(lengths) - np.cumsum(np.bincount(lengths))[:-1]  # texts with more than a words, a = 0, 1, …
        before, after = np.zeros(wfa.states), np.zeros((wfa.states, len(wfa.class_names)))
        row, columns = wfa.initial, wfa.read_out(np.eye(wfa.states))
        for share in longer / longer.sum():
            before, after = before + share * row, after + share * columns
            row, columns = row @ mean, mean @ columns
        powers = [np.linalg.matrix_power(mean, words) for words in range(1, gap + 1)]
        return cls(wfa, before, after, mean, np.mean(powers, 0) if powers else np.zeros_like(mean))

    def effects(self, phrases: PhraseCandidates) -> NDArray[np.float64]:
        """The change of the class weights by each phrase; -> (P, C)"""
        step = max(1, _VECTOR_FLOATS // self.wfa.states)
        parts = [
            self._weights(phrases.words[at : at + step], phrases.gap_at[at : at + step])
            for at in range(0, len(phrases), step)
        ]
        plain, gapped = self._random_weights(phrases.words.shape[1])
        return np.asarray(np.concatenate(parts) - np.where(phrases.gap_at[:, None] > 0, gapped, plain))

    def _weights(self, words: NDArray[np.int32], gap_at: NDArray[np.int8]) -> NDArray[np.float64]:
        """`u·Ê_phrase·G`; (P, m), (P,) -> (P, C)"""
        vectors = self.wfa.advance(self.before[None], words[:, 0])
        for place in range(1, words.shape[1]):
            here = gap_at == place
            vectors[here] = vectors[here] @ self.gap
            vectors = self.wfa.advance(vectors, words[:, place])
        return np.asarray(vectors @ self.after)

    def _random_weights(self, words: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`u·B^m·G` and `u·B^m·Γ·G`: random words in place of a phrase without and with a gap; -> (C,), (C,)"""
        row = self.before @ np.linalg.matrix_power(self.mean, words)
        return row @ self.after, row @ self.gap @ self.after


@dataclass(frozen=True)
class Score:
    """Effect and precision of a phrase for its class."""

    label: int
    effect: float
    precision: float
    low: float  # end of the interval of the precision


def without_redundant(
    deciding: Mapping[Key, Score], effects: Mapping[Key, list[float]], gap: int, margin: Sequence[float]
) -> list[Key]:
    """The phrases that add effect or significant precision to the shorter phrases within them.

    A longer phrase adds precision if the lower end of its interval lies above the precision of every shorter one of its
    class within it. It adds effect if it has more by the `margin` of its class than any shorter one, and than any two
    that make it up; then its precision must not be lower than theirs.
    """
    return [key for key, own in deciding.items() if _adds(key, own, deciding, effects, gap, margin)]


def _adds(
    key: Key,
    own: Score,
    deciding: Mapping[Key, Score],
    effects: Mapping[Key, list[float]],
    gap: int,
    margin: Sequence[float],
) -> bool:
    shorter = contained(key, gap)
    others = [deciding[each] for each in shorter if each in deciding and deciding[each].label == own.label]
    if not others or all(own.low > other.precision for other in others):
        return True
    explained = [effects[each][own.label] for each in shorter if each in effects]
    explained += [effects[first][own.label] + effects[second][own.label] for first, second in _halves(key)]
    more = own.effect >= max(explained) + margin[own.label]
    return more and own.precision >= max(other.precision for other in others)


def contained(key: Key, gap: int) -> set[Key]:
    """All shorter phrases that stand in every text that contains this one."""
    found: set[Key] = set()
    todo = [key]
    while todo:
        for each in _one_shorter(todo.pop(), gap):
            if each not in found:
                found.add(each)
                todo.append(each)
    return found


def _one_shorter(key: Key, gap: int) -> list[Key]:
    if len(key) == 1:
        return []
    shorter = [_trimmed(key[1:]), _trimmed(key[:-1])]
    if GAP not in key:  # leave out words in the middle, as far as a gap reaches
        inner = range(1, len(key) - 1)
        shorter += [(*key[:i], GAP, *key[j + 1 :]) for i in inner for j in inner if i <= j < i + gap]
    return shorter


def _halves(key: Key) -> list[tuple[Key, Key]]:
    """The ways to cut a phrase into two."""
    cuts = [at for at in range(1, len(key)) if key[at] != GAP]
    return [(_trimmed(key[:at]), key[at:]) for at in cuts]


def _trimmed(key: Key) -> Key:
    """Without a gap at an end."""
    return key[key[0] == GAP : len(key) - (key[-1] == GAP)]
