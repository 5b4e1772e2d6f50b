"""Games written out: every coalition by dense matrices, every index by its definition."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from hypothesis import strategies as st

from tests.automata import LinearSample, Sample, linear_samples, samples
from wfalens.automaton import WFA
from wfalens.ragged import Ragged

ABSENCES = ("delete", "unknown", "background")  # those that are one matrix; bigrams: test_background


@dataclass
class Case:
    """An automaton with the dense matrices of its words, and a text."""

    wfa: WFA
    matrices: np.ndarray  # (V, n, n)
    ids: np.ndarray  # (L,)

    @property
    def ragged(self) -> Ragged:
        return Ragged(self.ids, np.array([0, len(self.ids)]))

    def absent(self, absence: str) -> np.ndarray:
        if absence == "delete":
            return np.eye(self.wfa.states)
        if absence == "unknown":
            return self.matrices[1]
        shares = self.wfa.word_counts / self.wfa.word_counts.sum()
        return np.einsum("w,wij->ij", shares, self.matrices)

    def weights(self, absence: str) -> np.ndarray:
        """`I·M_1⋯M_L·F` of every coalition; bit t of its number tells whether word t is present. -> (2^L, C)"""
        absent, final = self.absent(absence), self.wfa.read_out(np.eye(self.wfa.states))
        found = []
        for coalition in range(1 << len(self.ids)):
            vector = self.wfa.initial
            for position, word in enumerate(self.ids):
                vector = vector @ (self.matrices[word] if coalition >> position & 1 else absent)
            found.append(vector @ final)
        return np.array(found)


def shapley_by_definition(values: np.ndarray) -> np.ndarray:
    """`φ_t = Σ_S |S|!(L−1−|S|)!/L!·(v(S∪t) − v(S))`; (2^L, C) -> (L, C)"""
    length = len(values).bit_length() - 1
    found = np.zeros((length, values.shape[1]))
    for coalition in range(len(values)):
        for position in range(length):
            if not coalition >> position & 1:
                size = coalition.bit_count()
                share = factorial(size) * factorial(length - 1 - size) / factorial(length)
                found[position] += share * (values[coalition | 1 << position] - values[coalition])
    return found


def banzhaf_by_definition(values: np.ndarray) -> np.ndarray:
    length = len(values).bit_length() - 1
    without = [[s for s in range(len(values)) if not s >> t & 1] for t in range(length)]
    return np.array([np.mean([values[s | 1 << t] - values[s] for s in without[t]], axis=0) for t in range(length)])


def interactions_by_definition(values: np.ndarray) -> np.ndarray:
    """`I_st = Σ_S |S|!(L−2−|S|)!/(L−1)!·(v(S∪st) − v(S∪s) − v(S∪t) + v(S))`; (2^L, C) -> (L, L, C)"""
    length = len(values).bit_length() - 1
    found = np.zeros((length, length, values.shape[1]))
    for s in range(length):
        for t in range(length):
            for rest in range(len(values)):
                if s != t and not rest >> s & 1 and not rest >> t & 1:
                    size = rest.bit_count()
                    share = factorial(size) * factorial(length - 2 - size) / factorial(length - 1)
                    both = values[rest | 1 << s | 1 << t] - values[rest | 1 << s] - values[rest | 1 << t] + values[rest]
                    found[s, t] += share * both
    return found


def dense_matrices(item: Sample | LinearSample) -> np.ndarray:
    if isinstance(item, LinearSample):
        return item.matrices
    return np.array([item.matrix(word) for word in range(len(item.counts))])


@st.composite
def cases(draw, most_words: int = 7, kinds=("stochastic", "linear")) -> Case:
    item = draw(samples() if draw(st.sampled_from(kinds)) == "stochastic" else linear_samples())
    words = len(item.wfa.encoder.vocabulary)
    ids = draw(st.lists(st.integers(1, words - 1), min_size=1, max_size=most_words))
    return Case(item.wfa, dense_matrices(item), np.array(ids, np.int32))


def close(found: np.ndarray, expected: np.ndarray, values: np.ndarray) -> None:
    """Equal to 1e-9, measured by the size of the numbers that were added up."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, float(np.abs(values).max())))
