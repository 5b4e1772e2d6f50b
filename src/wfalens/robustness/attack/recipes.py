"""Attacks as recipes: candidate replacements, and a search over them, guided by the automaton or at random.

A search proposes changes for one text and one round; all texts advance together, so that the model is asked in batches.
The recipes are the paper's attacks, their controls, and ours. Deviation from the paper: a position without an allowed
replacement is passed over for the next one, so that k changes are made wherever k are possible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.explanation.influence import influence
from wfalens.ragged import offsets_of
from wfalens.robustness.attack.attack_options import CHANGES, AttackOptions
from wfalens.text.character_edits import Edit, edited_texts
from wfalens.text.similar_words import Nearness
from wfalens.validation import check_choice, threshold

Change = tuple[int, int]  # position, word
_FLOATS = 1 << 23  # of matrices that are held to compare pairs of words
_DIGITS = 9  # by which probabilities are compared


@dataclass(frozen=True, eq=False)
class Candidates:
    """The allowed replacements of every word: those of word i are the entries from `start[i]` to `start[i + 1]`."""

    start: NDArray[np.int64]  # (V + 1,)
    word: NDArray[np.int32]  # (pairs,)
    semantic: NDArray[np.float32]  # (pairs,): d_S
    transition: NDArray[np.float32]  # (pairs,): d_T

    @classmethod
    def of_pairs(
        cls, wfa: WFA, first: NDArray[np.int32], second: NDArray[np.int32], semantic: NDArray[np.float32]
    ) -> Candidates:
        """Pairs of word ids in any order, each with its d_S; d_T is worked out here."""
        order = np.argsort(first, kind="stable")
        first, second = first[order], second[order]
        counts = np.bincount(first, minlength=len(wfa.encoder.vocabulary))
        return cls(offsets_of(counts), second, semantic[order], transition_distances(wfa, first, second))

    def of(self, word: int) -> slice:
        return slice(int(self.start[word]), int(self.start[word + 1]))

    @property
    def has_any(self) -> NDArray[np.bool_]:
        return np.diff(self.start) > 0

    def within(self, max_semantic: float, min_transition: float = 0.0) -> Candidates:
        """Those with `d_S ≤ max_semantic` and `d_T ≥ min_transition`."""
        kept = (self.semantic <= max_semantic) & (self.transition >= min_transition)
        passed = np.concatenate([[0], np.cumsum(kept)])
        return Candidates(passed[self.start], self.word[kept], self.semantic[kept], self.transition[kept])

    def only_best(self, by: NDArray[np.float32]) -> Candidates:
        """The one candidate per word that is lowest in `by`."""
        order = np.lexsort((by, np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))))
        first = order[self.start[:-1][self.has_any]]
        return Candidates(
            offsets_of(self.has_any.astype(np.int64)), self.word[first], self.semantic[first], self.transition[first]
        )


def near_candidates(wfa: WFA, nearness: Nearness, only: NDArray[np.int32] | None = None) -> Candidates:
    """For every word the words that are near in meaning; d_S is the cosine distance.

    only  ids of the words that may be replaced, such as those of the texts; None: all
    """
    vocabulary = wfa.encoder.vocabulary
    found = nearness.pairs(None if only is None else vocabulary.decode(only))
    ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int32)
    return Candidates.of_pairs(wfa, ids[found.first], ids[found.second], found.distance)


def transition_distances(wfa: WFA, first: NDArray[np.int32], second: NDArray[np.int32]) -> NDArray[np.float32]:
    """d_T of pairs of word ids, in blocks whose matrices fit into a few MB; -> (pairs,)"""
    result = np.empty(len(first), np.float32)
    step = max(1, _FLOATS // (2 * wfa.states**2))
    for start in progress.track(range(0, len(first), step), "comparing transition matrices of words"):
        chunk = slice(start, start + step)
        # neighbouring pairs share words: each word's matrix is made once per chunk
        ids, at = np.unique(np.concatenate([first[chunk], second[chunk]]), return_inverse=True)
        table = TransitionEmbeddings(wfa, ids)
        rows = table.rows(np.arange(len(ids)))
        left, right = np.split(at, 2)
        gap = rows[left] - rows[right]
        result[chunk] = np.einsum("ij,ij->i", gap, gap) / table.width
    return result


@dataclass(frozen=True, eq=False)
class Target:
    """A text under attack: its tokens as they stand now, and the positions that were changed."""

    ids: NDArray[np.int32]
    label: int  # the true class, which the model finds before the attack
    text: str  # only edits of characters keep it up to date
    changed: tuple[int, ...] = ()

    def with_changes(self, changes: Sequence[Change]) -> Target:
        ids = self.ids.copy()
        for position, word in changes:
            ids[position] = word
        changed = {*self.changed, *(position for position, _ in changes)}
        return replace(self, ids=ids, changed=tuple(sorted(changed)))


class Search(ABC):
    """Proposes, for one target and one round, changes to try, the most promising first."""

    rounds: int
    replaces_words = True  # or edits the text, character by character

    @abstractmethod
    def proposals(self, target: Target, rng: np.random.Generator) -> Sequence[Any]:
        """Each is a list of changes of words, or whatever `applied` takes."""

    def applied(self, target: Target, proposal: Any) -> Target:
        return target.with_changes(proposal)


@dataclass(frozen=True)
class Fixed(Search):
    """One proposal: the k first positions in an order, each with a random one of its candidates.

    by_strength  ‖IS‖₂ of every word of the alphabet: positions in falling order; None: in random order
    """

    k: int
    candidates: Candidates
    by_strength: NDArray[np.float64] | None = None
    rounds: int = 1

    def proposals(self, target: Target, rng: np.random.Generator) -> list[list[Change]]:
        open_positions = np.flatnonzero(self.candidates.has_any[target.ids])
        if self.by_strength is None:
            open_positions = rng.permutation(open_positions)
        else:
            open_positions = open_positions[np.argsort(-self.by_strength[target.ids[open_positions]], kind="stable")]
        changes = []
        for position in open_positions[: self.k]:
            choices = self.candidates.word[self.candidates.of(int(target.ids[position]))]
            changes.append((int(position), int(choices[rng.integers(len(choices))])))
        return [changes] if changes else []


@dataclass(frozen=True)
class Ranked(Search):
    """One change in every round: the first few of all single changes are tried, in the automaton's order or at random.

    The order costs no model query. `tries=None` tries all changes on the model, which is greedy search.
    """

    rounds: int
    wfa: WFA
    tries: int | None = 5
    guided: bool = True  # or in random order, as a control

    @abstractmethod
    def changes(self, target: Target) -> Sequence[Any]:
        """All single changes of a text that are allowed."""

    @abstractmethod
    def expected(self, target: Target, changes: Sequence[Any]) -> NDArray[np.floating]:
        """The probability of the true class that the automaton expects after each change; (changes,)"""

    def proposals(self, target: Target, rng: np.random.Generator) -> list[Any]:
        changes = self.changes(target)
        if not changes:
            return []
        if self.guided:
            expected = np.round(self.expected(target, changes), _DIGITS)  # equal ones on every processor
            order = np.argsort(expected, kind="stable")
        else:
            order = rng.permutation(len(changes))
        return [changes[at] for at in order[: self.tries]]


@dataclass(frozen=True)
class WordReplacements(Ranked):
    """Words are replaced by candidates, each at most once; ranked by the automaton's forward and backward vectors."""

    candidates: Candidates = field(kw_only=True)

    def changes(self, target: Target) -> list[list[Change]]:
        options = ((at, self.candidates.word[self.candidates.of(int(word))]) for at, word in enumerate(target.ids))
        return [[(at, int(word))] for at, words in options if at not in target.changed for word in words]

    def expected(self, target: Target, changes: Sequence[list[Change]]) -> NDArray[np.floating]:
        forward, backward = forward_backward(self.wfa, target.ids)
        outputs = []
        for at, group in groupby(changes, key=lambda change: change[0][0]):
            words = np.array([word for ((_, word),) in group], np.int32)
            outputs.append(replacement_outputs(self.wfa, forward, backward, at, words)[:, target.label])
        return np.concatenate(outputs)


@dataclass(frozen=True)
class CharacterEdits(Ranked):
    """Characters are edited: what the same recipes do where tokens are characters."""

    replaces_words = False

    def changes(self, target: Target) -> Sequence[Edit]:
        return edited_texts(self.wfa.encoder, target.text).edits

    def expected(self, target: Target, changes: Sequence[Edit]) -> NDArray[np.floating]:
        return self.wfa.predict_proba([edit.text for edit in changes])[:, target.label]

    def applied(self, target: Target, proposal: Edit) -> Target:
        ids = self.wfa.encoder.encode([proposal.text]).values
        changed = tuple(sorted({*target.changed, proposal.position}))
        return replace(target, ids=ids, text=proposal.text, changed=changed)


EDIT_RECIPES: dict[str, Callable[[WFA, int], Search]] = {
    "guided": lambda wfa, k: CharacterEdits(k, wfa),
    "random-tries": lambda wfa, k: CharacterEdits(k, wfa, guided=False),
    "greedy": lambda wfa, k: CharacterEdits(k, wfa, tries=None),
}


@dataclass(frozen=True, eq=False)
class AttackContext:
    """What the recipes share: candidates under the weak and the strong constraint, and words by strength."""

    wfa: WFA
    nearest: Candidates
    weak: Candidates
    strong: Candidates

    @cached_property
    def strength(self) -> NDArray[np.float64]:
        """‖IS‖₂, 0 for words not seen in extraction; (V,)"""
        scores, vocabulary = influence(self.wfa, min_count=1), self.wfa.encoder.vocabulary
        strength = np.zeros(len(vocabulary))
        strength[[vocabulary.id_of(word) for word in scores.words]] = scores.strength
        return strength

    @classmethod
    def prepare(
        cls,
        wfa: WFA,
        nearness: Nearness,
        options: AttackOptions | None = None,
        *,
        only: NDArray[np.int32] | None = None,
    ) -> AttackContext:
        """Candidates are words near in meaning. The scale of distances differs between automata and between vectors, so
        bounds are quantiles over all pairs of a word and its candidates, such as "q0.5"; numbers are taken as they are.

        only  ids of the words that may be replaced; those of the texts suffice, and others cost time
        """
        options = AttackOptions() if options is None else options
        near = near_candidates(wfa, nearness, only)
        low, high = (_bound(value, near.semantic) for value in (options.weak, options.strong))
        if low > high:
            raise InputError(
                f"the weak bound on d_S must be at most the strong one, not {options.weak} and {options.strong}",
                code="attack-bounds",
            )
        acting = _bound(options.min_transition, near.transition)
        return cls(wfa, near.only_best(near.semantic), near.within(low, acting), near.within(high, acting))

    def recipe(self, name: str, k: int) -> Search:
        check_choice("recipe", name, RECIPES)
        return RECIPES[name](self, CHANGES.checked("changes", k))


def _bound(value: float | str, distances: NDArray[np.float32]) -> float:
    return threshold(value, lambda quantile: float(np.quantile(distances, quantile)) if len(distances) else 0.0)


def _by_transition(candidates: Candidates) -> Candidates:
    return candidates.only_best(-candidates.transition)


RECIPES: dict[str, Callable[[AttackContext, int], Search]] = {
    # the nearest word by d_S at the k strongest positions; the paper calls it GloVe
    "nearest": lambda context, k: Fixed(k, context.nearest, context.strength),
    # the largest d_T under the weak constraint at the k strongest positions
    "weak": lambda context, k: Fixed(k, _by_transition(context.weak), context.strength),
    # the same under the strong constraint
    "strong": lambda context, k: Fixed(k, _by_transition(context.strong), context.strength),
    # control of strong: the same at random positions, one try
    "random-order": lambda context, k: Fixed(k, _by_transition(context.strong)),
    # control of strong: the same with a random allowed replacement, one try
    "random-word": lambda context, k: Fixed(k, context.strong, context.strength),
    # ours with a single try a round: as many queries as changes
    "guided-once": lambda context, k: WordReplacements(k, context.wfa, 1, candidates=context.strong),
    # ours: replacements ranked by the automaton's forward and backward vectors, five tries a round
    "guided": lambda context, k: WordReplacements(k, context.wfa, candidates=context.strong),
    # control of guided: random positions and allowed replacements, as many tries a round
    "random-tries": lambda context, k: WordReplacements(k, context.wfa, guided=False, candidates=context.strong),
    # comparison: every allowed replacement tried on the model
    "greedy": lambda context, k: WordReplacements(k, context.wfa, None, candidates=context.strong),
}
