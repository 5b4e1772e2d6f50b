"""The paper's attacks, their controls, and ours, as short recipes.

Deviation from the paper: a position without an allowed replacement is passed over for the next one, so that k
changes are made wherever k are possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.attack.candidates import Candidates, allowed_candidates, nearest_candidates
from wfalens.attack.search import Fixed, Guided, Search
from wfalens.automaton.wfa import WFA
from wfalens.bounds import Bounds, check_choice, whole
from wfalens.corpus.vectors import WordVectors
from wfalens.errors import InputError
from wfalens.explanation.influence import influence
from wfalens.progress import SILENT, Progress

MIN_TRANSITION = 0.01
_CHANGED = Bounds(whole, 1, 10**6)  # words of a text
WEAK = {"tagmynews": 0.15, "jigsaw_toxic": 0.12}
STRONG = {"tagmynews": 0.18, "jigsaw_toxic": 0.20}
DEFAULT_WEAK, DEFAULT_STRONG = 0.15, 0.18


@dataclass(frozen=True, eq=False)
class Arsenal:
    """What the recipes share: candidates under the weak and the strong constraint, and words by strength."""

    wfa: WFA
    nearest: Candidates
    weak: Candidates
    strong: Candidates
    strength: NDArray[np.float64]  # (V,): ‖IS‖₂, 0 for words not seen in extraction

    @classmethod
    def prepare(
        cls,
        wfa: WFA,
        vectors: WordVectors,
        weak: float = DEFAULT_WEAK,
        strong: float = DEFAULT_STRONG,
        min_transition: float = MIN_TRANSITION,
        spare_stop_words: bool = False,
        tag: Callable[[str], str] | None = None,
        only: NDArray[np.int32] | None = None,
        progress: Progress = SILENT,
    ) -> Arsenal:
        """`only`: ids of the words that may be replaced; those of the texts suffice, and others cost time."""
        if not 0 < weak <= strong:
            raise InputError(
                f"the weak bound on d_S must be positive and at most the strong one, not {weak} and {strong}"
            )
        loose = allowed_candidates(
            wfa,
            vectors,
            max_semantic=strong,
            min_transition=min_transition,
            spare_stop_words=spare_stop_words,
            tag=tag,
            only=only,
            progress=progress,
        )
        scores = influence(wfa, min_count=1)
        strength = np.zeros(len(wfa.encoder.vocabulary))
        strength[[wfa.encoder.vocabulary.id_of(word) for word in scores.words]] = scores.strength
        nearest = nearest_candidates(wfa, vectors, spare_stop_words=spare_stop_words, tag=tag)
        return cls(wfa, nearest, _tighter(loose, weak), loose, strength)

    def recipe(self, name: str, k: int) -> Search:
        check_choice("recipe", name, RECIPES)
        return RECIPES[name](self, _CHANGED.checked("k", k))


def _by_transition(candidates: Candidates) -> Candidates:
    return candidates.only_best(-candidates.transition)


def _glove(arsenal: Arsenal, k: int) -> Search:
    """The nearest word by d_S at the k strongest positions."""
    return Fixed(k, arsenal.nearest, arsenal.strength)


def _weak(arsenal: Arsenal, k: int) -> Search:
    """The largest d_T under the weak constraint at the k strongest positions."""
    return Fixed(k, arsenal.weak, arsenal.strength, _by_transition(arsenal.weak))


def _strong(arsenal: Arsenal, k: int) -> Search:
    """The same under the strong constraint."""
    return Fixed(k, arsenal.strong, arsenal.strength, _by_transition(arsenal.strong))


def _random_order(arsenal: Arsenal, k: int) -> Search:
    """Control: as strong, at random positions."""
    return Fixed(k, arsenal.strong, None, _by_transition(arsenal.strong))


def _random_word(arsenal: Arsenal, k: int) -> Search:
    """Control: as strong, with a random allowed replacement."""
    return Fixed(k, arsenal.strong, arsenal.strength)


def _guided(arsenal: Arsenal, k: int) -> Search:
    """Ours: replacements ranked by the automaton's forward and backward vectors, five tries a round."""
    return Guided(k, arsenal.strong, arsenal.wfa)


def _guided_once(arsenal: Arsenal, k: int) -> Search:
    """Ours with a single try a round: as many queries as changes."""
    return Guided(k, arsenal.strong, arsenal.wfa, tries=1)


def _greedy(arsenal: Arsenal, k: int) -> Search:
    """Comparison: every allowed replacement tried on the model."""
    return Guided(k, arsenal.strong, arsenal.wfa, tries=None)


RECIPES: dict[str, Callable[[Arsenal, int], Search]] = {
    "glove": _glove,
    "weak": _weak,
    "strong": _strong,
    "random-order": _random_order,
    "random-word": _random_word,
    "guided-once": _guided_once,
    "guided": _guided,
    "greedy": _greedy,
}


def _tighter(candidates: Candidates, max_semantic: float) -> Candidates:
    kept = candidates.semantic <= max_semantic
    passed = np.concatenate([[0], np.cumsum(kept)])
    return Candidates(
        passed[candidates.start], candidates.word[kept], candidates.semantic[kept], candidates.transition[kept]
    )
