"""Texts of our own to ask a model: edited texts of the corpus, random words, and texts near a decision.

Near a decision of the automaton it differs from the model first. Such texts are found without asking the model: of many
edited texts, those where the automaton is least sure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.ragged import Ragged, concatenate, positions
from wfalens.text.vocabulary import UNKNOWN

_SHARES = (0.5, 0.25, 0.25)  # edited texts, random words by frequency, random words evenly
_MOST_EDITS = 3
_SEARCHED = 8  # texts that the automaton reads for each one that is taken
_LONGEST, _FEW = 30, 3  # words of a random text where there is no corpus, and different ones of half of them


@dataclass(frozen=True, eq=False)
class QuerySampler:
    """Where texts are drawn from: half are texts of the corpus with one to three edits, the others are random.

    An edit replaces, inserts or deletes one word. Random texts are as long as texts of the corpus. Without a corpus all
    are random, of 1 to 30 words, and half repeat one to three words: what hangs on a few words would else hardly occur.
    """

    words: NDArray[np.int32]  # (words,): that may be drawn
    shares: NDArray[np.float64]  # (words,): how often each is drawn where frequency counts
    base: Ragged[np.int32] | None = None  # the texts of the corpus, none empty

    @classmethod
    def of(cls, counts: NDArray[np.int64], base: Ragged[np.int32] | None = None) -> QuerySampler:
        """counts: (V,), of every word; those that were never seen are not drawn"""
        seen = np.flatnonzero(counts)
        words = np.asarray(seen[seen > UNKNOWN], np.int32)
        if len(words) == 0:
            raise InputError("there is no word to make texts from")
        return cls(words, counts[words] / counts[words].sum(), base)

    @property
    def about(self) -> str:
        """In words, for a statement about such texts."""
        if self.base is None:
            return f"random texts of 1 to {_LONGEST} words, half of them of at most {_FEW} different ones"
        return "half texts of the corpus with 1 to 3 words changed, half random words"

    def drawn(self, number: int, rng: np.random.Generator) -> Ragged[np.int32]:
        """Independent texts, none empty."""
        if self.base is None:
            return self._without_corpus(number, rng)
        kinds = rng.choice(3, number, p=_SHARES)
        lengths = self.base.lengths[rng.integers(0, len(self.base), number)]
        by_frequency = rng.choice(self.words, int(lengths.sum()), p=self.shares)
        evenly = rng.choice(self.words, int(lengths.sum()))
        random = Ragged.from_lengths(np.where(np.repeat(kinds == 1, lengths), by_frequency, evenly), lengths)
        edited = self.edited(self.base.take(rng.integers(0, len(self.base), number)), rng)
        both = concatenate([edited, random])
        return both.take(np.where(kinds == 0, np.arange(number), number + np.arange(number)))

    def _without_corpus(self, number: int, rng: np.random.Generator) -> Ragged[np.int32]:
        lengths = rng.integers(1, _LONGEST + 1, number)
        text = np.repeat(np.arange(number), lengths)
        evenly = rng.choice(self.words, len(text))
        few, how_many = rng.choice(self.words, (number, _FEW)), rng.integers(1, _FEW + 1, number)
        repeated = few[text, (rng.random(len(text)) * how_many[text]).astype(np.int64)]
        return Ragged.from_lengths(np.where(rng.random(number)[text] < 1 / 2, repeated, evenly), lengths)

    def edited(self, texts: Ragged[np.int32], rng: np.random.Generator) -> Ragged[np.int32]:
        """Each text with one to three edits; a text of one word is not deleted."""
        left = rng.integers(1, _MOST_EDITS + 1, len(texts))
        for _ in range(_MOST_EDITS):
            texts = self._edited_once(texts, left > 0, rng)
            left -= 1
        return texts

    def _edited_once(
        self, texts: Ragged[np.int32], chosen: NDArray[np.bool_], rng: np.random.Generator
    ) -> Ragged[np.int32]:
        """Replace, insert or delete one word in each of the chosen texts."""
        lengths = texts.lengths
        kind = rng.integers(0, 3, len(texts))  # replace, insert, delete
        kind[(kind == 2) & (lengths < 2)] = 0
        kind[~chosen] = -1
        at = (rng.random(len(texts)) * (lengths + (kind == 1))).astype(np.int64)
        fresh = rng.choice(self.words, len(texts))
        after = lengths + (kind == 1) - (kind == 2)
        place = positions(np.zeros(len(texts), np.int64), after)  # within each new text
        item = np.repeat(np.arange(len(texts)), after)
        inserted, deleted = (kind[item] == 1) & (place > at[item]), (kind[item] == 2) & (place >= at[item])
        shift = deleted.astype(np.int64) - inserted
        taken = np.minimum(place + shift, lengths[item] - 1)
        values = texts.values[texts.offsets[item] + taken]
        new = ((kind[item] == 0) | (kind[item] == 1)) & (place == at[item])
        return Ragged.from_lengths(np.where(new, fresh[item], values).astype(np.int32), after)


def boundary_texts(
    wfa: WFA, base: Ragged[np.int32], source: QuerySampler, number: int, rng: np.random.Generator
) -> Ragged[np.int32]:
    """So many edited texts: those of several times as many where the automaton is least sure."""
    texts = source.edited(base.take(rng.integers(0, len(base), _SEARCHED * number)), rng)
    return texts.take(np.sort(np.argsort(wfa.confidence(texts), kind="stable")[:number]))
