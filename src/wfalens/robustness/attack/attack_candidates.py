"""Words that may stand for another one, worked out once for the words of the texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.ragged import offsets_of
from wfalens.text.similar_words import Nearness

_FLOATS = 1 << 23  # of matrices that are held to compare pairs of words


@dataclass(frozen=True, eq=False)
class Candidates:
    """The allowed replacements of every word: those of word i are the entries from `start[i]` to `start[i + 1]`."""

    start: NDArray[np.int64]  # (V + 1,)
    word: NDArray[np.int32]  # (pairs,)
    semantic: NDArray[np.float32]  # (pairs,): d_S
    transition: NDArray[np.float32]  # (pairs,): d_T

    @classmethod
    def of_pairs(
        cls,
        wfa: WFA,
        first: NDArray[np.int32],
        second: NDArray[np.int32],
        semantic: NDArray[np.float32],
    ) -> Candidates:
        """Pairs of word ids in any order, each with its d_S; d_T is worked out here."""
        order = np.argsort(first, kind="stable")
        first, second = first[order], second[order]
        counts = np.bincount(first, minlength=len(wfa.encoder.vocabulary))
        return cls(offsets_of(counts), second, semantic[order], transition_distances(wfa, first, second))

    def of(self, word: int) -> slice:
        return slice(int(self.start[word]), int(self.start[word + 1]))

    @property
    def has_any(self) -> NDArray[np.bool_]:
        return np.diff(self.start) > 0

    def within(self, max_semantic: float, min_transition: float = 0.0) -> Candidates:
        """Those with `d_S ≤ max_semantic` and `d_T ≥ min_transition`."""
        kept = (self.semantic <= max_semantic) & (self.transition >= min_transition)
        passed = np.concatenate([[0], np.cumsum(kept)])
        return Candidates(passed[self.start], self.word[kept], self.semantic[kept], self.transition[kept])

    def only_best(self, by: NDArray[np.float32]) -> Candidates:
        """The one candidate per word that is lowest in `by`."""
        order = np.lexsort((by, np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))))
        first = order[self.start[:-1][self.has_any]]
        return Candidates(
            offsets_of(self.has_any.astype(np.int64)), self.word[first], self.semantic[first], self.transition[first]
        )


def near_candidates(
    wfa: WFA,
    nearness: Nearness,
    *,
    tag: Callable[[str], str] | None = None,
    only: NDArray[np.int32] | None = None,
) -> Candidates:
    """For every word the words that are near in meaning; d_S is the cosine distance.

    only  ids of the words that may be replaced, such as those of the texts; None: all
    tag   a part-of-speech tagger for single words; only words of the same tag replace each other
    """
    vocabulary = wfa.encoder.vocabulary
    found = nearness.pairs(None if only is None else vocabulary.decode(only))
    if tag is not None:
        tags = np.array([tag(word) for word in nearness.words])
        found = found.only(tags[found.first] == tags[found.second])
    ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int32)
    return Candidates.of_pairs(wfa, ids[found.first], ids[found.second], found.distance)


def transition_distances(
    wfa: WFA,
    first: NDArray[np.int32],
    second: NDArray[np.int32],
) -> NDArray[np.float32]:
    """d_T of pairs of word ids, in blocks whose matrices fit into a few MB; -> (pairs,)"""
    result = np.empty(len(first), np.float32)
    step = max(1, _FLOATS // (2 * wfa.states**2))
    progress.start("comparing transition matrices of words", len(first))
    for start in range(0, len(first), step):
        chunk = slice(start, min(start + step, len(first)))
        # neighbouring pairs share words: each word's matrix is made once per chunk
        ids, at = np.unique(np.concatenate([first[chunk], second[chunk]]), return_inverse=True)
        table = TransitionEmbeddings(wfa, ids)
        rows = table.rows(np.arange(len(ids)))
        left, right = np.split(at, 2)
        gap = rows[left] - rows[right]
        result[chunk] = np.einsum("ij,ij->i", gap, gap) / table.width
        progress.advance(chunk.stop - start)
    progress.finish()
    return result


def installed_tagger() -> Callable[[str], str]:
    """NLTK's tagger as a function from a word to its tag."""
    try:
        import nltk
    except ImportError:
        raise InputError(
            "no part-of-speech tagger is installed; install one with: pip install nltk", code="missing-package"
        ) from None
    try:
        nltk.pos_tag(["word"])
    except LookupError:
        raise InputError(
            "nltk has no tagger yet; get it with: python -m nltk.downloader averaged_perceptron_tagger_eng"
        ) from None

    def tag(word: str) -> str:
        return str(nltk.pos_tag([word])[0][1])[:2]  # NN and NNS are both nouns

    return tag
