"""Changed texts: the model answers any query, so an automaton may learn from more than the corpus."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.ragged import Ragged, concatenate

_JOINS, _MOST_JOINED = 3.0, 0.3  # places where a text goes over into another, in the mean; share of the words at most


class Perturbation(NamedTuple):
    """How texts are changed.

    replaced    share of words replaced in a changed text, in the mean
    clean       share of texts that are not changed
    anything    share of the replacements drawn evenly from the vocabulary, not by frequency
    unknown     share of words that become `<unk>`
    most        words replaced in a changed text at most, in the mean: long texts lose a smaller share
    recombined  share of texts that are put together from several, before words are replaced
    """

    replaced: float = 0.2
    clean: float = 0.3
    anything: float = 0.3
    unknown: float = 0.03
    most: float = math.inf
    recombined: float = 0.0


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
    words, text = ids.values, ids.item_of_value()
    share = np.minimum(how.replaced, how.most / np.maximum(1, ids.lengths))
    rates = 2 * share * rng.random(len(ids)) * (rng.random(len(ids)) >= how.clean)
    cumulated = np.cumsum(counts) / counts.sum()
    frequent = np.searchsorted(cumulated, rng.random(len(words)), side="right").clip(lowest, len(counts) - 1)
    anything = rng.integers(lowest, len(counts), len(words))
    drawn = np.where(rng.random(len(words)) < how.anything, anything, frequent)
    changed = np.where(rng.random(len(words)) < rates[text], drawn, words)
    if lowest <= UNKNOWN:
        changed = np.where(rng.random(len(words)) < how.unknown, UNKNOWN, changed)
    return Ragged(changed.astype(np.int32), ids.offsets)


def recombined(ids: Ragged[np.int32], share: float, rng: np.random.Generator) -> Ragged[np.int32]:
    """Texts of which a share goes on, after a word, as another text with that word does: walks of a bigram chain.

    They read like texts of the corpus, and there is no end of them. None is longer than the longest text.
    """
    chosen = rng.random(len(ids)) < share
    if not chosen.any():
        return ids
    rate = min(_MOST_JOINED, _JOINS / ids.lengths.mean())
    return concatenate([ids.take(np.flatnonzero(~chosen)), _walks(ids, ids.offsets[:-1][chosen], rate, rng)])


def _walks(ids: Ragged[np.int32], first: NDArray[np.int64], rate: float, rng: np.random.Generator) -> Ragged[np.int32]:
    """Walks along the texts from the places `first`; each word leads to another occurrence of it at this rate."""
    words, ends = ids.values, np.zeros(len(ids.values), bool)
    ends[ids.offsets[1:] - 1] = True
    occurrences = np.argsort(words, kind="stable")
    start = np.searchsorted(words[occurrences], np.arange(words.max() + 2))
    place, going = first.copy(), np.arange(len(first))  # of the walks that have not ended
    walks, read = [], []
    for _ in range(int(ids.lengths.max())):
        walks.append(going)
        read.append(words[place])
        number = start[read[-1]] + (rng.random(len(place)) * np.diff(start)[read[-1]]).astype(np.int64)
        place = np.where(rng.random(len(place)) < rate, occurrences[number], place)
        lasts = ~ends[place]
        place, going = place[lasts] + 1, going[lasts]
    order = np.argsort(np.concatenate(walks), kind="stable")
    lengths = np.bincount(np.concatenate(walks), minlength=len(first))
    return Ragged.from_lengths(np.concatenate(read)[order], lengths)


def random_part(ids: Ragged[np.int32], tokens: int, rng: np.random.Generator) -> Ragged[np.int32]:
    """A random part of the texts with about that many tokens."""
    order = rng.permutation(len(ids))
    kept = np.searchsorted(np.cumsum(ids.lengths[order]), tokens) + 1
    return ids.take(np.sort(order[:kept]))


def batches(lengths: NDArray[np.int64], tokens: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Texts of like length, about `tokens` to a batch with their padding, in random order."""
    order = np.lexsort((rng.random(len(lengths)), lengths))
    found, first = [], 0
    while first < len(order):
        longest = np.maximum.accumulate(lengths[order[first : first + tokens]])
        fits = np.searchsorted(longest * np.arange(1, len(longest) + 1), tokens, side="right")
        found.append(order[first : first + max(1, int(fits))])
        first += max(1, int(fits))
    return [found[at] for at in rng.permutation(len(found))]
