"""Which words are near in meaning: the one notion that neighbours, pairs, attacks and certificates share.

Two words are near if each is among the other's ten nearest words by the cosine of their vectors, and if they are nearer
than all but one in a thousand random pairs of words. Compared are words only: nothing with a digit or without a letter,
no rests of words ("'s", "##ing"), and no negation, for which nothing else can stand. Stop words are near to stop words
alone. Vectors also reflect spelling: no short word is near to a longer one that begins with it ("al", "alabama"), and
words that begin alike must be nearer than others ("economy" and "economic" are, "coach" and "coal" are not), unless one
is the other with an ending.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.word_checks import ENDINGS, is_stop_word
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import threshold

_LONGEST_PIECE = 3  # letters: longer beginnings that two words share mostly have a common meaning
REACH = 10  # each word must be among so many nearest words of the other
_NEAR_SHARE = 0.001  # of random pairs of words that are as near as near words must be
_NEAR_EACH = 2  # words that are as near on average, if the alphabet is small
_ROUNDING = 1e-6  # of distances: a pair that is the bound itself is within it
_BEGIN_ALIKE = 3  # letters at their beginning that two words share by their spelling, not only by chance
_ALIKE_SHARE = 0.5  # of the random pairs that may be as near: words that begin alike must be nearer
_FARTHEST = 2.0  # of any two words
_FEWEST = 2  # words that can be compared
_SAMPLED_WORDS = 1500  # whose pairs give the quantiles of distances
_SPLIT_OFF = """
n't ll re ve don didn doesn isn wasn aren won wouldn couldn shouldn hasn haven hadn ain
"""
_RESTS = frozenset(_SPLIT_OFF.split())
_NEGATIONS = frozenset({"not", "no", "never", "nor", "neither", "none", "nobody", "nothing", "cannot", "without"})


def is_word(word: str) -> bool:
    """Whether a token is a word that has a meaning: at least two letters at its ends, no digit, no rest of a word."""
    ends = len(word) > 1 and word[0].isalpha() and word[-1].isalpha()
    return ends and word not in _RESTS and not any(letter.isdigit() for letter in word)


def is_piece(one: str, other: str) -> bool:
    """Whether the shorter of two words is but a piece of the longer: "al" of "alabama", not "car" of "cars"."""
    short, long = sorted((one, other), key=len)
    return len(short) <= _LONGEST_PIECE and long.startswith(short) and long[len(short) :] not in ENDINGS


def begin_alike(one: str, other: str) -> bool:
    """Whether two words share their beginning and neither is the other with an ending."""
    short, long = sorted((one, other), key=len)
    inflected = long.startswith(short) and long[len(short) :] in ENDINGS
    return not inflected and long[:_BEGIN_ALIKE] == short[:_BEGIN_ALIKE]


class NearPairs(NamedTuple):
    """Ordered pairs of near words as columns, by the first word, then the nearest first."""

    first: NDArray[np.int64]  # (pairs,): indices into the words of a `Nearness`
    second: NDArray[np.int64]
    distance: NDArray[np.float32]  # 1 − cosine

    def within(self, bound: float) -> NearPairs:
        return self.only(self.distance <= bound)

    def only(self, kept: NDArray[np.bool_]) -> NearPairs:
        return NearPairs(self.first[kept], self.second[kept], self.distance[kept])


@dataclass(frozen=True, eq=False)
class Nearness:
    """Content words and stop words, each group with unit vectors; distances are 1 − cosine, from 0 to 2."""

    content: WordVectors
    stop: WordVectors
    reach: int = REACH

    @classmethod
    def among(cls, vectors: WordVectors, words: Iterable[str]) -> Nearness:
        """Of the given words, those that can be compared."""
        asked = [word for word in dict.fromkeys(words) if word in vectors and is_word(word) and word not in _NEGATIONS]
        known = vectors.restricted(asked)
        lengths = np.linalg.norm(known.matrix, axis=1)
        units = known.matrix / np.where(lengths > 0, lengths, 1)[:, None]
        stops = np.array([is_stop_word(word) for word in known.words], bool)

        def group(chosen: NDArray[np.bool_]) -> WordVectors:
            rows = np.flatnonzero(chosen & (lengths > 0))
            return WordVectors([known.words[row] for row in rows], units[rows].astype(np.float32), vectors.source)

        return cls(group(~stops), group(stops))

    @property
    def source(self) -> str:
        """Where the vectors come from."""
        return self.content.source

    @cached_property
    def words(self) -> tuple[str, ...]:
        return self.content.words + self.stop.words

    @property
    def without_stop_words(self) -> Nearness:
        return Nearness(self.content, self.stop.restricted(()), self.reach)

    def __contains__(self, word: object) -> bool:
        return word in self.content or word in self.stop

    @cached_property
    def farthest(self) -> float:
        """The distance of near words is at most this."""
        return self._farthest_of(1.0)

    @cached_property
    def farthest_alike(self) -> float:
        """The distance of near words that begin alike is at most this."""
        return self._farthest_of(_ALIKE_SHARE)

    def _farthest_of(self, part: float) -> float:
        """The distance within which that part of the share of random pairs lies that near words may have."""
        if len(self.content) < _FEWEST:
            return _FARTHEST
        share = part * min(1.0, max(_NEAR_SHARE, _NEAR_EACH / len(self.content)))
        return self.bound(f"q{share}") + _ROUNDING

    def nearest(self, word: str, k: int = REACH) -> list[tuple[str, float]]:
        """The near words of a word with their distances, at most `k`; none for what cannot be compared."""
        found = self.pairs([word])
        rows = zip(found.second[:k], found.distance[:k], strict=True)
        return [(self.words[row], float(distance)) for row, distance in rows]

    def pairs(self, of: Iterable[str] | None = None, within: float | None = None) -> NearPairs:
        """All pairs of near words, or those whose first word is among `of`; `within` replaces the usual bound."""
        asked = None if of is None else {word for word in of if word in self}
        groups = (self.content, 0), (self.stop, len(self.content))
        parts = [_mutual(group, asked, self.reach, offset) for group, offset in groups]
        found = NearPairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        if len(found.first):
            found = found.only(self._not_by_spelling(found))
        return found.within(self.farthest if within is None else within) if len(found.first) else found

    def _not_by_spelling(self, found: NearPairs) -> NDArray[np.bool_]:
        """Which pairs are near by more than their spelling; -> (pairs,)"""
        named = [(self.words[one], self.words[two]) for one, two in zip(found.first, found.second, strict=True)]
        whole = np.array([not is_piece(*pair) for pair in named], bool)
        alike = np.array([begin_alike(*pair) for pair in named], bool)
        return whole & (~alike | (found.distance <= self.farthest_alike))

    def bound(self, value: float | str) -> float:
        """A bound on distances: a number, or a quantile over random pairs of content words such as "q0.001"."""
        return threshold(value, lambda quantile: float(np.quantile(self._random_distances(), quantile)))

    def _random_distances(self) -> NDArray[np.float32]:
        if len(self.content) < _FEWEST:
            raise InputError(
                f"{self.source} has vectors for {len(self.content)} content words of this alphabet: too few to compare"
            )
        chosen = np.sort(np.random.default_rng(0).permutation(len(self.content))[:_SAMPLED_WORDS])
        units = self.content.matrix[chosen]
        return np.asarray(1 - (units @ units.T)[np.triu_indices(len(chosen), 1)])


def _mutual(group: WordVectors, of: Collection[str] | None, reach: int, offset: int) -> NearPairs:
    """The pairs of one group; `offset` is added to the indices."""
    asked = group.words if of is None else [word for word in of if word in group]
    if len(group) < _FEWEST or not asked:
        return NearPairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    rows = np.unique(np.array([group.row_of(word) for word in asked], np.int64))
    nearest, gaps = group.neighbours(rows, reach)
    reached = np.unique(nearest)
    back, _ = group.neighbours(reached, reach)
    first, second = np.repeat(rows, nearest.shape[1]), nearest.ravel()
    mutual = (back[np.searchsorted(reached, second)] == first[:, None]).any(1)
    # between unit vectors: |a − b|² = 2·(1 − cos)
    distance = np.square(gaps.ravel()) / 2
    return NearPairs(first[mutual] + offset, second[mutual] + offset, distance[mutual])
