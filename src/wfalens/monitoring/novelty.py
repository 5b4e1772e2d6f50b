"""How far texts are from usual ones: a bigram model of usual texts, the network's confidence, and its automaton.

Six *signals* of a text are compared with those of usual texts, whose bigram model is cross-fitted: no text is part of
the model that reads it. The score is Fisher's sum of −log p, weighted, with p the normal tail beyond each signal. Its
own p-value is conformal: the share of usual texts that score as high. A threshold on it therefore has the false-alarm
rate that it states, however the signals are distributed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import norm

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import jensen_shannon, text_outputs
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING, UNKNOWN

SIGNALS = {  # and their weights
    "rare words": 1.0,
    "word order": 1.5,
    "unknown words": 1.0,
    "unsure network": 1.0,
    "disagreement": 0.5,
    "length": 1.0,
}
_OF_NETWORK = ("unsure network", "disagreement")
_FOLDS = 20
_FEWEST = 20  # usual texts
_STRENGTH = 2.0  # observations that the frequency of a word is worth beside its context
_SMALL = 1e-6
_LONGEST_WORD = 40  # characters that are kept of a word


class BigramModel:
    """A bigram model of texts, shrunk towards the frequencies of words.

    Unknown words are all different: none is a context or follows one, and each is as rare as a word that was never
    seen. Else a text of unknown words would be the least surprising of all.
    """

    def __init__(self, ids: Ragged[np.int32], words: int) -> None:
        """words: size of the vocabulary"""
        self._words = words
        self._counts = np.bincount(ids.values, minlength=words).astype(np.float64)
        self._counts[UNKNOWN] = 0
        first, second = self._pairs(ids)
        both = (first != UNKNOWN) & (second != UNKNOWN)
        self._keys, self._pair_counts = np.unique((first * words + second)[both], return_counts=True)
        self._contexts = np.bincount(first[both], minlength=words).astype(np.float64)

    def _pairs(self, ids: Ragged[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The word before each, padding at the beginning of a text, and the word itself; (tokens,), (tokens,)"""
        second = ids.values.astype(np.int64)
        first = np.roll(second, 1)
        first[ids.offsets[:-1]] = PADDING
        return first, second

    def has_seen(self, ids: Ragged[np.int32]) -> NDArray[np.bool_]:
        """(tokens,)"""
        return np.asarray(self._counts[ids.values] > 0)

    def surprise(self, ids: Ragged[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """−log p(word) and −log p(word | the word before); (tokens,), (tokens,)"""
        first, second = self._pairs(ids)
        unseen = np.count_nonzero(self._counts)  # Witten and Bell: as many new words will come as have come
        alone = (self._counts[second] + unseen / self._words) / max(1.0, self._counts.sum() + unseen)
        keys = first * self._words + second
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found = np.where(self._keys[place] == keys, self._pair_counts[place], 0) if len(self._keys) else 0 * keys
        context = np.where(second == UNKNOWN, 0, self._contexts[first])
        after = (found + _STRENGTH * alone) / (context + _STRENGTH)
        return -np.log(np.maximum(alone, 1e-300)), -np.log(np.maximum(after, 1e-300))


@dataclass(frozen=True, eq=False)
class Answers:
    """What network and automaton say about texts."""

    label: NDArray[np.int64]  # the network's class
    probability: NDArray[np.float64]  # of it, by the network
    agrees: NDArray[np.bool_]  # whether the automaton has the same class
    known_words: NDArray[np.float64]  # share of the words that extraction has seen
    divergence: NDArray[np.float64]  # Jensen-Shannon, between network and automaton

    @classmethod
    def of(cls, wfa: WFA, ids: Ragged[np.int32], outputs: NDArray[np.floating]) -> Answers:
        """outputs: (texts, C), of the network"""
        weights = wfa.prediction_weights(ids)
        known = (wfa.word_counts[ids.values] > 0) & (ids.values != UNKNOWN)
        return cls(
            outputs.argmax(1),
            outputs.max(1).astype(np.float64),
            outputs.argmax(1) == wfa.decide(weights),
            np.add.reduceat(known, ids.offsets[:-1], dtype=np.float64) / ids.lengths,
            jensen_shannon(wfa.probabilities(weights), outputs),
        )

    def take(self, texts: NDArray[np.int64]) -> Answers:
        return Answers(*(getattr(self, each.name)[texts] for each in fields(self)))


def text_signals(bigrams: BigramModel, answers: Answers, ids: Ragged[np.int32]) -> NDArray[np.float64]:
    """The higher, the stranger; ids: no text is empty; -> (texts, SIGNALS)"""
    alone, after = bigrams.surprise(ids)
    return np.column_stack(
        [
            np.add.reduceat(alone, ids.offsets[:-1]) / ids.lengths,
            np.add.reduceat(after - alone, ids.offsets[:-1]) / ids.lengths,
            np.sqrt(np.add.reduceat(~bigrams.has_seen(ids), ids.offsets[:-1], dtype=np.float64) / ids.lengths),
            logit(np.clip(1 - answers.probability, _SMALL, 1 - _SMALL)),
            np.log(np.maximum(answers.divergence, _SMALL)),
            np.log(ids.lengths),
        ]
    )


@dataclass(frozen=True, eq=False)
class UsualTexts:
    """What texts of the usual kind look like; best fitted on texts that the network has not been trained on."""

    signals: NDArray[np.float64]  # (texts, SIGNALS), each of a model that has not seen the text
    bigrams: BigramModel  # of all of them
    labels: NDArray[np.int64]  # (C,): texts by the network's class
    words: Counter[str]
    weights: NDArray[np.float64]  # (SIGNALS,)

    @classmethod
    def of(
        cls, wfa: WFA, model: PrefixClassifier, texts: Sequence[str], *, is_training_set: bool = False
    ) -> UsualTexts:
        """is_training_set: the network is surer of them than of other texts, so that its signals do not count"""
        worded, ids = wfa.ids(texts).nonempty()
        if len(ids) < _FEWEST:
            raise InputError(f"at least {_FEWEST} usual texts are needed, not {len(ids)}", code="few-texts")
        words = len(wfa.encoder.vocabulary)
        answers = Answers.of(wfa, ids, text_outputs(model, texts, worded, ids))
        signals = np.empty((len(ids), len(SIGNALS)))
        fold = np.arange(len(ids)) % _FOLDS
        for number in range(_FOLDS):
            held = np.flatnonzero(fold == number)
            others = BigramModel(ids.take(np.flatnonzero(fold != number)), words)
            signals[held] = text_signals(others, answers.take(held), ids.take(held))
        labels = np.bincount(answers.label, minlength=len(wfa.class_names))
        weights = [0 if is_training_set and name in _OF_NETWORK else weight for name, weight in SIGNALS.items()]
        return cls(signals, BigramModel(ids, words), labels, word_counts(wfa, texts), np.array(weights))

    def deviations(self, signals: NDArray[np.float64]) -> NDArray[np.float64]:
        """In standard deviations of the usual texts, 0 where a signal does not count; (texts, SIGNALS) -> the same"""
        mean, spread = self.signals.mean(0), np.maximum(self.signals.std(0), _SMALL)
        return np.asarray((signals - mean) / spread * (self.weights > 0))

    def scores(self, signals: NDArray[np.float64]) -> NDArray[np.float64]:
        """(texts, SIGNALS) -> (texts,)"""
        return np.asarray(-norm.logsf(self.deviations(signals)) @ self.weights)

    @cached_property
    def sorted_scores(self) -> NDArray[np.float64]:
        return np.sort(self.scores(self.signals))

    def at_least(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many usual texts score as high: with the text itself, its share is the p-value; (texts,) -> (texts,)"""
        return np.asarray(len(self.signals) - np.searchsorted(self.sorted_scores, scores, "left"))


def word_counts(wfa: WFA, texts: Sequence[str]) -> Counter[str]:
    """How often each word occurs, unknown ones as they are spelled."""
    return Counter(word[:_LONGEST_WORD] for text in texts for word in wfa.encoder.tokens(text))
