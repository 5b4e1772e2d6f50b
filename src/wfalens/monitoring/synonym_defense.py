"""Undoing what an attack may have done: rare words give way to the most frequent of their near words.

An attack replaces words by near ones, usually rarer ones. If the class of a text hangs on that, it comes back when the
usual words do; the class of a text that nobody has touched seldom changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.ragged import Ragged
from wfalens.text.similar_words import Nearness


@dataclass(frozen=True, eq=False)
class Restoration:
    """For every word the usual one that may stand for it, itself where there is none; (V,)"""

    usual: NDArray[np.int32]

    @classmethod
    def nothing(cls, wfa: WFA) -> Restoration:
        return cls(np.arange(len(wfa.word_counts), dtype=np.int32))

    @classmethod
    def of(cls, wfa: WFA, nearness: Nearness) -> Restoration:
        """By near words, those seen more often in extraction."""
        vocabulary, counts = wfa.encoder.vocabulary, wfa.word_counts
        pairs = nearness.pairs()
        ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int64)
        first, second = ids[pairs.first], ids[pairs.second]
        order = np.argsort(counts[second], kind="stable")  # the most frequent comes last and stays
        usual = np.arange(len(counts), dtype=np.int32)
        usual[first[order]] = second[order]
        return cls(np.where(counts[usual] > counts, usual, np.arange(len(counts))).astype(np.int32))

    @classmethod
    def of_pairs(cls, words: int, pairs: list[list[int]]) -> Restoration:
        """From pairs of a word and its usual one, for the others nothing changes."""
        usual = np.arange(words, dtype=np.int32)
        for word, other in pairs:
            usual[word] = other
        return cls(usual)

    @property
    def pairs(self) -> list[list[int]]:
        changed = np.flatnonzero(self.usual != np.arange(len(self.usual)))
        return [[int(word), int(self.usual[word])] for word in changed]

    def restored(self, ids: Ragged[np.int32]) -> Ragged[np.int32]:
        return Ragged(self.usual[ids.values], ids.offsets)
