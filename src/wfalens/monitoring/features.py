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
from wfalens.models.inference import initial_output, jensen_shannon, last_outputs, output_traces
from wfalens.ragged import Ragged
from wfalens.text.similar_words import Nearness
from wfalens.text.vocabulary import UNKNOWN

FEATURES = (
    "surprise",  # mean over the words
    "largest surprise",
    "rarity",  # mean of −log of the words' frequency
    "largest rarity",
    "unseen words",  # share of words that extraction has not seen
    "margin of the automaton",
    "margin of the network",
    "divergence",  # between network and automaton
    "disagreement",
    "largest step",  # of the network's output by one word
    "rare step",  # the largest of step times rarity
    "last step",
    "reliance",  # the most that the readable automaton's probability of its class falls without one word
    "fragility",  # share of the words without which its class would be another
    "disagreement of the readable automaton",
    "length",  # log of the number of words
    "restored",  # what the network's probability of its class loses when usual words replace near rare ones
    "restored class",  # whether its class changes then
    "restored word",  # the same loss when only the word on which the readable automaton's class hangs most is restored
    "restored word's class",
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
        return _before_each(self.after, self.ids.offsets[:-1], self.wfa.initial)

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


def _before_each(
    after: NDArray[np.float64], starts: NDArray[np.int64], first: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What stands behind the word before each, `first` at the starts of texts; (tokens, n) -> (tokens, n)"""
    before = np.roll(after, 1, axis=0)
    before[starts] = first
    return before


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
    trace = output_traces(model, ids).values.astype(np.float64)
    output = trace[ids.offsets[1:] - 1]
    weights = wfa.prediction_weights(ids)
    copy, margin = wfa.probabilities(weights), wfa.margins(weights)
    walks = Walks.of(stats.readable, ids)
    surprise = np.einsum("tn,tn->t", walks.before, stats.surprise[walks.classes])
    rarity = stats.rarity[ids.values]
    unseen = ((wfa.word_counts[ids.values] == 0) | (ids.values == UNKNOWN)).astype(np.float64)
    before = _before_each(trace, starts, initial_output(model).astype(np.float64))
    steps = np.abs(trace - before).sum(1) / 2  # how far each word moves the network's output, from 0 to 1
    label, agrees = output.argmax(1), output.argmax(1) == wfa.decide(weights)
    readable_outputs = walks.wfa.read_out(walks.after[ids.offsets[1:] - 1])
    reliance, fragility = _reliance(walks, readable_outputs)
    ordered = np.sort(output, axis=1)
    return np.column_stack(
        [
            np.add.reduceat(surprise, starts) / lengths,
            np.maximum.reduceat(surprise, starts),
            np.add.reduceat(rarity, starts) / lengths,
            np.maximum.reduceat(rarity, starts),
            np.add.reduceat(unseen, starts) / lengths,
            margin,
            ordered[:, -1] - ordered[:, -2],
            jensen_shannon(copy, output),
            ~agrees,
            np.maximum.reduceat(steps, starts),
            np.maximum.reduceat(steps * rarity, starts),
            steps[ids.offsets[1:] - 1],
            reliance,
            fragility,
            readable_outputs.argmax(1) != label,
            np.log(lengths),
            *_restored(model, walks, output, defense),
        ]
    )


def _restored(
    model: PrefixClassifier, walks: Walks, output: NDArray[np.float64], defense: SynonymDefense | None
) -> list[NDArray[np.float64]]:
    """The features of a text whose rare words are replaced by usual ones; output: (texts, C) -> 4 × (texts,)"""
    if defense is None:
        return [np.zeros(len(output))] * 4
    label = output.argmax(1)
    features = []
    all_usual = Ragged(defense.usual[walks.ids.values], walks.ids.offsets)
    for texts in (all_usual, _one_restored(walks, label, defense)):
        after = last_outputs(model, texts)
        each = np.arange(len(label))
        features += [output[each, label] - after[each, label], (after.argmax(1) != label).astype(np.float64)]
    return features


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


def _reliance(walks: Walks, outputs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the readable automaton's class owes to single words; outputs: (texts, C) -> (texts,), (texts,)"""
    text_of, starts = walks.ids.item_of_value(), walks.ids.offsets[:-1]
    label = outputs.argmax(1)
    own = outputs[np.arange(len(outputs)), label][text_of]
    lost = own - walks.without[np.arange(len(text_of)), label[text_of]]
    turned = (walks.without.argmax(1) != label[text_of]).astype(np.float64)
    return np.maximum.reduceat(lost, starts), np.add.reduceat(turned, starts) / walks.ids.lengths
