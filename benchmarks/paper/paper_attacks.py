"""The words that the paper's attacks may put in: mean squared differences, bounds as printed (paper §6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.robustness.attack.recipes import AttackContext, Candidates
from wfalens.text.word_vectors import WordVectors

MIN_TRANSITION = 0.01
WEAK = {"tagmynews": 0.15, "jigsaw_toxic": 0.12}
STRONG = {"tagmynews": 0.18, "jigsaw_toxic": 0.20}
DEFAULT_WEAK, DEFAULT_STRONG = 0.15, 0.18
_BLOCK = 1024  # words whose distances to all others are held at a time


def paper_context(
    wfa: WFA, vectors: WordVectors, weak: float, strong: float, min_transition: float = MIN_TRANSITION
) -> AttackContext:
    """Bounds on d_S of the weak recipe and of all others, and the lower bound on d_T."""
    if not 0 < weak <= strong:
        raise InputError(f"the weak bound on d_S must be positive and at most the strong one, not {weak} and {strong}")
    loose = allowed_candidates(wfa, vectors, strong).within(strong, min_transition)
    return AttackContext(wfa, nearest_candidates(wfa, vectors), loose.within(weak), loose)


def allowed_candidates(wfa: WFA, vectors: WordVectors, max_semantic: float) -> Candidates:
    """All pairs of words with `d_S ≤ max_semantic`."""
    known, ids = _known_words(wfa, vectors)
    squares = np.einsum("ij,ij->i", known.matrix, known.matrix)
    firsts, seconds, meanings = [], [], []
    for start in range(0, len(known), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(known)))
        gap = squares[rows, None] + squares - 2 * (known.matrix[rows] @ known.matrix.T)
        gap = np.maximum(gap, 0) / known.width
        chosen = gap <= max_semantic
        chosen[np.arange(len(rows)), rows] = False
        first, second = np.nonzero(chosen)
        firsts.append(ids[rows[first]])
        seconds.append(ids[second])
        meanings.append(gap[first, second].astype(np.float32))
    return Candidates.of_pairs(wfa, np.concatenate(firsts), np.concatenate(seconds), np.concatenate(meanings))


def nearest_candidates(wfa: WFA, vectors: WordVectors) -> Candidates:
    """The nearest word by d_S for every word: the paper's "GloVe" baseline."""
    known, ids = _known_words(wfa, vectors)
    nearest, distance = known.neighbours(k=1)
    semantic = (np.square(distance[:, 0]) / known.width).astype(np.float32)
    return Candidates.of_pairs(wfa, ids, ids[nearest[:, 0]], semantic)


def _known_words(wfa: WFA, vectors: WordVectors) -> tuple[WordVectors, NDArray[np.int32]]:
    """The words of the alphabet that have a vector, and their ids."""
    vocabulary = wfa.encoder.vocabulary
    known = vectors.restricted(vocabulary.words[2:])
    if len(known) < 2:
        raise InputError(
            f"{vectors.source} has vectors for {len(known)} words of the automaton: too few to attack with"
        )
    return known, np.array([vocabulary.id_of(word) for word in known.words], np.int32)
