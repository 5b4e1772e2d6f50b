"""Which training texts taught an error: those that share, under the wrong class, the transitions on which it turned.

For every word of an error the network is asked without it: what the wrong class loses against the true one is the
word's weight. A training text of the wrong class is blamed by the words that it shares, each with its weight and with
how alike the readable automaton's states are before them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wfalens import progress as display
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.baselines import cross_fitted_bag_of_words
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.embeddings import nearness_of
from wfalens.explanation.influence import influence
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.walks import Walks, reader_of
from wfalens.progress import shown
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.text.corpus import Corpus
from wfalens.text.similar_words import Nearness
from wfalens.text.vocabulary import UNKNOWN
from wfalens.text.word_vectors import WordVectors, wordllama_vectors

_WORD, _STATE = 0.5, 0.5  # what a shared word counts by itself, and by the likeness of the states before it
_TEXTS_AT_ONCE = 256
_LEAST = 1e-6  # probability
_FEWEST = 10  # training texts that hold a word, below which it is not called spurious
_NEAR = 3  # near words below which nothing is concluded about a word


@dataclass(frozen=True)
class Turn:
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
    turn: Turn | None  # None: no single word turned it
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


@dataclass(frozen=True, eq=False, repr=False)
class Blame(Result):
    """Errors of a network and the training texts that taught them."""

    train: Corpus
    errors: tuple[BlamedError, ...]
    scores: NDArray[np.float64]  # (training texts,): the share of the errors that each is to blame for
    words: tuple[TurningWord, ...]  # the most frequent first

    def ranked(self) -> NDArray[np.int64]:
        """Training texts that are blamed at all, the most to blame first."""
        order = np.argsort(-self.scores, kind="stable")
        return np.asarray(order[self.scores[order] > 0])

    def label_of(self, text: int) -> str:
        labels = self.train.labels
        return "?" if labels is None else self.train.class_names[int(labels[text])]

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
        return {
            "errors": [asdict(each) for each in self.errors],
            "words": [asdict(each) for each in self.words],
            "training_texts": self.rows(),
        }

    def summary(self) -> str:
        words = ", ".join(f"{each.word!r} ({each.errors:,} errors)" for each in self.words[:5])
        blamed = f"{len(self.errors):,} errors, {len(self.ranked()):,} training texts that share where they turned"
        return f"{blamed}; words on which errors turned: {words or 'none'}"


def errors_of(model: PrefixClassifier, corpus: Corpus) -> Corpus:
    """The texts of a labelled corpus on which the model errs; refused if there are none."""
    labelled = with_labels(corpus, model.class_names)
    worded, ids = model.encoder.encode(labelled.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it", code="no-words")
    assert labelled.labels is not None  # noqa: S101 - checked above
    wrong = final_outputs(model, ids).argmax(1) != labelled.labels[worded]
    if not wrong.any():
        raise InputError(f"the network makes no error on {corpus.name}: there is nothing to blame", code="no-errors")
    return labelled.subset(worded[wrong])


def with_labels(corpus: Corpus, class_names: tuple[str, ...]) -> Corpus:
    """A corpus with labels as indices into a network's classes; refused without labels."""
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; blame needs the class of each text", code="no-labels")
    return corpus.relabelled(class_names)


def blame(
    wfa: WFA,
    model: PrefixClassifier,
    train: Corpus,
    errors: Corpus,
    *,
    each: int = 5,
) -> Blame:
    """The training texts that taught the errors of a network.

    errors  texts with their true classes, on which the network errs
    each    training texts to name for every error
    """
    check_pair(wfa, model)
    readable = reader_of(wfa)
    train = with_labels(train, wfa.class_names)
    errors = with_labels(errors, wfa.class_names)
    taught = _Taught.of(readable, train)
    worded, ids = wfa.encoder.encode(errors.texts).nonempty()
    if len(worded) == 0:
        raise InputError("no error has a word in it", code="no-words")
    assert errors.labels is not None  # noqa: S101 - checked above
    truth = errors.labels[worded]
    scores, found = np.zeros(len(train)), []
    turning: dict[tuple[int, int], int] = {}
    display.start("blaming", len(worded))
    for first in range(0, len(worded), _TEXTS_AT_ONCE):
        part = np.arange(first, min(first + _TEXTS_AT_ONCE, len(worded)))
        texts = ids.take(part)
        predicted = final_outputs(model, texts).argmax(1)
        weights = turning_weights(model, texts, predicted, truth[part])
        shares = taught.shares(Walks.of(readable, texts), weights, predicted)
        scores += np.asarray(shares.sum(0)).ravel()
        for at, number in enumerate(part.tolist()):
            turn, word = _turn(wfa, readable, texts, weights, at)
            if turn is not None:
                turning[word, int(predicted[at])] = turning.get((word, int(predicted[at])), 0) + 1
            row = shares[[at]]
            best = row.indices[np.argsort(-row.data, kind="stable")][:each]
            reasons = tuple(_reason(wfa, texts[at], weights[texts.offsets[at] :], taught, text) for text in best)
            names = wfa.class_names[truth[number]], wfa.class_names[predicted[at]]
            text = errors.texts[int(worded[number])]
            found.append(BlamedError(text, *names, turn, tuple(map(int, best)), reasons))
        display.advance(len(part))
    display.finish()
    words = tuple(
        TurningWord(wfa.encoder.vocabulary.words[word], wfa.class_names[label], count, *taught.holders(word, label))
        for (word, label), count in sorted(turning.items(), key=lambda item: -item[1])
    )
    return Blame(train, tuple(found), scores / len(worded), words)


def turning_weights(
    model: PrefixClassifier, ids: Ragged[np.int32], predicted: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What the wrong class loses against the true one without each word, on the network, if anything; (tokens,)"""
    text_of, own = ids.item_of_value(), final_outputs(model, ids)
    without = final_outputs(model, _without_each(ids))
    each = np.arange(len(text_of))
    lead = own[np.arange(len(ids)), predicted] - own[np.arange(len(ids)), truth]
    lead_without = without[each, predicted[text_of]] - without[each, truth[text_of]]
    return np.asarray(np.maximum(lead[text_of] - lead_without, 0.0))


def _without_each(ids: Ragged[np.int32]) -> Ragged[np.int32]:
    """Every text once for each of its words, without that word; -> as many texts as tokens"""
    text_of, lengths = ids.item_of_value(), ids.lengths
    repeated = ids.take(text_of)
    dropped = repeated.offsets[:-1] + np.arange(len(text_of)) - ids.offsets[text_of]
    kept = np.ones(len(repeated.values), bool)
    kept[dropped] = False
    return Ragged.from_lengths(repeated.values[kept], lengths[text_of] - 1)


@dataclass(frozen=True, eq=False)
class _Taught:
    """The training texts by the words that they hold, and by word and state."""

    labels: NDArray[np.int64]
    words: sparse.csr_array  # (texts, V): 1 where a text holds a word
    places: sparse.csr_array  # (texts, V·n): the distribution over the states before it
    states: int

    @classmethod
    def of(cls, readable: StochasticWFA, train: Corpus) -> _Taught:
        worded, ids = readable.encoder.encode(train.texts).nonempty()
        assert train.labels is not None  # noqa: S101 - checked at the border
        shape = len(train), len(readable.word_counts)
        walks = Walks.of(readable, ids)
        rows = worded[ids.item_of_value()]
        words = sparse.csr_array((np.ones(len(rows)), (rows, ids.values)), shape)
        words.data[:] = 1.0  # however often
        return cls(train.labels, words, _places(walks, rows, shape[0], None), readable.states)

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


def _places(walks: Walks, rows: NDArray[np.int64], texts: int, scale: NDArray[np.float64] | None) -> sparse.csr_array:
    """Texts by word and state before it; (texts, V·n)"""
    n = walks.before.shape[1]
    token, state = np.nonzero(walks.before > 0.01)
    values = walks.before[token, state] * (1.0 if scale is None else scale[token])
    columns = walks.ids.values[token].astype(np.int64) * n + state
    return sparse.csr_array((values, (rows[token], columns)), (texts, len(walks.wfa.word_counts) * n))


def _turn(
    wfa: WFA, readable: StochasticWFA, texts: Ragged[np.int32], weights: NDArray[np.float64], at: int
) -> tuple[Turn | None, int]:
    span = slice(int(texts.offsets[at]), int(texts.offsets[at + 1]))
    here = int(weights[span].argmax())
    word = int(texts.values[span][here])
    if weights[span][here] <= 0:
        return None, word
    before = readable.initial
    if here:
        prefix = texts.values[span][:here]
        before = readable.state_vectors(Ragged(prefix, np.array([0, here])), every=False)[0]
    names = readable.names
    state = str(int(before.argmax())) if names is None else names.states[int(before.argmax())]
    return Turn(here, wfa.encoder.vocabulary.words[word], state, float(weights[span][here])), word


def _reason(wfa: WFA, words: NDArray[np.int32], weights: NDArray[np.float64], taught: _Taught, text: int) -> str:
    """The words that count most of those that an error and a training text share."""
    held = set(taught.words[[text]].indices.tolist())
    shared = [(float(weight), int(word)) for word, weight in zip(words, weights, strict=False) if int(word) in held]
    best = [wfa.encoder.vocabulary.words[word] for weight, word in sorted(shared, reverse=True) if weight > 0]
    spelled = ", ".join(repr(word) for word in dict.fromkeys(best[:3]))
    return f"it is {wfa.class_names[int(taught.labels[text])]} and shares {spelled}"


@dataclass(frozen=True)
class LabelSuspect:
    """A training text whose label is likely wrong."""

    row: int
    text: str
    label: str
    likelier: str
    doubt: float  # mean log-odds of the likelier class against the label, by network, automata and a bag of words


@dataclass(frozen=True)
class SpuriousWord:
    """A word that favours a class although words of like meaning do not."""

    word: str
    class_name: str
    influence: float
    near_influence: float  # the mean of near words
    texts: int  # training texts that hold it
    share: float  # of them, those of the class


def label_suspects(wfa: WFA, model: PrefixClassifier, train: Corpus) -> list[LabelSuspect]:
    """Training texts whose label is doubted in the mean of all readers, the most doubtful first.

    The network may have learned a wrong label by heart. An automaton with few states cannot, and a bag of words that is
    fitted to the other texts has not seen it.
    """
    train = with_labels(train, wfa.class_names)
    worded, ids = wfa.encoder.encode(train.texts).nonempty()
    assert train.labels is not None  # noqa: S101 - checked above
    labels = train.labels[worded]
    readers = [final_outputs(model, ids), wfa.predict_proba(ids)]
    if wfa.attached_readable is not None:
        readers.append(wfa.attached_readable.predict_proba(ids))
    given = np.eye(len(wfa.class_names))[labels]
    others = cross_fitted_bag_of_words(ids, given, len(wfa.encoder.vocabulary))
    if others is not None:
        readers.append(others)
    logs = np.mean([np.log(np.maximum(outputs, _LEAST)) for outputs in readers], axis=0)
    likelier = logs.argmax(1)
    each = np.arange(len(labels))
    doubt = logs[each, likelier] - logs[each, labels]
    order = np.argsort(-doubt, kind="stable")
    return [
        LabelSuspect(
            int(worded[at]),
            train.texts[int(worded[at])],
            wfa.class_names[labels[at]],
            wfa.class_names[likelier[at]],
            float(doubt[at]),
        )
        for at in order[doubt[order] > 0].tolist()
    ]


def spurious_words(wfa: WFA, train: Corpus, nearness: Nearness, top: int = 20) -> list[SpuriousWord]:
    """Words whose influence on a class exceeds that of near words most, and which the training set teaches."""
    train = with_labels(train, wfa.class_names)
    assert train.labels is not None  # noqa: S101 - checked above
    scores = influence(wfa, min_count=_FEWEST)
    row_of = {word: row for row, word in enumerate(scores.words)}
    pairs = nearness.pairs([word for word in scores.words if word in nearness])
    near: dict[str, list[int]] = {}
    for first, second in zip(pairs.first, pairs.second, strict=True):
        other = row_of.get(nearness.words[int(second)])
        if other is not None:
            near.setdefault(nearness.words[int(first)], []).append(other)
    ids = wfa.encoder.encode(train.texts)
    text_of = ids.item_of_value()
    found = []
    for word, others in near.items():
        if len(others) < _NEAR:
            continue
        own, usual = scores.scores[row_of[word]], scores.scores[others].mean(0)
        best = int((own - usual).argmax())
        found.append((float(own[best] - usual[best]), word, best, float(own[best]), float(usual[best])))
    result = []
    for _, word, best, own_score, usual_score in sorted(found, reverse=True):
        number = wfa.encoder.vocabulary.id_of(word)
        if number == UNKNOWN:
            continue
        texts = np.unique(text_of[ids.values == number])
        if len(texts) < _FEWEST:
            continue
        share = float((train.labels[texts] == best).mean())
        result.append(SpuriousWord(word, wfa.class_names[best], own_score, usual_score, len(texts), share))
        if len(result) == top:
            break
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """Which training texts taught the errors, and what else is likely wrong with the training set."""

    blame: Blame
    label_suspects: list[LabelSuspect]
    spurious_words: list[SpuriousWord]

    def rows(self) -> list[dict[str, Any]]:
        return self.blame.rows()

    @property
    def title(self) -> str:
        return self.blame.title

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.blame.to_dict(),
            "label_suspects": [asdict(each) for each in self.label_suspects],
            "spurious_words": [asdict(each) for each in self.spurious_words],
        }

    def summary(self) -> str:
        words = ", ".join(repr(each.word) for each in self.spurious_words[:5])
        return (
            f"{self.blame.summary()}\n{len(self.label_suspects):,} labels are doubted; words that favour a class "
            f"unlike words of like meaning: {words or 'none'}"
        )


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
) -> Diagnosis:
    """Find the training texts that taught a classifier its errors, likely label errors and spurious words.

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
        vectors = wordllama_vectors(wfa.encoder.vocabulary.words[2:]) if vectors is None else vectors
        return Diagnosis(
            blame(wfa, model, train, errors),
            label_suspects(wfa, model, train),
            spurious_words(wfa, train, nearness_of(wfa, vectors)),
        )
