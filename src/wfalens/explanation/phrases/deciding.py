"""From candidates to the phrases that decide: effect, precision, and nothing said twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.agreement import wilson_bounds
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.phrases.context import RandomContext
from wfalens.explanation.phrases.phrase_candidates import GAP, Candidates, Key, frequent_phrases
from wfalens.explanation.phrases.phrase_result import DecidingPhrases, more_than_words
from wfalens.explanation.phrases.redundancy import Standing, without_redundant
from wfalens.explanation.phrases.regex import regular_expression
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus
from wfalens.validation import Bounds, real, whole

_SHARE = 0.25  # of the largest effect on a class: what a phrase must have to decide, unless told otherwise
_TOKENS_AT_ONCE = 50_000
_BOUNDS = {
    "min_support": Bounds(whole, 1, 10**9),
    "longest": Bounds(whole, 1, 4),
    "gap": Bounds(whole, 0, 20),
    "min_effect": Bounds(real, 0, 1e6, (None,)),
}


@dataclass(frozen=True, eq=False)
class _Judged:
    """Texts with the classes that the judge and the truth give them; -1: none."""

    ids: Ragged[np.int32]
    said: NDArray[np.int64]  # (texts,)
    true: NDArray[np.int64] | None  # (texts,)
    judge: str


@dataclass(frozen=True, eq=False)
class _Table:
    """All candidates, whatever their number of words."""

    keys: list[Key]
    effects: NDArray[np.float64]  # (P, C)
    interactions: NDArray[np.float64]  # (P, C)
    support: NDArray[np.int64]  # (P,)
    said: NDArray[np.int64]  # (P, C): texts by the judge's class
    true: NDArray[np.int64] | None  # (P, C): texts by their true class

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The class that each phrase speaks most for; (P,)"""
        return np.asarray(self.effects.argmax(1))

    @cached_property
    def effect(self) -> NDArray[np.float64]:
        return np.asarray(self.effects[np.arange(len(self.keys)), self.labels])

    @cached_property
    def interaction(self) -> NDArray[np.float64]:
        return np.asarray(self.interactions[np.arange(len(self.keys)), self.labels])

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        return np.asarray(self.said[np.arange(len(self.keys)), self.labels])


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
    largest effect of any phrase on that class), and if the model gives that class to more of the texts with the phrase
    than of all texts, beyond doubt. Without a model the automaton itself is the judge.
    """
    given = {"min_support": min_support, "longest": longest, "gap": gap, "min_effect": min_effect}
    for name, bounds in _BOUNDS.items():
        bounds.checked(name, given[name])
    judged = _judged(wfa, corpus, model)
    levels = frequent_phrases(judged.ids, min_support, longest, gap)
    table = _table(wfa, judged, levels, RandomContext.of(wfa, judged.ids.lengths, gap))
    largest = table.effects.max(0)
    least = _SHARE * largest if min_effect is None else np.full(len(largest), min_effect)
    rates = np.bincount(judged.said[judged.said >= 0], minlength=len(largest)) / len(judged.ids)
    rows = _ordered(table, _deciding(table, rates, least, gap))
    return _result(wfa, judged, table, rows, rates, gap)


def _judged(
    wfa: WFA,
    corpus: Corpus | Sequence[str],
    model: PrefixClassifier | None,
) -> _Judged:
    texts = corpus if isinstance(corpus, Corpus) else Corpus.of(list(corpus))
    if model is not None:
        check_pair(wfa, model)
    true = texts.relabelled(wfa.class_names).labels
    worded, ids = wfa.ids(texts.texts).nonempty()
    if len(ids) == 0:
        raise InputError(f"{texts.name} has no text with words")
    said = wfa.predict_indices(ids) if model is None else _said(model, ids)
    return _Judged(ids, said, None if true is None else true[worded], "automaton" if model is None else "network")


def _said(
    model: PrefixClassifier,
    ids: Ragged[np.int32],
) -> NDArray[np.int64]:
    """The model's class of every text; -> (texts,)"""
    progress.start("running the model", len(ids.values))
    parts = []
    for part in ids.chunks(_TOKENS_AT_ONCE):
        parts.append(final_outputs(model, part).argmax(1))
        progress.advance(len(part.values))
    progress.finish()
    return np.concatenate(parts)


def _table(wfa: WFA, judged: _Judged, levels: list[Candidates], context: RandomContext) -> _Table:
    classes = len(wfa.class_names)
    effects = [context.effects(level) for level in levels]
    words = np.zeros((len(wfa.word_counts), classes))  # effect of every word
    words[levels[0].words[:, 0]] = effects[0]
    return _Table(
        [key for level in levels for key in level.spelled()],
        np.concatenate(effects),
        np.concatenate([each - words[level.words].sum(1) for each, level in zip(effects, levels, strict=True)]),
        np.concatenate([level.support for level in levels]),
        np.concatenate([level.texts_by_class(judged.said, classes) for level in levels]),
        None
        if judged.true is None
        else np.concatenate([level.texts_by_class(judged.true, classes) for level in levels]),
    )


def _deciding(table: _Table, rates: NDArray[np.float64], least: NDArray[np.float64], gap: int) -> NDArray[np.int64]:
    """The rows of the phrases that decide and are not redundant; rates, least: (C,) -> (N,)"""
    low, _ = wilson_bounds(table.hits, table.support)
    labels, effect = table.labels, table.effect
    rows = np.flatnonzero((effect >= least[labels]) & (effect > 0) & (low > rates[labels]))
    standings = {
        table.keys[row]: Standing(int(labels[row]), effect[row], table.hits[row] / table.support[row], low[row])
        for row in rows
    }
    effects = dict(zip(table.keys, table.effects.tolist(), strict=True))
    kept = set(without_redundant(standings, effects, gap, (least / 2).tolist()))
    return np.array([row for row in rows if table.keys[row] in kept], np.int64)


def _ordered(table: _Table, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Phrases that say more than their words first, by interaction; then the others, by effect."""
    effect, interaction = table.effect[rows], table.interaction[rows]
    more = more_than_words(effect, interaction)
    return np.asarray(rows[np.lexsort((-np.where(more, interaction, effect), ~more))])


def _result(
    wfa: WFA, judged: _Judged, table: _Table, rows: NDArray[np.int64], rates: NDArray[np.float64], gap: int
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
        texts=len(judged.ids),
        base_rates=rates,
        judge=judged.judge,
        gap=gap,
        class_names=wfa.class_names,
        unit=wfa.unit,
    )
