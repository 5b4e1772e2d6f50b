"""Words that may stand for another one: the constraints of an attack, worked out once for the vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.corpus.vectors import WordVectors
from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.progress import SILENT, Progress
from wfalens.ragged import offsets_of

_BLOCK = 1024  # words whose distances to all others are held at a time
_TAGGED_NEIGHBOURS = 50  # among which the nearest word of the same tag is looked for
_PAIRS = 8192  # pairs whose embeddings are compared at a time


@dataclass(frozen=True, eq=False)
class Candidates:
    """The allowed replacements of every word: those of word i are the entries from `start[i]` to `start[i + 1]`."""

    start: NDArray[np.int64]  # (V + 1,)
    word: NDArray[np.int32]  # (pairs,)
    semantic: NDArray[np.float32]  # (pairs,): d_S
    transition: NDArray[np.float32]  # (pairs,): d_T

    def of(self, word: int) -> slice:
        return slice(int(self.start[word]), int(self.start[word + 1]))

    @property
    def has_any(self) -> NDArray[np.bool_]:
        return np.diff(self.start) > 0

    def only_best(self, by: NDArray[np.float32]) -> Candidates:
        """The one candidate per word that is lowest in `by`."""
        order = np.lexsort((by, np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))))
        first = order[self.start[:-1][self.has_any]]
        return Candidates(
            offsets_of(self.has_any.astype(np.int64)), self.word[first], self.semantic[first], self.transition[first]
        )


def allowed_candidates(
    wfa: WFA,
    vectors: WordVectors,
    *,
    max_semantic: float,
    min_transition: float = 0.0,
    spare_stop_words: bool = False,
    tag: Callable[[str], str] | None = None,
    only: NDArray[np.int32] | None = None,
    progress: Progress = SILENT,
) -> Candidates:
    """Replacements with `d_S ≤ max_semantic` and `d_T ≥ min_transition` (mean squared differences).

    only              ids of the words that may be replaced, such as those of the texts; None: all
    spare_stop_words  neither replace stop words nor put them in
    tag               a part-of-speech tagger for single words; only words of the same tag replace each other
    """
    known, ids = _known_words(wfa, vectors)
    usable = _usable(known.words, spare_stop_words)
    tags = None if tag is None else np.array([tag(word) for word in known.words])
    squares = np.einsum("ij,ij->i", known.matrix, known.matrix)
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    meanings = [np.zeros(0, np.float32)]
    replaced = np.arange(len(known)) if only is None else np.flatnonzero(np.isin(ids, only))
    progress.start("looking for candidates", len(replaced))
    for start in range(0, len(replaced), _BLOCK):
        rows = replaced[start : start + _BLOCK]
        gap = known.matrix[rows] @ known.matrix.T
        gap *= -2
        gap += squares
        gap += squares[rows, None]
        np.maximum(gap, 0, out=gap)
        gap /= known.width
        chosen = (gap <= max_semantic) & usable & usable[rows, None]
        chosen[np.arange(len(rows)), rows] = False
        if tags is not None:
            chosen &= tags == tags[rows, None]
        first, second = np.nonzero(chosen)
        firsts.append(rows[first])
        seconds.append(second)
        meanings.append(gap[first, second])
        progress.advance(len(rows))
    progress.finish()
    first, second, semantic = np.concatenate(firsts), np.concatenate(seconds), np.concatenate(meanings)
    transition = _transition_distances(wfa, ids, first, second)
    kept = transition >= min_transition
    first, second, semantic, transition = first[kept], second[kept], semantic[kept], transition[kept]
    order = np.argsort(ids[first], kind="stable")
    counts = np.bincount(ids[first], minlength=len(wfa.encoder.vocabulary))
    return Candidates(offsets_of(counts), ids[second[order]], semantic[order], transition[order])


def nearest_candidates(
    wfa: WFA,
    vectors: WordVectors,
    *,
    spare_stop_words: bool = False,
    tag: Callable[[str], str] | None = None,
) -> Candidates:
    """The nearest word by d_S for every word, under the same constraints: the paper's "GloVe" baseline."""
    known, ids = _known_words(wfa, vectors)
    usable = _usable(known.words, spare_stop_words)
    known, ids = known.restricted([word for word, use in zip(known.words, usable, strict=True) if use]), ids[usable]
    nearest, distance = known.neighbours(k=1 if tag is None else _TAGGED_NEIGHBOURS)
    allowed = np.ones(nearest.shape, bool)
    if tag is not None:
        tags = np.array([tag(word) for word in known.words])
        allowed = tags[nearest] == tags[:, None]
    column = allowed.argmax(1)
    order = np.argsort(ids, kind="stable")
    order = order[allowed[order, column[order]]]
    second = nearest[order, column[order]]
    there = np.zeros(len(wfa.encoder.vocabulary), np.int64)
    there[ids[order]] = 1
    semantic = (np.square(distance[order, column[order]]) / known.width).astype(np.float32)
    return Candidates(offsets_of(there), ids[second], semantic, _transition_distances(wfa, ids, order, second))


def _known_words(wfa: WFA, vectors: WordVectors) -> tuple[WordVectors, NDArray[np.int32]]:
    """The words of the alphabet that have a vector, and their ids."""
    vocabulary = wfa.encoder.vocabulary
    known = vectors.restricted(vocabulary.words[2:])
    if len(known) < 2:
        raise InputError(
            f"{vectors.source} has vectors for {len(known)} words of the automaton: too few to attack with"
        )
    return known, np.array([vocabulary.id_of(word) for word in known.words], np.int32)


def _transition_distances(
    wfa: WFA, ids: NDArray[np.int32], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float32]:
    """d_T of pairs of indices into `ids`; -> (pairs,)"""
    table = TransitionEmbeddings(wfa, ids)
    # neighbouring pairs share words: each word's matrix is made once per chunk
    result = np.empty(len(first), np.float32)
    for start in range(0, len(first), _PAIRS):
        chunk = slice(start, start + _PAIRS)
        index, at = np.unique(np.concatenate([first[chunk], second[chunk]]), return_inverse=True)
        rows = table.rows(index)
        left, right = np.split(at, 2)
        gap = rows[left] - rows[right]
        result[chunk] = np.einsum("ij,ij->i", gap, gap) / table.width
    return result


def _usable(words: tuple[str, ...], spare_stop_words: bool) -> NDArray[np.bool_]:
    if not spare_stop_words:
        return np.ones(len(words), bool)
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return np.array([word not in ENGLISH_STOP_WORDS and any(char.isalpha() for char in word) for word in words])
