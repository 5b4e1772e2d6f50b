"""The paper's attacks, their controls, and ours, as short recipes.

Deviation from the paper: a position without an allowed replacement is passed over for the next one, so that k
changes are made wherever k are possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.influence import influence
from wfalens.robustness.attack.attack_candidates import Candidates, near_candidates
from wfalens.robustness.attack.attack_search import Blind, Fixed, Guided, Search
from wfalens.text.similar_words import Nearness
from wfalens.validation import Bounds, check_choice, threshold, whole

_CHANGED = Bounds(whole, 1, 10**6)  # words of a text
WEAK, STRONG, MIN_TRANSITION = "q0.5", "q1", "q0.5"  # quantiles over the pairs of near words


@dataclass(frozen=True, eq=False)
class AttackContext:
    """What the recipes share: candidates under the weak and the strong constraint, and words by strength."""

    wfa: WFA
    nearest: Candidates
    weak: Candidates
    strong: Candidates
    strength: NDArray[np.float64]  # (V,): ‖IS‖₂, 0 for words not seen in extraction

    @classmethod
    def of(cls, wfa: WFA, nearest: Candidates, weak: Candidates, strong: Candidates) -> AttackContext:
        scores = influence(wfa, min_count=1)
        strength = np.zeros(len(wfa.encoder.vocabulary))
        strength[[wfa.encoder.vocabulary.id_of(word) for word in scores.words]] = scores.strength
        return cls(wfa, nearest, weak, strong, strength)

    @classmethod
    def prepare(
        cls,
        wfa: WFA,
        nearness: Nearness,
        weak: float | str = WEAK,
        strong: float | str = STRONG,
        min_transition: float | str = MIN_TRANSITION,
        *,
        tag: Callable[[str], str] | None = None,
        only: NDArray[np.int32] | None = None,
    ) -> AttackContext:
        """Candidates are words near in meaning. The scale of distances differs between automata and between vectors, so
        bounds are quantiles over all pairs of a word and its candidates, such as "q0.5"; numbers are taken as they are.

        weak, strong    upper bounds on d_S, the cosine distance, of the weak recipe and of all others
        min_transition  lower bound on d_T of all recipes but "nearest"
        only            ids of the words that may be replaced; those of the texts suffice, and others cost time
        """
        near = near_candidates(wfa, nearness, tag=tag, only=only)
        low, high = (_bound(value, near.semantic) for value in (weak, strong))
        if low > high:
            raise InputError(f"the weak bound on d_S must be at most the strong one, not {weak} and {strong}")
        acting = _bound(min_transition, near.transition)
        nearest = near.only_best(near.semantic)
        return cls.of(wfa, nearest, near.within(low, acting), near.within(high, acting))

    def recipe(self, name: str, k: int) -> Search:
        check_choice("recipe", name, RECIPES)
        return RECIPES[name](self, _CHANGED.checked("k", k))


def _bound(value: float | str, distances: NDArray[np.float32]) -> float:
    return threshold(value, lambda quantile: float(np.quantile(distances, quantile)) if len(distances) else 0.0)


def _by_transition(candidates: Candidates) -> Candidates:
    return candidates.only_best(-candidates.transition)


def _nearest(arsenal: AttackContext, k: int) -> Search:
    """The nearest word by d_S at the k strongest positions; the paper calls it GloVe."""
    return Fixed(k, arsenal.nearest, arsenal.strength)


def _weak(arsenal: AttackContext, k: int) -> Search:
    """The largest d_T under the weak constraint at the k strongest positions."""
    return Fixed(k, arsenal.weak, arsenal.strength, _by_transition(arsenal.weak))


def _strong(arsenal: AttackContext, k: int) -> Search:
    """The same under the strong constraint."""
    return Fixed(k, arsenal.strong, arsenal.strength, _by_transition(arsenal.strong))


def _random_order(arsenal: AttackContext, k: int) -> Search:
    """Control of strong: the same at random positions, one try."""
    return Fixed(k, arsenal.strong, None, _by_transition(arsenal.strong))


def _random_word(arsenal: AttackContext, k: int) -> Search:
    """Control of strong: the same with a random allowed replacement, one try."""
    return Fixed(k, arsenal.strong, arsenal.strength)


def _guided(arsenal: AttackContext, k: int) -> Search:
    """Ours: replacements ranked by the automaton's forward and backward vectors, five tries a round."""
    return Guided(k, arsenal.strong, arsenal.wfa)


def _guided_once(arsenal: AttackContext, k: int) -> Search:
    """Ours with a single try a round: as many queries as changes."""
    return Guided(k, arsenal.strong, arsenal.wfa, tries=1)


def _random_tries(arsenal: AttackContext, k: int) -> Search:
    """Control of guided: random positions and allowed replacements, as many tries a round."""
    return Blind(k, arsenal.strong)


def _greedy(arsenal: AttackContext, k: int) -> Search:
    """Comparison: every allowed replacement tried on the model."""
    return Guided(k, arsenal.strong, arsenal.wfa, tries=None)


RECIPES: dict[str, Callable[[AttackContext, int], Search]] = {
    "nearest": _nearest,
    "weak": _weak,
    "strong": _strong,
    "random-order": _random_order,
    "random-word": _random_word,
    "guided-once": _guided_once,
    "guided": _guided,
    "random-tries": _random_tries,
    "greedy": _greedy,
}
