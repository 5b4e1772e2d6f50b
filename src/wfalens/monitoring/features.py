"""How unusual texts are to an automaton and its network: the features that a detector of attacks rests on.

The *surprise* of a word is `Σ_s d[s]·(−log p(class | s))`, with d the distribution over the states before it and p how
often its class was read in each state in extraction. Texts are followed through the readable automaton as `Walks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.naming import Anatomy
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.explanation.moves import anatomy_and_names, require_readable
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import jensen_shannon, last_outputs
from wfalens.ragged import Ragged
from wfalens.text.similar_words import Nearness

FEATURES = (
    "surprise",  # mean over the words
    "largest surprise",
    "rarity",  # mean of −log of the words' frequency
    "largest rarity",
    "margin of the automaton",
    "margin of the network",
    "divergence",  # between network and automaton
    "reliance",  # the most that the readable automaton's probability of its class falls without one word
    "length",  # log of the number of words
    "restored",  # what the network's probability of its class loses when usual words replace near rare ones
    "restored word",  # the same when only the word on which the readable automaton's class hangs most is restored
)
_SEEN = 0.5  # added to every count


@dataclass(frozen=True, eq=False)
class Walks:
    """Texts as a readable automaton reads them. No text is empty."""

    wfa: StochasticWFA
    ids: Ragged[np.int32]
    after: NDArray[np.float64]  # (tokens, n): the distribution behind every word

    @classmethod
    def of(cls, wfa: StochasticWFA, ids: Ragged[np.int32]) -> Walks:
        return cls(wfa, ids, wfa.state_vectors(ids, every=True))

    @property
    def anatomy(self) -> Anatomy:
        return anatomy_and_names(self.wfa)[0]

    @cached_property
    def before(self) -> NDArray[np.float64]:
        """(tokens, n): the distribution before every word"""
        before = np.roll(self.after, 1, axis=0)
        before[self.ids.offsets[:-1]] = self.wfa.initial
        return before

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """(tokens,): the class of every word"""
        return np.asarray(self.anatomy.word_class[self.ids.values], np.int64)

    @cached_property
    def states(self) -> NDArray[np.int64]:
        """(tokens,): the likeliest state before every word"""
        return np.asarray(self.before.argmax(1))

    @cached_property
    def without(self) -> NDArray[np.float64]:
        """(tokens, C): the output if the word were left out"""
        return np.asarray(np.einsum("tn,tnc->tc", self.before, self.backward))

    @cached_property
    def backward(self) -> NDArray[np.float64]:
        """(tokens, n, C): what the words behind each word make of every state"""
        matrices, centres, lengths = self.anatomy.matrices, self.anatomy.centres, self.ids.lengths
        found = np.empty((len(self.ids.values), *centres.shape))
        ends, going = self.ids.offsets[1:] - 1, np.arange(len(lengths))
        value = np.repeat(centres[None], len(lengths), axis=0)
        for back in range(int(lengths.max(initial=0))):
            going = going[lengths[going] > back]
            tokens = ends[going] - back
            found[tokens] = value[going]
            value[going] = matrices[self.classes[tokens]] @ value[going]
        return found


def reader_of(wfa: WFA) -> StochasticWFA:
    """The readable automaton by which texts are followed: the automaton itself, or the attached one."""
    readable = require_readable(wfa).wfa
    anatomy_and_names(readable)
    return readable


@dataclass(frozen=True, eq=False)
class SynonymDefense:
    """Undoes what an attack may have done: rare words are replaced by the most frequent of their near words.

    An attack replaces words by near ones, usually rarer ones. If the class hangs on that, it comes back with the
    usual words; the class of a text that nobody has touched seldom changes.
    """

    usual: NDArray[np.int32]  # (V,): for every word the usual one that may replace it, or itself

    @classmethod
    def of(cls, wfa: WFA, nearness: Nearness) -> SynonymDefense:
        """By near words, those seen more often in extraction."""
        vocabulary, counts = wfa.encoder.vocabulary, wfa.word_counts
        pairs = nearness.pairs()
        ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int64)
        first, second = ids[pairs.first], ids[pairs.second]
        order = np.argsort(counts[second], kind="stable")  # the most frequent comes last and stays
        usual = np.arange(len(counts), dtype=np.int32)
        usual[first[order]] = second[order]
        return cls(np.where(counts[usual] > counts, usual, np.arange(len(counts))).astype(np.int32))


@dataclass(frozen=True, eq=False)
class ReferenceStats:
    """What is usual to an automaton, from its extraction texts."""

    wfa: WFA

    @cached_property
    def readable(self) -> StochasticWFA:
        return reader_of(self.wfa)

    @cached_property
    def visits(self) -> NDArray[np.float64]:
        """How often a word of each class was read in each state; (G, n)"""
        return anatomy_and_names(self.readable)[0].visits

    @cached_property
    def surprise(self) -> NDArray[np.float64]:
        """−log p(class | state); (G, n)"""
        visits = self.visits + _SEEN
        return np.asarray(-np.log(visits / visits.sum(0)))

    @cached_property
    def rarity(self) -> NDArray[np.float64]:
        """−log of the words' frequency; (V,)"""
        counts = self.wfa.word_counts + _SEEN
        return np.asarray(-np.log(counts / counts.sum()))


def text_features(
    stats: ReferenceStats, model: PrefixClassifier, ids: Ragged[np.int32], defense: SynonymDefense | None = None
) -> NDArray[np.float64]:
    """One pass of the network and of the automaton, three of the network with a defense.

    ids: no text is empty; -> (texts, FEATURES)
    """
    wfa, starts, lengths = stats.wfa, ids.offsets[:-1], ids.lengths
    output = last_outputs(model, ids).astype(np.float64)
    weights = wfa.prediction_weights(ids)
    walks = Walks.of(stats.readable, ids)
    surprise = np.einsum("tn,tn->t", walks.before, stats.surprise[walks.classes])
    rarity, ordered = stats.rarity[ids.values], np.sort(output, axis=1)
    restored = np.zeros((len(output), 2))
    if defense is not None:
        label = output.argmax(1)
        texts = Ragged(defense.usual[ids.values], ids.offsets), _one_restored(walks, label, defense)
        restored = np.column_stack([last_outputs(model, each)[np.arange(len(label)), label] for each in texts])
        restored = ordered[:, [-1]] - restored
    return np.column_stack(
        [
            np.add.reduceat(surprise, starts) / lengths,
            np.maximum.reduceat(surprise, starts),
            np.add.reduceat(rarity, starts) / lengths,
            np.maximum.reduceat(rarity, starts),
            wfa.margins(weights),
            ordered[:, -1] - ordered[:, -2],
            jensen_shannon(wfa.probabilities(weights), output),
            _reliance(walks),
            np.log(lengths),
            restored,
        ]
    )


def _one_restored(walks: Walks, label: NDArray[np.int64], defense: SynonymDefense) -> Ragged[np.int32]:
    """Texts with the one usual word that takes most of their class from them, on the readable automaton."""
    ids, text_of = walks.ids, walks.ids.item_of_value()
    usual = defense.usual[ids.values]
    moved = np.einsum("tn,tnm->tm", walks.before, walks.anatomy.matrices[walks.anatomy.word_class[usual]])
    class_values = np.take_along_axis(walks.backward, label[text_of][:, None, None], 2)[:, :, 0]
    kept = np.einsum("tn,tn->t", moved, class_values)
    kept[usual == ids.values] = np.inf
    worst = np.lexsort((kept, text_of))[ids.offsets[:-1]]  # the first of each text
    values = ids.values.copy()
    values[worst] = usual[worst]
    return Ragged(values, ids.offsets)


def _reliance(walks: Walks) -> NDArray[np.float64]:
    """What the readable automaton's class owes to a single word; (texts,)"""
    text_of, starts = walks.ids.item_of_value(), walks.ids.offsets[:-1]
    outputs = walks.wfa.read_out(walks.after[walks.ids.offsets[1:] - 1])
    label = outputs.argmax(1)[text_of]
    lost = outputs.max(1)[text_of] - walks.without[np.arange(len(text_of)), label]
    return np.asarray(np.maximum.reduceat(lost, starts))
