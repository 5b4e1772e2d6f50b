"""What a phrase does in a random context, exactly: `I·B^a·Ê_phrase·B^b·F`.

B, the mean of Êσ over the words of the extraction corpus by their frequency, is a random word. The numbers
of words before and after the phrase, a and b, are drawn independently, each as the number of words before a random word
of the texts. With `u = Σ_a p(a)·I·B^a` and `G = Σ_b p(b)·B^b·F` computed once, a phrase costs one step of the automaton
per word. Its *effect* is what it changes against random words in its place, gap included: `u·Ê_phrase·G − u·B^m·G`. A
gap is `Γ = (B + B² + … + B^g)/g`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.phrases.phrase_candidates import Candidates
from wfalens.explanation.shapley.game import mean_matrix

_VECTOR_FLOATS = 1 << 22  # of phrases that are read at a time


@dataclass(frozen=True, eq=False)
class RandomContext:
    """Random words around a phrase and in its gap."""

    wfa: WFA
    before: NDArray[np.float64]  # u: (n,)
    after: NDArray[np.float64]  # G: (n, C)
    mean: NDArray[np.float64]  # B: (n, n)
    gap: NDArray[np.float64]  # Γ: (n, n)

    @classmethod
    def of(cls, wfa: WFA, lengths: NDArray[np.int64], gap: int) -> RandomContext:
        """lengths: (texts,), the numbers of words of the texts"""
        mean = mean_matrix(wfa)
        longer = len(lengths) - np.cumsum(np.bincount(lengths))[:-1]  # texts with more than a words, a = 0, 1, …
        before, after = np.zeros(wfa.states), np.zeros((wfa.states, len(wfa.class_names)))
        row, columns = wfa.initial, wfa.read_out(np.eye(wfa.states))
        for share in longer / longer.sum():
            before, after = before + share * row, after + share * columns
            row, columns = row @ mean, mean @ columns
        powers = [np.linalg.matrix_power(mean, words) for words in range(1, gap + 1)]
        return cls(wfa, before, after, mean, np.mean(powers, 0) if powers else np.zeros_like(mean))

    def effects(self, phrases: Candidates) -> NDArray[np.float64]:
        """The change of the class weights by each phrase; -> (P, C)"""
        step = max(1, _VECTOR_FLOATS // self.wfa.states)
        parts = [
            self._weights(phrases.words[at : at + step], phrases.gap_at[at : at + step])
            for at in range(0, len(phrases), step)
        ]
        plain, gapped = self._random_weights(phrases.words.shape[1])
        return np.asarray(np.concatenate(parts) - np.where(phrases.gap_at[:, None] > 0, gapped, plain))

    def _weights(self, words: NDArray[np.int32], gap_at: NDArray[np.int8]) -> NDArray[np.float64]:
        """`u·Ê_phrase·G`; (P, m), (P,) -> (P, C)"""
        vectors = self.wfa.advance(self.before[None], words[:, 0])
        for place in range(1, words.shape[1]):
            here = gap_at == place
            vectors[here] = vectors[here] @ self.gap
            vectors = self.wfa.advance(vectors, words[:, place])
        return np.asarray(vectors @ self.after)

    def _random_weights(self, words: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`u·B^m·G` and `u·B^m·Γ·G`: random words in place of a phrase without and with a gap; -> (C,), (C,)"""
        row = self.before @ np.linalg.matrix_power(self.mean, words)
        return row @ self.after, row @ self.gap @ self.after
