"""How an attack looks for its changes; all texts advance together, so the model is always asked in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.automaton.wfa import WFA
from wfalens.robustness.attack.attack_candidates import Candidates

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
        found = ((at, self.candidates.word[self.candidates.of(int(word))]) for at, word in enumerate(target.ids))
        return [(at, choices) for at, choices in found if len(choices) and at not in target.changed]


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
