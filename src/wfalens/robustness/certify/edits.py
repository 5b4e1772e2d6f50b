"""What may be done to a text: words replaced, left out, put in, doubled or swapped, each an option of a position.

A position has options; the first is the word that stands there. An option puts a phrase, perhaps empty, in place of
one word or, for a swap, of two. A variant takes one option at each position that no earlier option has covered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.ragged import Ragged, offsets_of
from wfalens.storage import file_text
from wfalens.text.similar_words import Nearness


@dataclass(frozen=True)
class Substitutes:
    """For words, by id, the ids of those that may replace them. A word without any stays as it is."""

    of_word: Mapping[int, NDArray[np.int32]]
    left_out: int = 0  # replacements of words of the texts that the automaton cannot read

    @classmethod
    def of(cls, wfa: WFA, words: Mapping[str, Iterable[str]]) -> Substitutes:
        """From words; refused if the automaton does not know one of the replacements."""
        vocabulary, table = wfa.encoder.vocabulary, {}
        for word, others in words.items():
            chosen = list(dict.fromkeys(others))
            for other in chosen:
                if other not in vocabulary:
                    raise InputError(
                        f"the automaton does not know {other!r}, which should replace {word!r}", code="unknown-word"
                    )
            table[vocabulary.id_of(word)] = np.array([vocabulary.id_of(other) for other in chosen], np.int32)
        return cls(table)

    @classmethod
    def listed(
        cls, wfa: WFA, words: Mapping[str, Sequence[str]], most: int | None = None, of: Iterable[str] = ()
    ) -> Substitutes:
        """From lists of anybody: those that the automaton knows, at most so many a word; the others are left out.

        of  words of the texts, whose replacements are counted where the automaton does not know both
        """
        vocabulary = wfa.encoder.vocabulary
        known = {
            word: [other for other in dict.fromkeys(others) if other in vocabulary and other != word][:most]
            for word, others in words.items()
            if word in vocabulary
        }
        pairs = {(word, other) for word in of for other in words.get(word, ()) if other != word}
        unknown = sum(word not in vocabulary or other not in vocabulary for word, other in pairs)
        return replace(cls.of(wfa, known), left_out=unknown)

    @classmethod
    def near(
        cls, wfa: WFA, nearness: Nearness, k: int, *, of: Iterable[str] | None = None, within: float | None = None
    ) -> Substitutes:
        """For the words `of` (None: all) the `k` nearest of those near in meaning; `within`: another bound on d_S."""
        if k < 1:
            raise InputError(f"a word needs at least one substitute, not {k}", code="option-value")
        vocabulary = wfa.encoder.vocabulary
        ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int32)
        found = nearness.pairs(of, within)
        first, start = np.unique(found.first, return_index=True)
        end = np.minimum(np.append(start, len(found.first))[1:], start + k)
        rows = zip(ids[first], start, end, strict=True)
        return cls({int(word): ids[found.second[begin:stop]] for word, begin, stop in rows})

    def of_id(self, word: int) -> list[int]:
        """The ids of the words that may replace a word."""
        others = self.of_word.get(word)
        return [] if others is None else [int(other) for other in others if other != word]


class Option(NamedTuple):
    """What may stand in place of the next `span` words."""

    words: tuple[int, ...]
    span: int = 1


Choices = list[tuple[Option, ...]]  # for every position of a text what may stand there, its own word first
Picks = NDArray[np.int16]  # (variants, L): the option taken at each position; 0 where an earlier one covers it


@dataclass(frozen=True)
class Edits:
    """The changes that an adversary may make, each of them one change."""

    substitutes: Substitutes
    delete: bool = False
    duplicate: bool = False
    swap: bool = False
    insert: tuple[int, ...] = ()  # words that may be put before or behind any word

    def choices(self, ids: NDArray[np.int32]) -> Choices:
        """What may stand at every position of a text; the word itself comes first."""
        return [self._options(ids.tolist(), at) for at in range(len(ids))]

    def _options(self, ids: list[int], at: int) -> tuple[Option, ...]:
        own = ids[at]
        options = [Option((own,)), *(Option((other,)) for other in self.substitutes.of_id(own))]
        options += [Option(())] if self.delete else []
        options += [Option((own, own))] if self.duplicate else []
        options += [Option((own, new)) for new in self.insert]
        options += [Option((new, own)) for new in self.insert] if at == 0 else []
        if self.swap and at + 1 < len(ids) and own != ids[at + 1]:
            options.append(Option((ids[at + 1], own), 2))
        return tuple(dict.fromkeys(options))


def count_variants(choices: Choices, changes: int | None = None) -> int:
    """The number of ways to make at most `changes` changes, none included."""
    length = len(choices)
    most = length if changes is None else min(changes, length)
    ways = [[0] * (most + 1) for _ in range(length + 1)]  # by position and the number of changes so far
    ways[0][0] = 1
    for at, options in enumerate(choices):
        for made in range(most + 1):
            ways[at + 1][made] += ways[at][made]
            if made < most:
                for option in options[1:]:
                    ways[at + option.span][made + 1] += ways[at][made]
    return sum(ways[length])


def every_pick(choices: Choices, changes: int | None = None) -> Picks:
    """All variants with at most `changes` changes, those with few changes first; -> (variants, L)"""
    length = len(choices)
    reached: list[list[Picks]] = [[] for _ in range(length + 1)]
    reached[0].append(np.zeros((1, length), np.int16))
    for at, options in enumerate(choices):
        rows = np.concatenate(reached[at]) if reached[at] else np.zeros((0, length), np.int16)
        free = rows if changes is None else rows[np.count_nonzero(rows, axis=1) < changes]
        reached[at + 1].append(rows)
        for number, option in enumerate(options[1:], 1):
            taken = free.copy()
            taken[:, at] = number
            reached[at + option.span].append(taken)
    found: Picks = np.concatenate(reached[length])
    return found[np.argsort(np.count_nonzero(found, axis=1), kind="stable")]


def random_picks(choices: Choices, number: int, rng: np.random.Generator, changes: int | None = None) -> Picks:
    """Random variants: an option is drawn at each position, at most `changes` of them stay. -> (number, L)"""
    sizes = np.array([len(options) for options in choices])
    drawn: Picks = (rng.random((number, len(choices))) * sizes).astype(np.int16)
    if changes is not None:
        rank = np.argsort(rng.random(drawn.shape) + (drawn == 0), axis=1).argsort(1)  # changes in random order
        drawn[rank >= changes] = 0
    drawn[_covered(choices, drawn)] = 0
    return drawn


def spelled(choices: Choices, picks: Picks) -> Ragged[np.int32]:
    """Variants as texts; picks: (variants, L)"""
    nothing = Option((), 0)  # where an earlier option covers the position
    options = [nothing, *chain.from_iterable(choices)]
    first = 1 + offsets_of(np.array([len(each) for each in choices]))[:-1]
    numbers = np.where(_covered(choices, picks), 0, first + picks)
    words = Ragged.from_lists([option.words for option in options], np.int32).take(numbers.ravel())
    return Ragged(words.values, words.offsets[:: len(choices)])


def in_words(words: Sequence[str], choices: Choices, pick: Sequence[int], vocabulary: Sequence[str]) -> tuple[str, ...]:
    """One variant in words: the text's own words as they are spelled there, the others as the vocabulary has them."""
    variant: list[str] = []
    at = 0
    while at < len(choices):
        option = choices[at][pick[at]]
        own = {choices[near][0].words[0]: words[near] for near in range(at, at + option.span)}
        variant += [own.get(word, vocabulary[word]) for word in option.words]
        at += option.span
    return tuple(variant)


def _covered(choices: Choices, picks: Picks) -> NDArray[np.bool_]:
    """Positions that the option at the position before covers; (variants, L)"""
    covered = np.zeros(picks.shape, bool)
    for at, options in enumerate(choices[:-1]):
        spans = np.array([option.span for option in options])
        covered[:, at + 1] = (spans[picks[:, at]] > 1) & ~covered[:, at]
    return covered


def read_lists(path: str | Path) -> dict[str, list[str]]:
    """Words and what may replace them: a JSON object (word → list of words), or lines of text, each word first.

    Words of a line are separated by blanks; a colon behind the first word is allowed.
    """
    path = Path(path)
    try:
        content = file_text(path)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text", code="word-lists") from None
    if path.suffix.lower() != ".json":
        rows = [line.split() for line in content.splitlines() if line.strip()]
        return {word.rstrip(":") or word: others for word, *others in rows}
    try:
        lists = json.loads(content)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(f"{path}: not valid JSON", code="word-lists") from None
    if not isinstance(lists, dict) or not all(_is_list(others) for others in lists.values()):
        raise InputError(
            f"{path}: must be one JSON object, from each word to the list of words that may replace it",
            code="word-lists",
        )
    return lists


def _is_list(others: object) -> bool:
    return isinstance(others, list) and all(isinstance(other, str) for other in others)
