"""Changed texts: the model answers any query, so an automaton may learn from more than the corpus."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING, UNKNOWN


class Perturbation(NamedTuple):
    """How texts are changed.

    replaced    share of words replaced in a changed text, in the mean
    clean       share of texts that are not changed
    following   share of words replaced by one that follows the same word elsewhere, in a changed text, in the mean
    uniform     share of the replacements drawn evenly from the vocabulary, not by frequency
    unknown     share of words that become `<unk>`
    most        words replaced in a changed text at most, in the mean: long texts lose a smaller share
    random      share of texts all of whose words are drawn evenly from the vocabulary
    """

    replaced: float = 0.2
    clean: float = 0.3
    uniform: float = 0.3
    unknown: float = 0.03
    most: float = math.inf
    following: float = 0.0
    random: float = 0.0


def perturbed(
    ids: Ragged[np.int32],
    counts: NDArray[np.int64],
    how: Perturbation,
    rng: np.random.Generator,
    lowest: int = UNKNOWN,
) -> Ragged[np.int32]:
    """Texts with words replaced by others, which show the model's answers off the beaten track. counts: (V,)

    `lowest` is the first id that the model may be shown; `<unk>` is drawn only if it may be.
    """
    if how.following:
        ids = _followed(ids, 2 * how.following * rng.random(len(ids)) * (rng.random(len(ids)) >= how.clean), rng)
    words, text = ids.values, ids.item_of_value()
    share = np.minimum(how.replaced, how.most / np.maximum(1, ids.lengths))
    rates = 2 * share * rng.random(len(ids)) * (rng.random(len(ids)) >= how.clean)
    cumulated = np.cumsum(counts) / counts.sum()
    frequent = np.searchsorted(cumulated, rng.random(len(words)), side="right").clip(lowest, len(counts) - 1)
    anything = rng.integers(lowest, len(counts), len(words))
    drawn = np.where(rng.random(len(words)) < how.uniform, anything, frequent)
    changed = np.where(rng.random(len(words)) < rates[text], drawn, words)
    if how.random:
        changed = np.where((rng.random(len(ids)) < how.random)[text], anything, changed)
    if lowest <= UNKNOWN:
        changed = np.where(rng.random(len(words)) < how.unknown, UNKNOWN, changed)
    return Ragged(changed.astype(np.int32), ids.offsets)


def _followed(ids: Ragged[np.int32], rates: NDArray[np.float64], rng: np.random.Generator) -> Ragged[np.int32]:
    """Texts in which words give way to one that follows the same word elsewhere in these texts. rates: (texts,)

    What comes out is more like a text that nobody has written yet than one with words from anywhere.
    """
    words = ids.values
    before = np.roll(words, 1)
    before[ids.offsets[:-1][ids.lengths > 0]] = PADDING  # nothing stands before the first word
    order = np.argsort(before, kind="stable")
    first, last = (np.searchsorted(before[order], before, side) for side in ("left", "right"))
    drawn = words[order[first + (rng.random(len(words)) * (last - first)).astype(np.int64)]]
    changed = np.where(rng.random(len(words)) < rates[ids.item_of_value()], drawn, words)
    return Ragged(changed, ids.offsets)


def random_part(ids: Ragged[np.int32], tokens: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The numbers of a random part of the texts with about that many tokens."""
    order = rng.permutation(len(ids))
    kept = np.searchsorted(np.cumsum(ids.lengths[order]), tokens) + 1
    return np.sort(order[:kept])


def length_buckets(lengths: NDArray[np.int64], tokens: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Texts of like length, about `tokens` to a batch with their padding, in random order."""
    order = np.lexsort((rng.random(len(lengths)), lengths))
    found, first = [], 0
    while first < len(order):
        longest = np.maximum.accumulate(lengths[order[first : first + tokens]])
        fits = np.searchsorted(longest * np.arange(1, len(longest) + 1), tokens, side="right")
        found.append(order[first : first + max(1, int(fits))])
        first += max(1, int(fits))
    return [found[at] for at in rng.permutation(len(found))]
