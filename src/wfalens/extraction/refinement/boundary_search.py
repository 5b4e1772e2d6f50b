"""Texts near a decision of the automaton: there it differs from the model first. The model is not asked.

Two searches, by edits at random and by forward vectors and backward matrices: `α_{t−1}·Ê_σ·β_t` is the output of a
text with σ in place of its word t, so that many words are tried in many places for the price of reading the text twice,
and the one with the least margin is taken. Of the texts found by each, those where the automaton is least sure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import WFA
from wfalens.extraction.refinement.query_sampler import QuerySampler
from wfalens.ragged import Ragged, concatenate

_SEARCHED = 4  # texts that the automaton reads for each one that is taken
_PLACES, _WORDS = 6, 32  # of a text where replacements are tried, and words that are tried there
_PRODUCTS = 1 << 31  # multiplications of a search by backward matrices at most


def boundary_texts(
    wfa: WFA, base: Ragged[np.int32], source: QuerySampler, number: int, rng: np.random.Generator
) -> Ragged[np.int32]:
    """So many texts, half of them by each search; fewer by backward matrices where those of many states cost more."""

    def least_sure(texts: Ragged[np.int32], number: int) -> Ragged[np.int32]:
        return texts.take(np.sort(np.argsort(wfa.confidence(texts), kind="stable")[:number]))

    def some(number: int) -> Ragged[np.int32]:
        return base.take(rng.integers(0, len(base), _SEARCHED * number))

    paid = _affordable(wfa, base, number // 2)
    replaced = least_sure(replacements(wfa, some(paid), source, rng), paid)
    return concatenate([replaced, least_sure(source.edited(some(number - paid), rng), number - paid)])


def replacements(wfa: WFA, texts: Ragged[np.int32], source: QuerySampler, rng: np.random.Generator) -> Ragged[np.int32]:
    """Each text, none empty, with one other word: the one of those tried that leaves the automaton least sure."""
    values = texts.values.copy()
    for at, text in enumerate(texts):
        words = rng.choice(source.words, min(_WORDS, len(source.words)), replace=False)
        places = rng.choice(len(text), min(_PLACES, len(text)), replace=False)
        place, word = _least_sure(wfa, text, places, words)
        values[texts.offsets[at] + place] = word
    return Ragged(values, texts.offsets)


def _least_sure(
    wfa: WFA, text: NDArray[np.int32], places: NDArray[np.int64], words: NDArray[np.int32]
) -> tuple[int, int]:
    """Where which word makes the least margin; what stands there already is not tried."""
    forward, backward = forward_backward(wfa, text)
    margins = np.stack([wfa.margins(replacement_outputs(wfa, forward, backward, place, words)) for place in places])
    margins[words == text[places][:, None]] = np.inf
    place, word = np.unravel_index(margins.argmin(), margins.shape)
    return int(places[place]), int(words[word])


def _affordable(wfa: WFA, base: Ragged[np.int32], most: int) -> int:
    products = float(base.lengths.mean()) * wfa.states**2 * len(wfa.class_names)
    return min(most, int(_PRODUCTS / (_SEARCHED * products)))
