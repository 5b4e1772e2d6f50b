"""Attacks as recipes: a search over candidate replacements, guided by the automaton or at random.

A search proposes changes for one text and one round; all texts advance together, so that the model is asked in batches.
The recipes are the paper's attacks, their controls, and ours. Deviation from the paper: a position without an allowed
replacement is passed over for the next one, so that k changes are made wherever k are possible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.influence import influence
from wfalens.robustness.attack.attack_candidates import Candidates, near_candidates
from wfalens.text.similar_words import Nearness
from wfalens.validation import Bounds, Options, check_choice, option, threshold, whole

Change = tuple[int, int]  # position, word


@dataclass
class Target:
    """A text under attack: its words as they stand now, what was changed, and what the model made of it."""

    ids: NDArray[np.int32]
    label: int  # the true class, which the model finds before the attack
    changed: tuple[int, ...] = ()
    queries: int = 0

    def with_changes(self, changes: Sequence[Change]) -> NDArray[np.int32]:
        ids = self.ids.copy()
        for position, word in changes:
            ids[position] = word
        return ids


class Search(ABC):
    """Proposes, for one target and one round, lists of changes to try, the most promising first."""

    rounds: int

    @abstractmethod
    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]: ...


@dataclass(frozen=True)
class Fixed(Search):
    """One proposal: the k first positions in an order, each with one chosen replacement.

    by_strength  ‖IS‖₂ of every word of the alphabet: positions in falling order; None: in random order
    best         candidates with one choice per word left; None: a random one of `candidates`
    """

    k: int
    candidates: Candidates
    by_strength: NDArray[np.float64] | None = None
    best: Candidates | None = None
    rounds: int = 1

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        open_positions = np.flatnonzero(self.candidates.has_any[target.ids])
        if self.by_strength is None:
            open_positions = rng.permutation(open_positions)
        else:
            open_positions = open_positions[np.argsort(-self.by_strength[target.ids[open_positions]], kind="stable")]
        table = self.candidates if self.best is None else self.best
        changes = []
        for position in open_positions[: self.k]:
            choices = table.word[table.of(int(target.ids[position]))]
            changes.append((int(position), int(choices[rng.integers(len(choices))])))
        return [changes] if changes else []


TRIES = 5  # a round, of the guided search and of its control


@dataclass(frozen=True)
class Rounds(Search):
    """One word is changed in every round; subclasses choose which single replacements are tried."""

    k: int
    candidates: Candidates

    @property
    def rounds(self) -> int:  # type: ignore[override]
        return self.k

    def options(self, target: Target) -> list[tuple[int, NDArray[np.int32]]]:
        """The positions that are still as they were, each with its candidates."""
        options = ((at, self.candidates.word[self.candidates.of(int(word))]) for at, word in enumerate(target.ids))
        return [(at, choices) for at, choices in options if len(choices) and at not in target.changed]


@dataclass(frozen=True)
class Guided(Rounds):
    """Every round, all single replacements ranked by what the automaton expects of them; the first few are tried.

    The ranking costs no model query: it comes from the automaton's forward and backward vectors. `tries=None`
    tries all of them on the model, which is greedy search.
    """

    wfa: WFA
    tries: int | None = TRIES

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:  # noqa: ARG002
        options = self.options(target)
        if not options:
            return []
        forward, backward = forward_backward(self.wfa, target.ids)
        scores = [
            replacement_outputs(self.wfa, forward, backward, at, choices)[:, target.label] for at, choices in options
        ]
        changes = [(at, int(choice)) for at, choices in options for choice in choices]
        order = np.argsort(np.concatenate(scores), kind="stable")[: self.tries]
        return [[changes[at]] for at in order]


@dataclass(frozen=True)
class Blind(Rounds):
    """Every round, random single replacements: what as many tries reach without the automaton."""

    tries: int = TRIES

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        changes = [(at, int(choice)) for at, choices in self.options(target) for choice in choices]
        return [[changes[at]] for at in rng.permutation(len(changes))[: self.tries]]


WEAK, STRONG, MIN_TRANSITION = "q0.5", "q1", "q0.5"  # quantiles over the pairs of near words
_CHANGES = Bounds(whole, 1, 10**6)


@dataclass(frozen=True, kw_only=True)
class AttackOptions(Options):
    """What an attack may change, and how many queries it may spend.

    A bound is a number, or a quantile over all pairs of near words such as "q0.5".
    """

    changes: int = option(1, "Words changed at most (characters, where tokens are characters).", _CHANGES)
    weak: float | str = option(WEAK, "Bound on the semantic distance d_S of the weak recipe.")
    strong: float | str = option(STRONG, "Bound on the semantic distance d_S of all other recipes.")
    min_transition: float | str = option(MIN_TRANSITION, "Lower bound on the transition distance d_T.")
    spare_stop_words: bool = option(False, "Leave stop words as they are.")
    same_part_of_speech: bool = option(False, "Replace words only by words with the same tag (needs nltk).")
    budget: int | None = option(None, "Model queries per text at most.", Bounds(whole, 1, 10**9, (None,)))


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
            raise InputError(
                f"the weak bound on d_S must be at most the strong one, not {weak} and {strong}", code="attack-bounds"
            )
        acting = _bound(min_transition, near.transition)
        nearest = near.only_best(near.semantic)
        return cls.of(wfa, nearest, near.within(low, acting), near.within(high, acting))

    def recipe(self, name: str, k: int) -> Search:
        check_choice("recipe", name, RECIPES)
        return RECIPES[name](self, _CHANGES.checked("changes", k))


def _bound(value: float | str, distances: NDArray[np.float32]) -> float:
    return threshold(value, lambda quantile: float(np.quantile(distances, quantile)) if len(distances) else 0.0)


def _by_transition(candidates: Candidates) -> Candidates:
    return candidates.only_best(-candidates.transition)


def _nearest(context: AttackContext, k: int) -> Search:
    """The nearest word by d_S at the k strongest positions; the paper calls it GloVe."""
    return Fixed(k, context.nearest, context.strength)


def _weak(context: AttackContext, k: int) -> Search:
    """The largest d_T under the weak constraint at the k strongest positions."""
    return Fixed(k, context.weak, context.strength, _by_transition(context.weak))


def _strong(context: AttackContext, k: int) -> Search:
    """The same under the strong constraint."""
    return Fixed(k, context.strong, context.strength, _by_transition(context.strong))


def _random_order(context: AttackContext, k: int) -> Search:
    """Control of strong: the same at random positions, one try."""
    return Fixed(k, context.strong, None, _by_transition(context.strong))


def _random_word(context: AttackContext, k: int) -> Search:
    """Control of strong: the same with a random allowed replacement, one try."""
    return Fixed(k, context.strong, context.strength)


def _guided(context: AttackContext, k: int) -> Search:
    """Ours: replacements ranked by the automaton's forward and backward vectors, five tries a round."""
    return Guided(k, context.strong, context.wfa)


def _guided_once(context: AttackContext, k: int) -> Search:
    """Ours with a single try a round: as many queries as changes."""
    return Guided(k, context.strong, context.wfa, tries=1)


def _random_tries(context: AttackContext, k: int) -> Search:
    """Control of guided: random positions and allowed replacements, as many tries a round."""
    return Blind(k, context.strong)


def _greedy(context: AttackContext, k: int) -> Search:
    """Comparison: every allowed replacement tried on the model."""
    return Guided(k, context.strong, context.wfa, tries=None)


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
