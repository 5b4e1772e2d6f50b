"""Which training texts taught an error: those that share, under the wrong class, the transitions on which it turned.

For every word of an error the network is asked without it: what the wrong class loses against the true one is the
word's weight. A training text of the wrong class is blamed by the words that it shares, each with its weight and with
how alike the readable automaton's states are before them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from wfalens import progress
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.html import table_html
from wfalens.messages import sentence
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import final_outputs
from wfalens.monitoring.walks import Walks, reader_of
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus

if TYPE_CHECKING:
    import pandas as pd

_WORD, _STATE = 0.5, 0.5  # what a shared word counts by itself, and by the likeness of the states before it
_TEXTS_AT_ONCE = 256
SHOWN = 160  # characters of a training text in a table
COLUMNS = ("share of the blame", "class", "training text", "because")


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
    said: str
    turn: Turn | None  # None: no single word turned it
    blamed: tuple[int, ...]  # training texts, the most to blame first
    reasons: tuple[str, ...]  # one for each


@dataclass(frozen=True)
class TurningWord:
    """A word on which errors turned."""

    word: str
    said: str  # the class that it brought
    errors: int
    taught: int  # training texts of that class that hold it
    others: int  # training texts of other classes that hold it


@dataclass(frozen=True, eq=False)
class Blame:
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

    def rows(self, top: int) -> list[list[str]]:
        """Cells for a table, see `COLUMNS`."""
        because = {text: reason for each in self.errors for text, reason in zip(each.blamed, each.reasons, strict=True)}
        return [
            [
                f"{self.scores[text]:.2g}",
                self.label_of(text),
                sentence(self.train.texts[text], SHOWN),
                because.get(text, ""),
            ]
            for text in self.ranked()[:top].tolist()
        ]

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        return {
            "errors": [asdict(each) for each in self.errors[:top]],
            "words": [asdict(each) for each in self.words[:top]],
            "training_texts": [
                {
                    "row": text,
                    "score": float(self.scores[text]),
                    "label": self.label_of(text),
                    "text": self.train.texts[text],
                }
                for text in self.ranked()[:top].tolist()
            ],
        }

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.to_json()["training_texts"])

    def to_html(self, top: int = 20) -> str:
        return table_html("Training texts that taught the errors", COLUMNS, self.rows(top))

    def _repr_html_(self) -> str:
        return self.to_html()


def errors_of(model: PrefixClassifier, corpus: Corpus) -> Corpus:
    """The texts of a labelled corpus on which the model errs; refused if there are none."""
    labelled = with_labels(corpus, model.class_names)
    worded, ids = model.encoder.encode(labelled.texts).nonempty()
    if len(worded) == 0:
        raise InputError(f"{corpus.name}: there is no text with a word in it")
    assert labelled.labels is not None  # noqa: S101 - checked above
    wrong = final_outputs(model, ids).argmax(1) != labelled.labels[worded]
    if not wrong.any():
        raise InputError(f"the network makes no error on {corpus.name}: there is nothing to blame")
    return labelled.subset(worded[wrong])


def with_labels(corpus: Corpus, class_names: tuple[str, ...]) -> Corpus:
    """A corpus with labels as indices into a network's classes; refused without labels."""
    if corpus.labels is None:
        raise InputError(f"{corpus.name} has no labels; blame needs to know what each text was said to be")
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
        raise InputError("no error has a word in it")
    assert errors.labels is not None  # noqa: S101 - checked above
    truth = errors.labels[worded]
    scores, found = np.zeros(len(train)), []
    turning: dict[tuple[int, int], int] = {}
    progress.start("blaming", len(worded))
    for first in range(0, len(worded), _TEXTS_AT_ONCE):
        part = np.arange(first, min(first + _TEXTS_AT_ONCE, len(worded)))
        texts = ids.take(part)
        said = final_outputs(model, texts).argmax(1)
        weights = turning_weights(model, texts, said, truth[part])
        shares = taught.shares(Walks.of(readable, texts), weights, said)
        scores += np.asarray(shares.sum(0)).ravel()
        for at, number in enumerate(part.tolist()):
            turn, word = _turn(wfa, readable, texts, weights, at)
            if turn is not None:
                turning[word, int(said[at])] = turning.get((word, int(said[at])), 0) + 1
            row = shares[[at]]
            best = row.indices[np.argsort(-row.data, kind="stable")][:each]
            reasons = tuple(_reason(wfa, texts[at], weights[texts.offsets[at] :], taught, text) for text in best)
            names = wfa.class_names[truth[number]], wfa.class_names[said[at]]
            text = errors.texts[int(worded[number])]
            found.append(BlamedError(text, *names, turn, tuple(map(int, best)), reasons))
        progress.advance(len(part))
    progress.finish()
    words = tuple(
        TurningWord(wfa.encoder.vocabulary.words[word], wfa.class_names[label], count, *taught.holders(word, label))
        for (word, label), count in sorted(turning.items(), key=lambda item: -item[1])
    )
    return Blame(train, tuple(found), scores / len(worded), words)


def turning_weights(
    model: PrefixClassifier, ids: Ragged[np.int32], said: NDArray[np.int64], truth: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What the wrong class loses against the true one without each word, on the network, if anything; (tokens,)"""
    text_of, own = ids.item_of_value(), final_outputs(model, ids)
    without = final_outputs(model, _without_each(ids))
    each = np.arange(len(text_of))
    lead = own[np.arange(len(ids)), said] - own[np.arange(len(ids)), truth]
    lead_without = without[each, said[text_of]] - without[each, truth[text_of]]
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

    def shares(self, walks: Walks, weights: NDArray[np.float64], said: NDArray[np.int64]) -> sparse.csr_array:
        """What share of the blame for each error falls on each training text; (errors, training texts)"""
        rows, shape = walks.ids.item_of_value(), (len(walks.ids), self.words.shape[1])
        total = np.maximum(np.bincount(rows, weights**2, len(walks.ids)), 1e-300)[rows]
        sharp = weights**2 / total  # most of the weight is on the place where the decision turned
        words = sparse.csr_array((sharp, (rows, walks.ids.values)), shape)
        places = _places(walks, rows, shape[0], sharp)
        likeness = _WORD * (words @ self.words.T) + _STATE * (places @ self.places.T)
        both = sparse.coo_array(likeness)
        kept = self.labels[both.col] == said[both.row]
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
