"""Names for people: states by what they say and how surely, classes of words by typical words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.text.vocabulary import UNKNOWN, Vocabulary
from wfalens.text.word_checks import has_letter, is_stop_word

START, NO_WORDS = "start", "unknown words"
SURE, LEANING, LEANING_OF_TWO = 0.8, 0.5, 0.6  # the least probability of the likeliest class
# distinguished where several states are sure of a class, by the least probability
_DEGREES = {"wholly certain": 0.995, "certain": 0.97, "sure": 0.9, "fairly sure": SURE}
_BETWEEN = 0.75  # the least probability of two classes together
OPEN = 0.05  # share of the probability that words move on average in a state that is still open
HARDLY = 0.1  # the same of a class of words in open states
_TYPICAL_WORDS = 5


@dataclass(frozen=True, eq=False)
class WordClass:
    """A class of words, as a person may call it."""

    words: tuple[str, ...]  # typical ones, the most characteristic first
    size: int  # words in it
    share: float  # of all words read in the extraction texts
    change: NDArray[np.float64]  # (C,): of the output, in the mean over the open states where it is read
    moved: float  # share of the probability that it moves, likewise

    @property
    def name(self) -> str:
        return " · ".join(self.words[:3]) or NO_WORDS


@dataclass(frozen=True, eq=False)
class Names:
    """Of the states and the classes of words of an automaton, all different."""

    states: tuple[str, ...]
    classes: tuple[WordClass, ...]


@dataclass(frozen=True, eq=False)
class Anatomy:
    """What names are made of."""

    class_names: Sequence[str]
    centres: NDArray[np.float64]  # (n, C)
    matrices: NDArray[np.float64]  # (G, n, n)
    visits: NDArray[np.float64]  # (G, n)
    word_class: NDArray[np.int64]  # (V,)
    typicality: NDArray[np.uint8]  # (V,)
    word_counts: NDArray[np.int64]  # (V,)

    @property
    def flows(self) -> NDArray[np.float64]:
        """How often a class of words leads from one state to another in the extraction texts; (G, n, n)"""
        return np.asarray(self.visits[:, :, None] * self.matrices)

    @property
    def changes(self) -> NDArray[np.float64]:
        """Of the output, by a word of each class in each state; (G, n, C)"""
        return np.asarray(self.matrices @ self.centres - self.centres)

    @property
    def open(self) -> NDArray[np.bool_]:
        """States in which words still matter; (n,)

        In a settled state hardly any word moves anything: with it, common words would seem to do nothing anywhere.
        """
        moved = np.abs(self.changes).sum(2) / 2  # (G, n)
        return np.asarray((self.visits * moved).sum(0) >= OPEN * np.maximum(1e-12, self.visits.sum(0)))


def name(anatomy: Anatomy, vocabulary: Vocabulary) -> Names:
    typical = [_typical_words(anatomy, number, vocabulary) for number in range(len(anatomy.matrices))]
    changes, weights = anatomy.changes, _places(anatomy)
    change = np.einsum("gi,gic->gc", weights, changes)
    moved = np.einsum("gi,gic->g", weights, np.abs(changes)) / 2
    states = _state_names(anatomy, typical, moved)
    sizes = np.bincount(anatomy.word_class[UNKNOWN + 1 :], minlength=len(typical))
    total = max(1e-12, float(anatomy.visits.sum()))
    classes = tuple(
        WordClass(
            typical[number],
            int(sizes[number]),
            float(anatomy.visits[number].sum() / total),
            change[number],
            float(moved[number]),
        )
        for number in range(len(typical))
    )
    return Names(states, classes)


def _places(anatomy: Anatomy) -> NDArray[np.float64]:
    """Where each class is read, as shares: in open states, or in all if it is read in no open one; (G, n)"""
    unsettled = anatomy.visits * anatomy.open
    weights = np.where(unsettled.sum(1, keepdims=True) > 0, unsettled, anatomy.visits)
    return np.asarray(weights / np.maximum(1e-12, weights.sum(1, keepdims=True)))


def _typical_words(anatomy: Anatomy, number: int, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Frequent words that clearly belong to the class; stop words only where they are most of what is read of it."""
    members = np.flatnonzero(anatomy.word_class == number)
    members = members[members > UNKNOWN]
    counts = anatomy.word_counts[members]
    if counts.any():
        members, counts = members[counts > 0], counts[counts > 0]
    order = np.argsort(-(np.sqrt(counts + 1) * (1 + anatomy.typicality[members])), kind="stable")
    words = vocabulary.decode(members[order].astype(np.int32))
    stops = np.array([is_stop_word(word) for word in words], bool)
    if counts[order][stops].sum() <= counts.sum() / 2:
        words = [word for word, stop in zip(words, stops, strict=True) if not stop]
    spelled = [word for word in words if has_letter(word)]
    return tuple((spelled or words)[:_TYPICAL_WORDS])


def _state_names(anatomy: Anatomy, typical: Sequence[tuple[str, ...]], moved: NDArray[np.float64]) -> tuple[str, ...]:
    plain = [START, *(_output_name(row, anatomy.class_names) for row in anatomy.centres[1:])]
    plain = _graded(plain, anatomy.centres.max(1))
    leads = _leading_classes(anatomy)
    taken: set[str] = {each for each in plain if plain.count(each) == 1}
    names = []
    for state, each in enumerate(plain):
        if plain.count(each) == 1:
            names.append(each)
            continue
        leading = [group for group in leads[state] if typical[group]]
        candidates = [f"{each}, after {' or '.join(typical[group][:2])}" for group in leading]
        if leading and moved[leading[0]] < HARDLY:
            candidates.insert(0, each)  # words that hardly matter say nothing of a state
        candidates += [f"{each} ({number})" for number in range(2, len(plain) + 2)]
        names.append(next(choice for choice in candidates if choice not in taken))
        taken.add(names[-1])
    return tuple(names)


def _graded(plain: list[str], surely: NDArray[np.float64]) -> list[str]:
    """States that are sure of the same class, distinguished by how sure they are. surely: (n,)"""
    graded = list(plain)
    for each in {each for each in plain if each.startswith("sure ")}:
        group = [state for state, other in enumerate(plain) if other == each]
        degrees = [next(name for name, least in _DEGREES.items() if surely[state] >= least) for state in group]
        if len(set(degrees)) > 1:
            for state, degree in zip(group, degrees, strict=True):
                graded[state] = each.replace("sure", degree, 1)
    return graded


def _output_name(output: NDArray[np.float64], class_names: Sequence[str]) -> str:
    """What a state says, and how surely."""
    first, second = np.argsort(-output, kind="stable")[:2]
    if output[first] >= SURE:
        return f"sure {class_names[first]}"
    if output[first] >= (LEANING_OF_TWO if len(output) == 2 else LEANING):
        return f"leaning {class_names[first]}"
    if len(output) > 2 and output[first] + output[second] >= _BETWEEN:
        return f"between {class_names[first]} and {class_names[second]}"
    return "undecided"


def _leading_classes(anatomy: Anatomy) -> list[list[int]]:
    """The classes of words that lead to each state from others, those first that lead there more than elsewhere."""
    flows = anatomy.flows.copy()
    flows[:, np.arange(flows.shape[1]), np.arange(flows.shape[1])] = 0
    entering = flows.sum(1)  # (G, n)
    everywhere = entering.sum(1, keepdims=True) / max(1e-12, entering.sum())
    here = entering / np.maximum(1e-12, entering.sum(0))
    divergence = here * np.log(np.maximum(1e-12, here) / np.maximum(1e-12, everywhere))
    return [[int(group) for group in np.argsort(-column, kind="stable")] for column in divergence.T]
