"""How texts go through a readable automaton: before every word a distribution over the states, and the word's class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.explanation.moves import anatomy_and_names, require_readable
from wfalens.ragged import Ragged


@dataclass(frozen=True, eq=False)
class Walks:
    """Texts as a readable automaton reads them. No text is empty."""

    wfa: StochasticWFA
    ids: Ragged[np.int32]
    after: NDArray[np.float64]  # (tokens, n): the distribution behind every word

    @classmethod
    def of(cls, wfa: StochasticWFA, ids: Ragged[np.int32]) -> Walks:
        return cls(wfa, ids, wfa.state_vectors(ids, every=True))

    @property
    def anatomy(self) -> Anatomy:
        return anatomy_and_names(self.wfa)[0]

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """(tokens, n): the distribution before every word"""
        before = np.empty_like(self.after)
        before[1:] = self.after[:-1]
        before[self.ids.offsets[:-1]] = self.wfa.initial
        return before

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """(tokens,): the class of every word"""
        return np.asarray(self.anatomy.word_class[self.ids.values], np.int64)

    @cached_property
    def states(self) -> NDArray[np.int64]:
        """(tokens,): the likeliest state before every word"""
        return np.asarray(self.before.argmax(1))

    @cached_property
    def without(self) -> NDArray[np.float64]:
        """(tokens, C): the output if the word were left out"""
        return np.asarray(np.einsum("tn,tnc->tc", self.before, self.backward))

    @cached_property
    def backward(self) -> NDArray[np.float64]:
        """(tokens, n, C): what the words behind each word make of every state"""
        matrices, centres, lengths = self.anatomy.matrices, self.anatomy.centres, self.ids.lengths
        found = np.empty((len(self.ids.values), *centres.shape))
        ends, going = self.ids.offsets[1:] - 1, np.arange(len(lengths))
        value = np.repeat(centres[None], len(lengths), axis=0)
        for back in range(int(lengths.max(initial=0))):
            going = going[lengths[going] > back]
            tokens = ends[going] - back
            found[tokens] = value[going]
            value[going] = matrices[self.classes[tokens]] @ value[going]
        return found


def reader_of(wfa: WFA) -> StochasticWFA:
    """The readable automaton by which texts are followed: the automaton itself, or the attached one."""
    readable = require_readable(wfa).wfa
    anatomy_and_names(readable)
    return readable
