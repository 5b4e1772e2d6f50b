"""Which words may replace which: the choices of an adversary, word by word."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.corpus.vectors import WordVectors
from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.errors import InputError
from wfalens.ragged import Ragged

Choices = list[NDArray[np.int32]]  # for every position of a text the words that may stand there, its own first


@dataclass(frozen=True)
class Substitutes:
    """For words, by id, the ids of those that may replace them. A word without any stays as it is."""

    of_word: Mapping[int, NDArray[np.int32]]

    @classmethod
    def of(cls, wfa: WFA, words: Mapping[str, Iterable[str]]) -> Substitutes:
        """From words; refused if the automaton does not know one of the replacements."""
        vocabulary, table = wfa.encoder.vocabulary, {}
        for word, others in words.items():
            chosen = list(dict.fromkeys(others))
            for other in chosen:
                if other not in vocabulary:
                    raise InputError(f"the automaton does not know {other!r}, which should replace {word!r}")
            table[vocabulary.id_of(word)] = np.array([vocabulary.id_of(other) for other in chosen], np.int32)
        return cls(table)

    @classmethod
    def nearest(
        cls,
        wfa: WFA,
        vectors: WordVectors,
        k: int,
        *,
        of: Iterable[str] | None = None,
        max_semantic: float = math.inf,
        spare: Collection[str] = (),
    ) -> Substitutes:
        """The `k` nearest words by their vectors, among those that extraction has seen.

        of            only for these words, which is quicker (default: for all)
        max_semantic  bound on d_S, the mean squared difference of the vectors
        spare         words that are neither replaced nor put in
        """
        if k < 1:
            raise InputError(f"a word needs at least one substitute, not {k}")
        vocabulary = wfa.encoder.vocabulary
        seen = [vocabulary.words[at] for at in np.flatnonzero(wfa.word_counts) if at > UNKNOWN]
        known = vectors.restricted([word for word in seen if word not in spare])
        if len(known) < 2:
            raise InputError(f"{vectors.source} has vectors for {len(known)} words of the automaton: too few")
        ids = np.array([vocabulary.id_of(word) for word in known.words], np.int32)
        asked = known.words if of is None else sorted({word for word in of if word in known})
        if not asked:
            return cls({})
        nearest, distance = known.neighbours(np.array([known.row_of(word) for word in asked]), k)
        allowed = np.square(distance) / known.width <= max_semantic
        rows = zip(asked, nearest, allowed, strict=True)
        return cls({vocabulary.id_of(word): ids[row[near]] for word, row, near in rows})

    def choices(self, ids: NDArray[np.int32]) -> Choices:
        """What may stand at every position of a text; the word itself comes first."""
        empty = np.zeros(0, np.int32)
        others = (self.of_word.get(int(word), empty) for word in ids)
        return [
            np.concatenate([[word], options[options != word]]).astype(np.int32)
            for word, options in zip(ids, others, strict=True)
        ]


def count_variants(choices: Choices, changes: int | None = None) -> int:
    """The number of texts with at most `changes` words changed, the given one included."""
    ways = [1]  # by the number of words changed so far
    for options in choices:
        more = [0, *(number * (len(options) - 1) for number in ways)]
        ways = [kept + changed for kept, changed in zip([*ways, 0], more, strict=True)][
            : None if changes is None else changes + 1
        ]
    return sum(ways)


def every_variant(choices: Choices, changes: int | None = None) -> NDArray[np.int32]:
    """All texts with at most `changes` words changed; -> (variants, words)"""
    open_positions = [at for at, options in enumerate(choices) if len(options) > 1]
    own = np.array([options[0] for options in choices], np.int32)
    most = len(open_positions) if changes is None else min(changes, len(open_positions))
    rows = [own]
    for number in range(1, most + 1):
        for positions in combinations(open_positions, number):
            for words in product(*(choices[at][1:] for at in positions)):
                row = own.copy()
                row[list(positions)] = words
                rows.append(row)
    return np.array(rows)


def random_variants(
    choices: Choices, number: int, rng: np.random.Generator, changes: int | None = None
) -> NDArray[np.int32]:
    """Random texts: each word is drawn from its choices, at most `changes` of them stay changed. -> (number, words)"""
    sizes = np.array([len(options) for options in choices])
    drawn = (rng.random((number, len(choices))) * sizes).astype(np.int64)
    if changes is not None:
        rank = np.argsort(rng.random(drawn.shape) + (drawn == 0), axis=1).argsort(1)  # changed words in random order
        drawn[rank >= changes] = 0
    columns = [options[drawn[:, at]] for at, options in enumerate(choices)]
    return np.stack(columns, axis=1)


def variants(
    choices: Choices, most: int, rng: np.random.Generator, changes: int | None = None
) -> tuple[NDArray[np.int32], bool]:
    """All texts if there are at most `most`, else that many at random, and whether they are all."""
    if count_variants(choices, changes) <= most:
        return every_variant(choices, changes), True
    return random_variants(choices, most, rng, changes), False


def as_texts(rows: NDArray[np.int32]) -> Ragged[np.int32]:
    """Texts of equal length; (texts, words)"""
    return Ragged(rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1])
