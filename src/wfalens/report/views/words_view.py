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
from wfalens.report.study import Study, short

NEIGHBOURS = 10
_TEXTS = 8


@dataclass(frozen=True, eq=False)
class WordTable:
    """Influence of every word seen in extraction, in any order."""

    study: Study

    def find(
        self,
        query: str = "",
        *,
        sort: str = "strength",
        falling: bool = True,
        min_count: int = 1,
        offset: int = 0,
        limit: int = 100,
    ) -> dict[str, Any]:
        """Words that hold `query`, whole matches first, sorted by word, count, strength or the name of a class."""
        chosen = self._order(sort, falling)
        if min_count > 1:
            chosen = chosen[self.study.influence.counts[chosen] >= min_count]
        if query:
            lower, words = query.lower(), self._lower_words
            chosen = chosen[np.fromiter((lower in words[at] for at in chosen), bool, len(chosen))]
            exact = np.fromiter((lower == words[at] for at in chosen), bool, len(chosen))
            chosen = np.concatenate([chosen[exact], chosen[~exact]])
        return {"total": len(chosen), "offset": offset, "rows": self.rows(chosen[offset : offset + limit])}

    def rows(self, index: NDArray[np.int64]) -> list[list[Any]]:
        """word, count, strength, influence by class"""
        chosen = self.study.influence.subset(index)
        columns = zip(chosen.words, chosen.counts.tolist(), short(chosen.strength), short(chosen.scores), strict=True)
        return [[word, count, strength, *by_class] for word, count, strength, by_class in columns]

    def strongest(self, per_class: int, min_count: int) -> NDArray[np.int64]:
        """Indices of the words with the largest influence on each class, without repeats."""
        seen = np.flatnonzero(self.study.influence.counts >= min_count)
        scores = self.study.influence.scores[seen]
        order = np.argsort(-scores, axis=0, kind="stable")[:per_class]
        return seen[np.unique(order)]

    def _order(self, sort: str, falling: bool) -> NDArray[np.int64]:
        if sort not in self._orders:
            raise InputError(f"cannot sort by {sort!r}; choose one of {', '.join(self._orders)}", code="option-value")
        order = self._orders[sort]
        return order[::-1] if falling else order

    @cached_property
    def _lower_words(self) -> list[str]:
        return [word.lower() for word in self.study.influence.words]

    @cached_property
    def _orders(self) -> dict[str, NDArray[np.int64]]:
        """By each column, rising."""
        scores = self.study.influence
        plain = {
            "word": np.array(sorted(range(len(scores.words)), key=scores.words.__getitem__), np.int64),
            "count": np.argsort(scores.counts, kind="stable"),
            "strength": np.argsort(scores.strength, kind="stable"),
        }
        classes = [f"class {name}" if name in plain else name for name in scores.class_names]  # as on the page
        columns = {name: np.argsort(scores.scores[:, at], kind="stable") for at, name in enumerate(classes)}
        return {**columns, **plain}


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
    chosen, vocabulary = study.influence.chosen(words), study.wfa.encoder.vocabulary
    alike = TransitionEmbeddings.of(study.wfa, study.usual_count).nearest_each(words, NEIGHBOURS)
    return [
        {
            "word": word,
            "count": int(chosen.counts[at]),
            "scores": short(chosen.scores[at]),
            "strength": short(chosen.strength[at]),
            "unit": study.wfa.unit,
            "acting": _rounded(alike[at], 6),
            "meaning": None if study.vectors is None else _rounded(study.nearness.nearest(word, NEIGHBOURS), 4),
            "vectors": None if study.vectors is None else study.vectors.source,
            "sentences": []
            if study.corpus is None
            else [study.corpus.texts[text] for text in study.texts_with(vocabulary.id_of(word), _TEXTS)],
        }
        for at, word in enumerate(words)
    ]


def _rounded(neighbours: list[tuple[str, float]], digits: int) -> list[list[Any]]:
    return [[word, round(gap, digits)] for word, gap in neighbours]
