"""What may be done to a text: words replaced, left out, put in, doubled or swapped, each an option of a position.

A position has options; the first is the word that stands there. An option puts a phrase, perhaps empty, in place of
one word or, for a swap, of two. A variant takes one option at each position that no earlier option has covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged, offsets_of
from wfalens.robustness.certify.substitutes import Substitutes

EDITS = DELETE, DUPLICATE, SWAP = ("delete", "duplicate", "swap")


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


def some_picks(choices: Choices, most: int, rng: np.random.Generator, changes: int | None = None) -> tuple[Picks, bool]:
    """All variants if there are at most `most`, else that many at random, and whether they are all."""
    if count_variants(choices, changes) <= most:
        return every_pick(choices, changes), True
    return random_picks(choices, most, rng, changes), False


def spelled(choices: Choices, picks: Picks) -> Ragged[np.int32]:
    """Variants as texts; picks: (variants, L)"""
    covered = _covered(choices, picks)
    counts = np.zeros(picks.shape, np.int64)
    for at, options in enumerate(choices):
        counts[:, at] = np.array([len(option.words) for option in options])[picks[:, at]]
    counts[covered] = 0
    offsets = offsets_of(counts.sum(1))
    values, here = np.empty(offsets[-1], np.int32), offsets[:-1].copy()
    for at, options in enumerate(choices):
        table = _table(options)
        for slot in range(table.shape[1]):
            rows = np.flatnonzero(counts[:, at] > slot)
            values[here[rows] + slot] = table[picks[rows, at], slot]
        here += counts[:, at]
    return Ragged(values, offsets)


def in_words(words: Sequence[str], choices: Choices, pick: Sequence[int], vocabulary: Sequence[str]) -> tuple[str, ...]:
    """One variant in words: the text's own words as they are spelled there, the others as the vocabulary has them."""
    said: list[str] = []
    at = 0
    while at < len(choices):
        option = choices[at][pick[at]]
        own = {choices[near][0].words[0]: words[near] for near in range(at, at + option.span)}
        said += [own.get(word, vocabulary[word]) for word in option.words]
        at += option.span
    return tuple(said)


def _covered(choices: Choices, picks: Picks) -> NDArray[np.bool_]:
    """Positions that the option at the position before covers; (variants, L)"""
    covered = np.zeros(picks.shape, bool)
    for at, options in enumerate(choices[:-1]):
        spans = np.array([option.span for option in options])
        covered[:, at + 1] = (spans[picks[:, at]] > 1) & ~covered[:, at]
    return covered


def _table(options: tuple[Option, ...]) -> NDArray[np.int32]:
    """The words of options, filled up; (options, longest)"""
    table = np.zeros((len(options), max(len(option.words) for option in options)), np.int32)
    for number, option in enumerate(options):
        table[number, : len(option.words)] = option.words
    return table
