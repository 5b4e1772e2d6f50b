"""Phrases that enough texts contain: words in a row, with at most one gap of one to a few other words.

Longer phrases are found from shorter ones: a phrase can be frequent only if it is so without its first word and without
its last (Apriori). Every step is a few sorts over all occurrences; there is no loop over texts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

GAP = -1  # stands between the word ids of a phrase
Key = tuple[int, ...]  # word ids in their order, with GAP between two of them


@dataclass(frozen=True, eq=False)
class PhraseCandidates:
    """Frequent phrases of one number of words m, and the pairs of a phrase and a text that contains it."""

    words: NDArray[np.int32]  # (P, m)
    gap_at: NDArray[np.int8]  # (P,): the gap stands before the word of this number; 0: there is none
    support: NDArray[np.int64]  # (P,): texts that contain it
    holder: NDArray[np.int32]  # (S,): phrases, ascending, each as often as it has texts
    text: NDArray[np.int32]  # (S,): the texts

    def __len__(self) -> int:
        return len(self.words)

    def spelled(self) -> list[Key]:
        return [
            tuple(row[:at]) + (GAP,) * (at > 0) + tuple(row[at:])
            for row, at in zip(self.words.tolist(), self.gap_at.tolist(), strict=True)
        ]

    def texts_by_class(self, classes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """How many texts with a phrase are of each class; classes: (texts,), -1 for none -> (P, count)"""
        found = classes[self.text]
        known = found >= 0
        cells = self.holder[known].astype(np.int64) * count + found[known]
        return np.bincount(cells, minlength=len(self) * count).reshape(len(self), count)


@dataclass(frozen=True, eq=False)
class _Level:
    """All frequent phrases of m words with where they end, and what the next level needs to know of them."""

    words: NDArray[np.int32]  # (P, m)
    gap_at: NDArray[np.int8]  # (P,)
    codes: NDArray[np.int64]  # (P,): ascending; the phrase without its last word, whether a gap follows, the last word
    tail: NDArray[np.int64]  # (P,): number of the phrase without its first word, on the level below
    phrase: NDArray[np.int32]  # (N,): ascending
    end: NDArray[np.int32]  # (N,): place of the last word among all tokens

    def candidates(self, text_of: NDArray[np.int32]) -> PhraseCandidates:
        text = text_of[self.end]
        first = np.ones(len(text), bool)  # of a phrase in a text: ends ascend within a phrase
        first[1:] = (np.diff(self.phrase) != 0) | (np.diff(text) != 0)
        holder = self.phrase[first]
        support = np.bincount(holder, minlength=len(self.words))
        return PhraseCandidates(self.words, self.gap_at, support, holder, text[first])


def frequent_phrases(
    ids: Ragged[np.int32],
    min_support: int,
    longest: int,
    gap: int,
) -> list[PhraseCandidates]:
    """Phrases of 1, 2, … `longest` words that at least `min_support` texts contain; unknown words are part of none.

    A gap is one to `gap` words of any kind, unknown ones too.
    """
    text_of = ids.item_of_value().astype(np.int32)
    left = (np.repeat(ids.offsets[1:], ids.lengths) - np.arange(len(ids.values)) - 1).astype(np.int32)
    progress.start("collecting phrases", longest)
    levels = [_single_words(ids.values, text_of, min_support)]
    progress.advance(1)
    rank = np.full(int(ids.values.max(initial=0)) + 1, -1)  # of a word among the frequent ones
    rank[levels[0].words[:, 0]] = np.arange(len(levels[0].words))
    ranks = rank[ids.values]
    while len(levels) < longest and len(levels[-1].words):
        levels.append(_longer(levels, ranks, text_of, left, min_support, gap))
        progress.advance(1)
    progress.finish()
    found = [level.candidates(text_of) for level in levels if len(level.words)]
    if not found:
        raise InputError(
            f"no word stands in {min_support} of these texts; lower the minimum support", code="no-frequent-word"
        )
    return found


def _single_words(values: NDArray[np.int32], text_of: NDArray[np.int32], min_support: int) -> _Level:
    known = np.flatnonzero(values > UNKNOWN)
    words, phrase, end = _frequent(values[known].astype(np.int64), known, text_of, min_support)
    none = np.zeros(len(words), np.int64)
    return _Level(words.astype(np.int32)[:, None], none.astype(np.int8), words, none, phrase, end)


def _longer(
    levels: list[_Level],
    ranks: NDArray[np.int64],
    text_of: NDArray[np.int32],
    left: NDArray[np.int32],
    min_support: int,
    gap: int,
) -> _Level:
    """The phrases with one word more than those of the last level; ranks: (tokens,), -1 for rare words"""
    last, below, count = levels[-1], levels[-2] if len(levels) > 1 else None, len(levels[0].words)
    codes, ends = [], []
    for step in range(1, gap + 2):
        gapped = step > 1
        able = left[last.end] >= step
        if gapped:
            able &= last.gap_at[last.phrase] == 0
        phrase, end = last.phrase[able].astype(np.int64), last.end[able] + step
        known = ranks[end] >= 0
        phrase, end = phrase[known], end[known]
        if below is not None:
            known = _position(last.codes, _code(last.tail[phrase], gapped, ranks[end], count)) >= 0
            phrase, end = phrase[known], end[known]
        codes.append(_code(phrase, gapped, ranks[end], count))
        ends.append(end)
    found, number, place = _frequent(np.concatenate(codes), np.concatenate(ends), text_of, min_support)
    start, gapped_ones, word = found // (2 * count), found // count % 2 == 1, found % count
    return _Level(
        np.hstack([last.words[start], levels[0].words[word]]),
        np.where(gapped_ones, last.words.shape[1], last.gap_at[start]).astype(np.int8),
        found,
        word if below is None else _position(last.codes, _code(last.tail[start], gapped_ones, word, count)),
        number,
        place,
    )


def _code(
    phrase: NDArray[np.int64], gapped: bool | NDArray[np.bool_], word: NDArray[np.int64], words: int
) -> NDArray[np.int64]:
    return np.asarray((phrase * 2 + gapped) * words + word)


def _position(codes: NDArray[np.int64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each stands among ascending codes, -1 where it does not."""
    at = np.minimum(np.searchsorted(codes, targets), len(codes) - 1)
    return np.where(codes[at] == targets, at, -1)


def _frequent(
    codes: NDArray[np.int64], ends: NDArray[np.integer], text_of: NDArray[np.int32], min_support: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The codes that enough texts have, and their distinct occurrences: number of the code (ascending), end."""
    distinct, of_code, counts = np.unique(codes, return_inverse=True, return_counts=True)
    often = counts >= min_support  # of occurrences, among which several may stand in one text
    kept = often[of_code]
    numbers = np.cumsum(often) - 1
    pairs = np.unique(numbers[of_code[kept]] * len(text_of) + ends[kept])
    phrase, end = pairs // len(text_of), pairs % len(text_of)
    text = text_of[end]
    first = np.ones(len(pairs), bool)
    first[1:] = (np.diff(phrase) != 0) | (np.diff(text) != 0)
    enough = np.bincount(phrase[first], minlength=int(often.sum())) >= min_support
    kept, numbers = enough[phrase], np.cumsum(enough) - 1
    return distinct[often][enough], numbers[phrase[kept]].astype(np.int32), end[kept].astype(np.int32)
