"""How an automaton's opinion goes along texts: when it is sure, how long it stays so, and which words turn it.

Counted are its outputs after every word, so that the figures are about what it says, not about where in its states the
probability lies: a mixture of two states that are sure of different classes is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import LEANING, LEANING_OF_TWO, SURE
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.ragged import Ragged

LEAST_TURN = 0.1  # of the cases, for a turn to be told
_LEAST_READ = 10  # words that must have been read somewhere for what they do there to be told
_WORDS_AT_ONCE = 100_000
_DIGITS = 6  # of stored shares

Standing = tuple[float, float, float]  # shares that are undecided, leaning, sure


@dataclass(frozen=True)
class Turn:
    """A class of words that turns a sure opinion into another."""

    word_class: int
    before: int  # class that was sure
    after: int  # class that is the likeliest then
    rate: float  # of the cases in which it is read there
    read: int  # how often it is read there


@dataclass(frozen=True)
class Course:
    """Of the opinion along texts; all shares are of texts or of words read."""

    texts: int
    words: int
    first: Standing  # after the first word
    end: Standing  # after the last
    before_sure: float  # words read while it is not sure
    keeps: Mapping[int, float]  # by class that it was sure of: words after which it is still sure of it
    overturned: float | None  # of the words read when sure, those after which another class is the likeliest
    turns: tuple[Turn, ...]  # each class of words once, the most frequent first

    @classmethod
    def of(cls, wfa: StochasticWFA, ids: Ragged[np.int32], word_class: NDArray[np.int64]) -> Course:
        """Along texts, some of which may be empty. word_class: (V,)"""
        count, ids = _Count(wfa, word_class), ids.nonempty()[1]
        for part in ids.chunks(_WORDS_AT_ONCE):
            count.add(part)
        return count.course()

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "first": list(self.first),
            "end": list(self.end),
            "keeps": {str(label): share for label, share in self.keeps.items()},
            "turns": [asdict(turn) for turn in self.turns],
        }

    @classmethod
    def from_json(cls, stored: Any, classes: int, kinds: int) -> Course | None:
        """What a provenance holds; None if it holds none, or none of ours."""
        try:
            turns = tuple(Turn(**each) for each in stored["turns"])
            keeps = {int(label): float(share) for label, share in stored["keeps"].items()}
            first, end = _standing(stored["first"]), _standing(stored["end"])
            known = {name: stored[name] for name in ("texts", "words", "before_sure", "overturned")}
            sound = all(0 <= label < classes for label in keeps)
            sound = sound and all(0 <= each.word_class < kinds for each in turns)
            sound = sound and all(0 <= label < classes for each in turns for label in (each.before, each.after))
            numbers = [*first, *end, *keeps.values(), known["before_sure"], known["overturned"] or 0, known["texts"]]
            if not (sound and np.isfinite(np.array(numbers, float)).all()):
                return None
            return cls(first=first, end=end, keeps=keeps, turns=turns, **known)
        except (TypeError, KeyError, ValueError, AttributeError):
            return None


class _Count:
    """What was counted so far."""

    def __init__(self, wfa: StochasticWFA, word_class: NDArray[np.int64]) -> None:
        self.wfa, self.word_class, classes = wfa, word_class, len(wfa.class_names)
        self.texts = self.words = self.unsure = 0
        self.first, self.end = np.zeros(3, np.int64), np.zeros(3, np.int64)
        self.kept = np.zeros(classes, np.int64)
        kinds = int(word_class.max(initial=0)) + 1
        self.moved = np.zeros((kinds, classes, classes), np.int64)  # of words read when sure: from class to class

    def add(self, ids: Ragged[np.int32]) -> None:
        after = self.wfa.trace(ids).values
        before = np.roll(after, 1, axis=0)
        before[ids.offsets[:-1]] = self.wfa.initial_output
        (was, was_sure, _), (now, sure, standing) = self._read(before), self._read(after)
        self.texts, self.words = self.texts + len(ids), self.words + len(after)
        self.unsure += int((~was_sure).sum())
        self.first += np.bincount(standing[ids.offsets[:-1]], minlength=3)
        self.end += np.bincount(standing[ids.offsets[1:] - 1], minlength=3)
        self.kept += np.bincount(was[was_sure & sure & (was == now)], minlength=len(self.kept))
        np.add.at(self.moved, (self.word_class[ids.values[was_sure]], was[was_sure], now[was_sure]), 1)

    def _read(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The likeliest class, whether it is sure, and 0 for undecided, 1 for leaning, 2 for sure."""
        top = outputs.max(1)
        undecided = top < (LEANING_OF_TWO if outputs.shape[1] == 2 else LEANING)
        return outputs.argmax(1), top >= SURE, np.where(top >= SURE, 2, np.where(undecided, 0, 1))

    def course(self) -> Course:
        read = self.moved.sum((0, 2))  # (C,)
        often = np.flatnonzero(read >= _LEAST_READ).tolist()
        turned = self.moved.sum() - np.trace(self.moved.sum(0))
        return Course(
            self.texts,
            self.words,
            _shares(self.first),
            _shares(self.end),
            _share(self.unsure, self.words),
            {label: _share(self.kept[label], read[label]) for label in often},
            _share(turned, read.sum()) if often else None,
            self._turns(),
        )

    def _turns(self) -> tuple[Turn, ...]:
        """Of each class of words the sure opinion that it turns most often."""
        read, others = self.moved.sum(2), self.moved.copy()  # (G, C), (G, C, C)
        others[:, np.arange(others.shape[1]), np.arange(others.shape[1])] = 0
        found: dict[int, Turn] = {}
        for kind, label in sorted(np.argwhere(read >= _LEAST_READ).tolist(), key=lambda at: -int(others[*at].max())):
            most = int(others[kind, label].max())
            if most >= LEAST_TURN * read[kind, label]:
                to, cases = int(others[kind, label].argmax()), int(read[kind, label])
                found.setdefault(kind, Turn(kind, label, to, _share(most, cases), cases))
        return tuple(found.values())


def _standing(stored: Any) -> Standing:
    undecided, leaning, sure = map(float, stored)
    return undecided, leaning, sure


def _shares(counts: NDArray[np.int64]) -> Standing:
    return _standing([_share(each, counts.sum()) for each in counts])


def _share(part: float, whole: float) -> float:
    return round(float(part) / max(1.0, float(whole)), _DIGITS)
