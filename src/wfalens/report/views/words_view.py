"""The words of an automaton: a table to search and sort, and a page for each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.report.study import Study, WordEffects, short
from wfalens.validation import check_choice

NEIGHBOURS = 10
_TEXTS = 8
_CLASSES = 10  # shown of a word, those that it changes most


@dataclass(frozen=True, eq=False)
class WordTable:
    """What every word seen in extraction changes, in any order; first those that the network was asked about."""

    study: Study

    def find(
        self,
        query: str = "",
        *,
        towards: str = "",
        sort: str = "strength",
        falling: bool = True,
        min_count: int = 1,
        offset: int = 0,
        limit: int = 100,
    ) -> dict[str, Any]:
        """Words that hold `query`, whole matches first, of one class or of all, sorted by word, count or strength."""
        chosen = self._order(sort, falling)
        if min_count > 1:
            chosen = chosen[self.study.influence.counts[chosen] >= min_count]
        if towards:
            check_choice("class", towards, self.study.wfa.class_names)
            chosen = chosen[self._labels[chosen] == self.study.wfa.class_names.index(towards)]
        if query:
            lower, words = query.lower(), self._lower_words
            chosen = chosen[np.fromiter((lower in words[at] for at in chosen), bool, len(chosen))]
            exact = np.fromiter((lower == words[at] for at in chosen), bool, len(chosen))
            chosen = np.concatenate([chosen[exact], chosen[~exact]])
        return {"total": len(chosen), "offset": offset, "rows": self.rows(chosen[offset : offset + limit])}

    def rows(self, index: NDArray[np.int64]) -> list[list[Any]]:
        """word, count, the largest change, its class, half of its interval (None: by the automaton)"""
        known, effects, labels = self.study.influence, self.study.word_effects, self._labels[index]
        halves = effects.halves[index, labels]
        columns = (
            [known.words[at] for at in index],
            known.counts[index].tolist(),
            short(self._strength[index]),
            labels.tolist(),
            [None if np.isnan(half) else short(half) for half in halves],
        )
        return [list(row) for row in zip(*columns, strict=True)]

    def strongest(self, per_class: int, min_count: int) -> NDArray[np.int64]:
        """Indices of the words that change each class most, of all and of those that were measured, without repeats."""
        seen, effects = self.study.influence.counts >= min_count, self.study.word_effects
        parts = [np.flatnonzero(seen), np.flatnonzero(seen & (effects.read > 0))]
        chosen = [part[np.argsort(-effects.changes[part], axis=0, kind="stable")[:per_class]] for part in parts]
        return np.unique(np.concatenate([each.ravel() for each in chosen]))

    def _order(self, sort: str, falling: bool) -> NDArray[np.int64]:
        check_choice("column", sort, tuple(self._orders))
        order = self._orders[sort][::-1] if falling else self._orders[sort]
        if sort != "strength":
            return order
        asked = self.study.word_effects.read[order] > 0
        return np.concatenate([order[asked], order[~asked]])

    @cached_property
    def _labels(self) -> NDArray[np.int64]:
        return np.asarray(self.study.word_effects.changes.argmax(1))

    @cached_property
    def _strength(self) -> NDArray[np.float64]:
        return np.asarray(self.study.word_effects.changes.max(1))

    @cached_property
    def _lower_words(self) -> list[str]:
        return [word.lower() for word in self.study.influence.words]

    @cached_property
    def _orders(self) -> dict[str, NDArray[np.int64]]:
        """By each column, rising."""
        known = self.study.influence
        return {
            "word": np.array(sorted(range(len(known.words)), key=known.words.__getitem__), np.int64),
            "count": np.argsort(known.counts, kind="stable"),
            "strength": np.argsort(self._strength, kind="stable"),
        }


def measured(study: Study) -> dict[str, int]:
    """How many words the network was asked about, which takes seconds; all words are then there at once."""
    return {"measured": int((study.word_effects.read > 0).sum())}


def word_page(study: Study, word: str) -> dict[str, Any]:
    """What one word does, which words act or mean the same, and sentences that contain it."""
    return word_pages(study, [word])[0]


def word_pages(study: Study, words: Sequence[str]) -> list[dict[str, Any]]:
    """The same for several words, in one pass over the vocabulary.

    Words that act alike have the nearest matrices, by d_T; words that mean the same have the nearest vectors, by
    1 − cosine.
    """
    for word in words:
        if word not in study.influence.words:
            raise InputError(f"the word {word!r} was not seen in extraction", code="unknown-word")
    vocabulary, effects = study.wfa.encoder.vocabulary, study.word_effects
    alike = TransitionEmbeddings.of(study.wfa, study.usual_count).nearest_each(words, NEIGHBOURS)
    place = {word: at for at, word in enumerate(study.influence.words)}
    return [
        {
            "word": word,
            "count": int(study.influence.counts[place[word]]),
            "changes": _changes(effects, place[word]),
            "read": int(effects.read[place[word]]),
            "acting": _rounded(near, 6),
            "meaning": None if study.vectors is None else _rounded(study.nearness.nearest(word, NEIGHBOURS), 4),
            "vectors": None if study.vectors is None else study.vectors.source,
            "sentences": []
            if study.corpus is None
            else [study.corpus.texts[text] for text in study.texts_with(vocabulary.id_of(word), _TEXTS)],
        }
        for word, near in zip(words, alike, strict=True)
    ]


def _changes(effects: WordEffects, word: int) -> list[list[Any]]:
    """class, change and half of its interval (None: by the automaton), of the classes that change most."""
    row, halves = effects.changes[word], effects.halves[word]
    chosen = np.sort(np.argsort(-np.abs(row), kind="stable")[:_CLASSES])
    return [[int(at), short(row[at]), None if np.isnan(halves[at]) else short(halves[at])] for at in chosen]


def _rounded(neighbours: list[tuple[str, float]], digits: int) -> list[list[Any]]:
    return [[word, round(gap, digits)] for word, gap in neighbours]
