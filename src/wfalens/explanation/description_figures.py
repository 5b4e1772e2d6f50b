"""The numbers behind a description: each follows from the transitions of a readable automaton, or was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.course import Course
from wfalens.automaton.naming import HARDLY, LEANING, LEANING_OF_TWO, MAINLY, SURE, Anatomy, Names, WordClass

_LEAST_READ = 10.0  # how often a word cluster must have been read somewhere for its effect there to count
_ALIKE, _FLOOR = 2.0, 0.02  # two outputs are alike if no class, plus two points, is twice as likely in one of them,
_NEAR = 0.1  # and their total variation is not larger
_CLEARLY, _OFTEN = 0.55, 0.001  # probability, and share of all words, for a word to count as reversed
_REMEMBERS = 0.2  # total variation between two states after a word, beyond what their outputs predict


class Reversed(NamedTuple):
    """A word cluster that leads to one class by itself, and to another after a word that reverses it."""

    cluster: int
    alone: int
    alone_share: float  # probability of that class
    after: int
    after_share: float


class Reversal(NamedTuple):
    """A word cluster that reverses what follows it, such as a negation."""

    cluster: int
    followers: tuple[Reversed, ...]


class Memory(NamedTuple):
    """Two states with nearly the same output, and a word cluster after which they differ."""

    first: int
    second: int
    cluster: int
    label: int  # the class whose probability differs most afterwards
    before: tuple[float, float]  # its probability in both
    after: tuple[float, float]  # and after such a word


@dataclass(frozen=True, eq=False)
class DescriptionFigures:
    """Numbers that describe what a readable automaton does."""

    anatomy: Anatomy
    names: Names
    course: Course | None  # of its outputs along the extraction texts, where that was recorded

    @cached_property
    def sure(self) -> NDArray[np.bool_]:
        """(n,)"""
        return np.asarray(self.anatomy.centres.max(1) >= SURE)

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """(n,)"""
        centres = self.anatomy.centres
        return np.asarray(centres.max(1) < (LEANING_OF_TWO if centres.shape[1] == 2 else LEANING))

    @cached_property
    def flow(self) -> NDArray[np.float64]:
        """How often a word leads from one state to another; (n, n)"""
        return np.asarray(self.anatomy.flows.sum(0))

    @property
    def words(self) -> float:
        """Number of words read."""
        return float(self.flow.sum())

    @property
    def in_open(self) -> float:
        """Share of the words that are read in open states."""
        return float(self.flow[self.anatomy.open].sum() / self.words)

    @property
    def hardly_matters(self) -> tuple[int, float]:
        """The number of word clusters that move little, and their share of all words."""
        little = [each for each in self.names.classes if each.moved < HARDLY]
        return len(little), sum(each.share for each in little)

    def towards(self, label: int) -> list[int]:
        """Word clusters that move the output mainly towards a class, the largest total effect in all texts first."""
        classes = self.names.classes
        found = [at for at, each in enumerate(classes) if mainly(each) == label]
        return sorted(found, key=lambda at: -classes[at].share * float(classes[at].change[label]))

    @cached_property
    def reversals(self) -> list[Reversal]:
        """Word clusters after which words of different classes lead to other classes, as after a negation.

        Compared are the outputs after the following word with and without the first one, where the first is read while
        the decision is open. A word after which all others lead to one class does not reverse them: it decides.
        """
        found = []
        after = self.anatomy.matrices @ self.anatomy.centres  # (G, n, C)
        for number, read in enumerate(self.anatomy.visits * self.anatomy.open):
            if read.sum() < _LEAST_READ:
                continue
            weights = read / read.sum()
            alone = np.einsum("i,gic->gc", weights, after)
            reached = weights @ self.anatomy.matrices[number]
            after_it = np.einsum("i,gic->gc", reached, after)
            visits = self.anatomy.visits
            likely = (visits / np.maximum(1e-300, visits.sum(0))) @ reached  # (G,): of each cluster, to be read next
            followers = self._reversed(number, alone, after_it, likely)
            if len({each.after for each in followers}) > 1:
                found.append(Reversal(number, followers))
        return found

    def _reversed(
        self,
        number: int,
        alone: NDArray[np.float64],
        after_it: NDArray[np.float64],
        likely: NDArray[np.float64],
    ) -> tuple[Reversed, ...]:
        """For each class, the following cluster with the largest total reversal. (G, C), (G, C), (G,)"""
        best: dict[int, Reversed] = {}
        furthest: dict[int, float] = {}
        for cluster, (one, other) in enumerate(zip(alone, after_it, strict=True)):
            label, opposite = int(one.argmax()), int(other.argmax())
            clear = min(one[label], other[opposite]) >= _CLEARLY and self.names.classes[cluster].share >= _OFTEN
            gap = float(likely[cluster] * (one[label] - other[label]))
            if cluster != number and label != opposite and clear and gap > furthest.get(label, 0):
                furthest[label] = gap
                best[label] = Reversed(cluster, label, float(one[label]), opposite, float(other[opposite]))
        return tuple(best.values())

    @property
    def memory(self) -> Memory | None:
        """The pair of states with like outputs that some word cluster takes furthest apart."""
        best, furthest = None, _REMEMBERS
        after = self.anatomy.matrices @ self.anatomy.centres  # (G, n, C)
        for first, second in self._alike():
            read = np.minimum(self.anatomy.visits[:, first], self.anatomy.visits[:, second])
            gap = np.where(read >= _LEAST_READ, self._unexplained(first, second, after), 0)
            if gap.max() > furthest:
                furthest, number = float(gap.max()), int(gap.argmax())
                best = self._memory(first, second, number, after[number])
        return best

    def _alike(self) -> Iterator[tuple[int, int]]:
        """Pairs of states with nearly the same output and certainty, the start aside."""
        centres, surely = self.anatomy.centres, 2 * self.sure + 1 * self.undecided
        for first in range(1, len(centres)):
            for second in range(first + 1, len(centres)):
                one, other = centres[first], centres[second]
                ratio = np.abs(np.log((one + _FLOOR) / (other + _FLOOR))).max()
                near = np.abs(one - other).sum() / 2 <= _NEAR and surely[first] == surely[second]
                if near and ratio <= np.log(_ALIKE):
                    yield first, second

    def _unexplained(self, first: int, second: int, after: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far each word cluster takes two states apart, beyond the difference in log-odds that they had; (G,)

        Where evidence simply adds up, the states keep their difference in log-odds, and this is 0.
        """
        ahead = np.log(self.anatomy.centres[second] + 1e-3) - np.log(self.anatomy.centres[first] + 1e-3)
        expected = (after[:, first] + 1e-3) * np.exp(ahead)
        expected /= expected.sum(1, keepdims=True)
        beyond, apart = (np.abs(each - after[:, second]).sum(1) / 2 for each in (expected, after[:, first]))
        return np.asarray(np.minimum(beyond, apart))

    def _memory(self, first: int, second: int, number: int, after: NDArray[np.float64]) -> Memory:
        centres = self.anatomy.centres
        label = int(np.abs(after[first] - after[second]).argmax())
        before = float(centres[first, label]), float(centres[second, label])
        return Memory(first, second, number, label, before, (float(after[first, label]), float(after[second, label])))


def mainly(cluster: WordClass) -> int | None:
    """The class towards which a cluster moves half of the probability it moves, or more; None if it hardly matters."""
    label = int(cluster.change.argmax())
    return label if cluster.moved >= HARDLY and cluster.change[label] >= MAINLY * cluster.moved else None
