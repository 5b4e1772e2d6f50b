"""Which training texts taught an error: those that share, under the wrong class, the transitions on which it turned.

For every word of an error the network is asked without it: what the wrong class loses against the true one is the
word's weight. A training text of the wrong class is blamed by the words that it shares, each with its weight and with
how alike the readable automaton's states are before them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wfalens import progress as display
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.evaluation.explanations import leave_one_out
from wfalens.explanation.embeddings import nearness_of
from wfalens.explanation.influence import influence
from wfalens.explanation.moves import anatomy_and_names
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import encoded, final_outputs, text_outputs
from wfalens.monitoring.features import Walks, reader_of
from wfalens.progress import shown
from wfalens.ragged import Ragged
from wfalens.results import Result, plain
from wfalens.text.corpus import Corpus
from wfalens.text.encoder import require_words
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors

_WORD, _STATE = 0.5, 0.5  # what a shared word counts by itself, and by the likeness of the states before it
_TEXTS_AT_ONCE = 256
_FEWEST = 10  # training texts that hold a word, below which it is not called spurious
_NEAR = 3  # near words below which nothing is concluded about a word


@dataclass(frozen=True)
class TurningPoint:
    """Where the decision about a text turned to the wrong class."""

    at: int
    word: str
    state: str  # the readable automaton's, before the word
    weight: float  # what the wrong class loses against the true one without the word, on the network


@dataclass(frozen=True)
class BlamedError:
    """An error, where it turned, and the training texts that taught it."""

    text: str
    truth: str
    predicted: str
    turn: TurningPoint | None  # None: no single word turned it
    blamed: tuple[int, ...]  # training texts, the most to blame first
    reasons: tuple[str, ...]  # one for each


@dataclass(frozen=True)
class TurningWord:
    """A word on which errors turned."""

    word: str
    predicted: str  # the class that it brought
    errors: int
    taught: int  # training texts of that class that hold it
    others: int  # training texts of other classes that hold it


@dataclass(frozen=True)
class SpuriousWord:
    """A word that favours a class although words of like meaning do not."""

    word: str
    class_name: str
    influence: float
    near_influence: float  # the mean of near words
    texts: int  # training texts that hold it
    share: float  # of them, those of the class


@dataclass(frozen=True, eq=False, repr=False)
class Blame(Result):
    """Errors of a network, the training texts that taught them, and what else is likely wrong with the training set."""

    train: Corpus
    errors: tuple[BlamedError, ...]
    scores: NDArray[np.float64]  # (training texts,): the share of the errors that each is to blame for
    words: tuple[TurningWord, ...]  # the most frequent first
    spurious_words: tuple[SpuriousWord, ...] = ()  # as far as they were looked for

    def ranked(self) -> NDArray[np.int64]:
        """Training texts that are blamed at all, the most to blame first."""
        order = np.argsort(-self.scores, kind="stable")
        return np.asarray(order[self.scores[order] > 0])

    def label_of(self, text: int) -> str:
        return self.train.class_names[int(self.train.labels_in(self.train.class_names)[text])]

    @property
    def title(self) -> str:
        return "Training texts that taught the errors"

    def rows(self) -> list[dict[str, Any]]:
        """Blamed training texts, the most to blame first."""
        reasons = {text: reason for each in self.errors for text, reason in zip(each.blamed, each.reasons, strict=True)}
        return [
            {
                "row": text,
                "score": float(self.scores[text]),
                "label": self.label_of(text),
                "text": self.train.texts[text],
                "because": reasons.get(text, ""),
            }
            for text in self.ranked().tolist()
        ]

    def to_dict(self) -> dict[str, Any]:
        found = {name: plain(getattr(self, name)) for name in ("errors", "words", "spurious_words")}
        return found | {"training_texts": self.rows()}

    def summary(self) -> str:
        words = ", ".join(f"{each.word!r} ({each.errors:,} errors)" for each in self.words[:5])
        blamed = f"{len(self.errors):,} errors, {len(self.ranked()):,} training texts that share where they turned"
        spurious = ", ".join(repr(each.word) for each in self.spurious_words[:5])
        more = f"\nwords that favour a class unlike words of like meaning: {spurious}" if spurious else ""
        return f"{blamed}; words on which errors turned: {words or 'none'}{more}"


def errors_of(model: PrefixClassifier, corpus: Corpus) -> Corpus:
    """The texts of a labelled corpus on which the model errs; refused if there are none."""
    labels = corpus.labels_in(model.class_names)
    worded, ids = require_words(model.encoder.encode(corpus.texts), corpus.name)
    wrong = text_outputs(model, corpus.texts, worded, ids).argmax(1) != labels[worded]
    if not wrong.any():
        raise InputError(f"the network makes no error on {corpus.name}: there is nothing to blame", code="no-errors")
    return corpus.relabelled(model.class_names).subset(worded[wrong])


def blame(wfa: WFA, model: PrefixClassifier, train: Corpus, errors: Corpus, *, each: int = 5) -> Blame:
    """The training texts that taught the errors of a network.

    errors  texts with their true classes, on which the network errs
    each    training texts to name for every error
    """
    check_pair(wfa, model)
    readable, names, vocabulary = reader_of(wfa), wfa.class_names, wfa.encoder.vocabulary
    states = anatomy_and_names(readable)[1].states
    training = _TrainingSet(readable, train, train.labels_in(names))
    worded, ids = require_words(wfa.encoder.encode(errors.texts), errors.name)
    written, truth = encoded(model, errors.texts).take(worded), errors.labels_in(names)[worded]
    scores, found = np.zeros(len(train)), []
    turning: Counter[tuple[int, int]] = Counter()
    for first in display.track(range(0, len(worded), _TEXTS_AT_ONCE), "blaming"):
        part = np.arange(first, min(first + _TEXTS_AT_ONCE, len(worded)))
        walks = Walks.of(readable, ids.take(part))
        texts, shown = walks.ids, written.take(part)
        predicted = final_outputs(model, shown).argmax(1)
        weights = turning_weights(model, shown, predicted, truth[part])
        shares = training.shares(walks, weights, predicted)
        scores += np.asarray(shares.sum(0)).ravel()
        for at, number in enumerate(part.tolist()):
            begin, end = texts.offsets[at : at + 2].tolist()
            token, turn = begin + int(weights[begin:end].argmax()), None
            if weights[token] > 0:
                word = int(texts.values[token])
                state = states[int(walks.states[token])]
                turn = TurningPoint(token - begin, vocabulary.words[word], state, float(weights[token]))
                turning[word, int(predicted[at])] += 1
            row = shares[[at]]
            best = row.indices[np.argsort(-row.data, kind="stable")][:each]
            reasons = tuple(training.reason(wfa, texts[at], weights[begin:end], text) for text in best)
            text, classes = errors.texts[int(worded[number])], (names[truth[number]], names[predicted[at]])
            found.append(BlamedError(text, *classes, turn, tuple(map(int, best)), reasons))
    words = tuple(
        TurningWord(vocabulary.words[word], names[label], count, *training.holders(word, label))
        for (word, label), count in turning.most_common()
    )
    return Blame(train.relabelled(names), tuple(found), scores / len(worded), words)


def turning_weights(
    model: PrefixClassifier, ids: Ragged[np.int32], predicted: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What the wrong class loses against the true one without each word, on the network, if anything; (tokens,)"""
    text_of, token = ids.item_of_value(), np.arange(len(ids.values))
    falls = leave_one_out(model, ids, final_outputs(model, ids)).values  # (tokens, classes)
    return np.asarray(np.maximum(falls[token, predicted[text_of]] - falls[token, truth[text_of]], 0.0))


class _TrainingSet:
    """The training texts by the words that they hold, and by word and state."""

    def __init__(self, readable: StochasticWFA, train: Corpus, labels: NDArray[np.int64]) -> None:
        worded, ids = readable.encoder.encode(train.texts).nonempty()
        rows = worded[ids.item_of_value()]
        self.labels, self.words = labels, _words_of(readable, train)
        self.places = _places(Walks.of(readable, ids), rows, len(train), np.ones(len(rows)))

    def shares(self, walks: Walks, weights: NDArray[np.float64], predicted: NDArray[np.int64]) -> sparse.csr_array:
        """What share of the blame for each error falls on each training text; (errors, training texts)"""
        rows, shape = walks.ids.item_of_value(), (len(walks.ids), self.words.shape[1])
        total = np.maximum(np.bincount(rows, weights**2, len(walks.ids)), 1e-300)[rows]
        sharp = weights**2 / total  # most of the weight is on the place where the decision turned
        words = sparse.csr_array((sharp, (rows, walks.ids.values)), shape)
        places = _places(walks, rows, shape[0], sharp)
        likeness = _WORD * (words @ self.words.T) + _STATE * (places @ self.places.T)
        both = sparse.coo_array(likeness)
        kept = self.labels[both.col] == predicted[both.row]
        found = sparse.csr_array((both.data[kept], (both.row[kept], both.col[kept])), both.shape)
        sums = np.maximum(np.asarray(found.sum(1)).ravel(), 1e-300)
        return sparse.csr_array(sparse.diags_array(1 / sums) @ found)

    def holders(self, word: int, label: int) -> tuple[int, int]:
        """Training texts that hold a word: of a class, and of others."""
        texts = self.words[:, [word]].nonzero()[0]
        of_class = int((self.labels[texts] == label).sum())
        return of_class, len(texts) - of_class

    def reason(self, wfa: WFA, words: NDArray[np.int32], weights: NDArray[np.float64], text: int) -> str:
        """The words that count most of those that an error and a training text share."""
        held = set(self.words[[text]].indices.tolist())
        order = np.lexsort((words, weights))[::-1]
        shared = [int(words[at]) for at in order if weights[at] > 0 and int(words[at]) in held][:3]
        spelled = ", ".join(repr(wfa.encoder.vocabulary.words[word]) for word in dict.fromkeys(shared))
        return f"it is {wfa.class_names[int(self.labels[text])]} and shares {spelled}"


def _places(walks: Walks, rows: NDArray[np.int64], texts: int, scale: NDArray[np.float64]) -> sparse.csr_array:
    """Texts by word and by the distribution over the states before it, each word scaled; (texts, V·n)"""
    n = walks.before.shape[1]
    token, state = np.nonzero(walks.before > 0.01)
    columns = walks.ids.values[token].astype(np.int64) * n + state
    values = walks.before[token, state] * scale[token]
    return sparse.csr_array((values, (rows[token], columns)), (texts, len(walks.wfa.word_counts) * n))


def spurious_words(wfa: WFA, train: Corpus, nearness: Nearness, top: int = 20) -> list[SpuriousWord]:
    """Words whose influence on a class exceeds that of near words most, and which the training set teaches."""
    names, vocabulary, scores = wfa.class_names, wfa.encoder.vocabulary, influence(wfa, min_count=_FEWEST)
    holders, labels = _words_of(wfa, train), train.labels_in(names)
    texts = np.stack([holders[labels == label].sum(0) for label in range(len(names))])  # (C, V)
    row_of = {word: row for row, word in enumerate(scores.words)}
    pairs = nearness.pairs([word for word in scores.words if word in nearness])
    near = defaultdict[str, list[int]](list)
    for first, second in zip(pairs.first, pairs.second, strict=True):
        other = row_of.get(nearness.words[int(second)])
        near[nearness.words[int(first)]] += [] if other is None else [other]
    found = []
    for word, others in near.items():
        held = texts[:, vocabulary.id_of(word)]
        if len(others) >= _NEAR and held.sum() >= _FEWEST:
            own, usual = scores.scores[row_of[word]], scores.scores[others].mean(0)
            best = int((own - usual).argmax())
            share = float(held[best] / held.sum())
            found.append(SpuriousWord(word, names[best], float(own[best]), float(usual[best]), int(held.sum()), share))
    return sorted(found, key=lambda each: (each.influence - each.near_influence, each.word), reverse=True)[:top]


def _words_of(wfa: WFA, train: Corpus) -> sparse.csr_array:
    """Which words each training text holds, however often; (texts, V)"""
    worded, ids = wfa.encoder.encode(train.texts).nonempty()
    rows, shape = worded[ids.item_of_value()], (len(train), len(wfa.encoder.vocabulary))
    found = sparse.csr_array((np.ones(len(rows)), (rows, ids.values)), shape)
    found.data[:] = 1.0
    return found


def diagnose(
    wfa: WFA,
    model: PrefixClassifier,
    train: Corpus,
    texts: Corpus,
    *,
    limit: int | None = 1000,
    vectors: WordVectors | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Blame:
    """Find the training texts that taught a classifier its errors, and spurious words.

    Args:
        wfa: the automaton.
        model: the classifier.
        train: what it learned from, with labels.
        texts: labelled texts; those that the classifier gets wrong are looked at.
        limit: look at so many errors only, chosen at random.
        vectors: word vectors that say which words are near in meaning; None: WordLlama.
        seed: of that choice.
        progress: show a progress bar.
    """
    with shown(progress):
        errors = errors_of(model, texts).sample(limit, seed)
        spurious = tuple(spurious_words(wfa, train, nearness_of(wfa, vectors)))
        return replace(blame(wfa, model, train, errors), spurious_words=spurious)
