"""The opinion line: where the network's probability of a class stands while it reads, and which words push it.

Every figure is measured on the network's own outputs before and after each word of some texts; no automaton is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.messages import percent
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.models.inference import asks_every_prefix, initial_output, output_traces
from wfalens.ragged import Ragged, concatenate
from wfalens.results import Result
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.vocabulary import UNKNOWN
from wfalens.text.word_checks import has_letter, is_stop_word
from wfalens.validation import check_choice

BOUNDS = (0.2, 0.4, 0.6, 0.8)  # between the stations
STATIONS = ("below 20 %", "20–40 %", "40–60 %", "60–80 %", "above 80 %")
SURE = BOUNDS[-1]
MOST_CLASSES = 10  # that have a line unless others are asked for
QUERIES = 4000  # model calls at most: texts, or words of a model that pays for each
_BEGINNING = 20  # words of a text that such a model is asked about
_CELLS, _WORDS = 8_000_000, 300_000  # outputs held at once, and words read at most
_LASTING = 0.5  # share of the words after which a network is still sure, if its opinion is to be called lasting
LEAST_READ = 10  # times that a word must be read before its push counts
_LEAST_BEGINNINGS = 5  # of texts that differ, before it
_IDLE = 0.03  # a word does nothing if the interval of its push lies within this
_ALONE = 3  # words that are named for a class where texts are few
_PUSHES, _IDLE_WORDS = 12, 8  # kept for each class and direction
_PRINTED = 6  # words of each direction in a table for people
_EXPECTED = 3.0  # standard errors by which the labels of texts with a word differ from all labels


@dataclass(frozen=True)
class Push:
    """The mean change of a class's probability by a word, while the network is not yet sure, with its 95 % interval."""

    word: str
    change: float
    low: float
    high: float
    n: int  # times it was read
    expected: bool = False  # of a word that does nothing: texts with it have the class more, or less, often than others


@dataclass(frozen=True, eq=False, repr=False)
class OpinionLine(Result):
    """Of one class: five stations of its probability, and the words that push it."""

    label: str
    number: int  # the place of the class among the model's
    texts: int  # of the class, by their labels or else by the network
    moves: NDArray[np.int64]  # (5, 5): words read in a station, by the station after them
    towards: tuple[Push, ...]  # strongest first
    against: tuple[Push, ...]
    idle: tuple[Push, ...]  # frequent words that do nothing, first those whose texts have the class more or less often
    recognized: int | None = None  # of the texts, those that the network gives the class; None: not known
    mistaken: tuple[tuple[str, int], ...] = ()  # the classes that it gives most of the others, with their texts
    alone: tuple[tuple[str, float], ...] = ()  # words that alone are such a text, with the probability of the class

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Of all words, those read in each station; (5,)"""
        return np.asarray(self.moves.sum(1) / max(1, self.moves.sum()))

    @cached_property
    def rates(self) -> NDArray[np.float64]:
        """Of the words read in a station, those after which the network is in another, or stays; (5, 5)"""
        return np.asarray(self.moves / np.maximum(1, self.moves.sum(1, keepdims=True)))

    @property
    def jumps(self) -> float:
        """Of all words, those after which the network is neither in the same station nor in its neighbour."""
        far = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) > 1
        return float(self.moves[far].sum() / max(1, self.moves.sum()))

    def to_dict(self) -> dict[str, Any]:
        about = {"shares": self.shares.tolist(), "stays": np.diag(self.rates).tolist(), "jumps": self.jumps}
        return {**super().to_dict(), **about}

    def rows(self) -> list[dict[str, Any]]:
        """The words that push it."""
        return [
            {"class": self.label, "word": each.word, "change": each.change, "low": each.low, "high": each.high}
            | {"n": each.n}
            for each in (*self.towards, *reversed(self.against))
        ]


@dataclass(frozen=True, eq=False, repr=False)
class OpinionLines(Result):
    """The lines of some classes, those that the network mixes up side by side; of two classes, the line of the last."""

    class_names: tuple[str, ...]
    lines: tuple[OpinionLine, ...]
    corpus: str
    texts: int
    words: int  # read
    stays_sure: float | None  # of the words read when sure of a class, those after which it still is; None: never sure
    accuracy: float | None  # on these texts, where they have labels and were read to their ends
    beginning: int | None = None  # words of a text that were read, of a model that pays for every call
    unit: str = "word"  # or "character"

    @property
    def title(self) -> str:
        return "How the network reads a text"

    @property
    def about(self) -> str:
        """What it does, in a sentence."""
        opinion = "one running opinion" if len(self.class_names) == 2 else f"{len(self.class_names)} running opinions"
        words = f"{self.unit.capitalize()}s push it"
        if self.stays_sure is None:
            return f"It keeps {opinion}. {words}; it is never sure of a class (above {percent(SURE)})."
        keeps = f"It keeps {opinion}" if self.stays_sure > _LASTING else "Its opinion does not last"
        return (
            f"{keeps}. {words}; once sure (above {percent(SURE)}), it stays sure after "
            f"{percent(self.stays_sure)} of the {self.unit}s."
        )

    @property
    def source(self) -> str:
        """What was measured, in a sentence."""
        part = "" if self.beginning is None else f" at the beginning of the text (its first {self.beginning} at most)"
        return (
            f"Measured on the network itself, over {self.words:,} {self.unit}s{part} of {self.texts:,} texts "
            f"({self.corpus})."
        )

    @property
    def right(self) -> str:
        """How often it is right, in a sentence; "" where that is not known."""
        return "" if self.accuracy is None else f"It is right on {percent(self.accuracy)} of these texts."

    def rows(self) -> list[dict[str, Any]]:
        return [row for line in self.lines for row in line.rows()]

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """Of one class its stations and the words that push it, in points; of several classes a row for each."""
        if len(self.lines) > 1:
            return {f"{self.about} Words with points of probability": [_class_row(line) for line in self.lines]}
        (line,) = self.lines
        return {self.about: _stations(line), f"Words that push {line.label}, in points of probability": _words(line)}

    def summary(self) -> str:
        return f"{self.source} {self.right}".strip()

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "about": self.about, "source": self.source}


@dataclass(frozen=True, eq=False)
class WordPushes:
    """The mean change of every class by the words that a network read often enough while it was not sure."""

    ids: NDArray[np.int64]  # (words,)
    n: NDArray[np.int64]  # times each was read
    changes: NDArray[np.float64]  # (words, classes)
    halves: NDArray[np.float64]  # (words, classes): half of the 95 % interval


def opinion_lines(
    model: PrefixClassifier, texts: Any, classes: Sequence[str] | None = None, *, queries: int = QUERIES, seed: int = 0
) -> OpinionLines:
    """How a network's opinion moves while it reads, and which words push it.

    Args:
        model: the network. One that pays for every call is asked for the beginnings of some texts only.
        texts: a corpus (with labels, words that should matter but do not are named first), or a list of texts.
        classes: whose lines to draw; None: of two classes the last, else the ten with most texts.
        queries: model calls at most: texts, or words of a model that pays for each.
        seed: of the sample, where there are more texts than are read.

    Examples:
        >>> from wfalens.explanation import opinion_lines
        >>> lines = opinion_lines(network, corpus)
        >>> [line.label for line in lines.lines]
        ['pos']
    """
    names = tuple(model.class_names)
    for name in classes or ():
        check_choice("class", name, names)
    if is_language_model(model):
        raise InputError("a language model predicts what comes next; it has no opinion of a class", code="no-classes")
    corpus = texts if isinstance(texts, Corpus) else Corpus.of(list(as_texts(texts)))
    read = read_texts(model, corpus.relabelled(names), queries, seed)
    chosen = _chosen(read, names) if classes is None else [names.index(name) for name in classes]
    top, kept = read.before.max(1) > SURE, read.after > SURE
    again = kept[np.arange(len(top)), read.before.argmax(1)]
    lines = [_line(read, model, label) for label in chosen]
    if len(names) > 2 and read.beginning is None:
        lines = _with_words_alone(read, model, lines)
    return OpinionLines(
        class_names=names,
        lines=tuple(lines),
        corpus=corpus.name,
        texts=len(read.ids),
        words=len(read.ids.values),
        stays_sure=float(again[top].mean()) if top.any() else None,
        accuracy=_accuracy(read),
        beginning=read.beginning,
        unit="character" if reads_characters(model.encoder) else "word",
    )


@dataclass(frozen=True, eq=False)
class Reading:
    """The network's outputs before and after each word of some texts."""

    rows: NDArray[np.int64]  # (texts,): their places in the corpus
    ids: Ragged[np.int32]
    before: NDArray[np.float32]  # (words, classes)
    after: NDArray[np.float32]
    labels: NDArray[np.int64] | None  # (texts,)
    beginning: int | None

    @cached_property
    def ends(self) -> NDArray[np.float32]:
        return np.asarray(self.after[self.ids.offsets[1:] - 1])

    @cached_property
    def unsure(self) -> NDArray[np.bool_]:
        """Whether the network is not yet sure of a class; (words,)"""
        return np.asarray(self.before.max(1) <= SURE)

    def changes_by(self, word: int) -> NDArray[np.float64]:
        """What a word changes where the network is not yet sure; (times read, classes)"""
        rows = self.unsure & (self.ids.values == word)
        enough = len(np.unique(np.round(self.before[rows, 0], 5))) >= _LEAST_BEGINNINGS
        return np.asarray(self.after[rows].astype(np.float64) - self.before[rows])[: None if enough else 0]

    def pushes(self, words: int, classes: Sequence[int]) -> WordPushes:
        """What each word that is read often enough changes while the network is not sure.

        words: of the vocabulary.
        """
        from scipy.special import stdtrit

        read = self.ids.values[self.unsure]
        n = np.bincount(read, minlength=words)
        before = np.round(self.before[self.unsure, 0], 5)  # equal beginnings of texts count once
        beginnings = np.bincount(np.unique(np.stack([read, before]), axis=1)[0].astype(np.int64), minlength=words)
        often = np.flatnonzero((n >= LEAST_READ) & (beginnings >= _LEAST_BEGINNINGS))
        often = often[often > UNKNOWN]
        changes, halves = np.zeros((2, len(often), len(classes)))
        for at, label in enumerate(classes):
            change = (self.after[:, label] - self.before[:, label])[self.unsure].astype(np.float64)
            mean = np.bincount(read, change, words)[often] / n[often]
            square = np.bincount(read, change**2, words)[often] / n[often]
            changes[:, at] = mean
            halves[:, at] = stdtrit(n[often] - 1, 0.975) * np.sqrt(np.maximum(0, square - mean**2) / (n[often] - 1))
        return WordPushes(often, n[often], changes, halves)

    @cached_property
    def class_of_text(self) -> NDArray[np.int64]:
        return self.ends.argmax(1) if self.labels is None else self.labels

    def joined(self, other: Reading) -> Reading:
        """Both as one, the places of the other's texts being counted on."""
        rows = np.concatenate([self.rows, other.rows + self.rows.max(initial=-1) + 1])
        ids = concatenate([self.ids, other.ids])
        before, after = np.concatenate([self.before, other.before]), np.concatenate([self.after, other.after])
        return Reading(rows, ids, before, after, None, self.beginning)


def read_texts(model: PrefixClassifier, corpus: Corpus, queries: int = QUERIES, seed: int = 0) -> Reading:
    """The outputs before and after each word of as many texts as the budget allows, drawn at random."""
    worded, ids = model.encoder.encode(corpus.texts).nonempty()
    if len(worded) == 0:
        raise InputError("the texts have no words that could push an opinion", code="no-words")
    paid = asks_every_prefix(model)
    words = queries if paid else min(_WORDS, _CELLS // len(model.class_names))
    ids = ids.kept(_BEGINNING) if paid else ids
    order = np.random.default_rng(seed).permutation(len(ids))
    fitting = max(1, int(np.searchsorted(np.cumsum(ids.lengths[order]), words, side="right")))
    order = np.sort(order[: min(fitting, queries)])
    part = ids.take(order)
    after = output_traces(model, part).values
    before = np.roll(after, 1, axis=0)
    before[part.offsets[:-1]] = initial_output(model)
    labels = None if corpus.labels is None else corpus.labels[worded[order]]
    return Reading(worded[order], part, before, after, labels, _BEGINNING if paid else None)


def _with_words_alone(read: Reading, model: PrefixClassifier, lines: Sequence[OpinionLine]) -> list[OpinionLine]:
    """With the words of the texts that the network gives each class where they stand alone."""
    ids = np.unique(read.ids.values)
    ids = ids[ids > UNKNOWN]
    outputs = output_traces(model, Ragged.from_lengths(ids, np.ones(len(ids), np.int64))).values
    words, answers = model.encoder.vocabulary.decode(ids), outputs.argmax(1)
    found = []
    for line in lines:
        order = np.argsort(-outputs[:, line.number], kind="stable")[:_ALONE]
        own = [(words[at], float(outputs[at, line.number])) for at in order if answers[at] == line.number]
        found.append(replace(line, alone=tuple(own)))
    return found


def _accuracy(read: Reading) -> float | None:
    if read.labels is None or read.beginning is not None:
        return None
    return float((read.ends.argmax(1) == read.labels).mean())


def _chosen(read: Reading, names: tuple[str, ...]) -> list[int]:
    """Of two classes the last; else those with most texts, in an order that puts those side by side that mix."""
    if len(names) == 2:
        return [1]
    counts = np.bincount(read.class_of_text, minlength=len(names))
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES])
    return [int(label) for label in largest[class_order(read.ends[:, largest])]]


def class_order(outputs: NDArray[np.floating]) -> NDArray[np.int64]:
    """The classes in an order that puts those side by side that outputs mix; (N, C) -> (C,)"""
    classes = outputs.shape[1]
    if classes < 3:
        return np.arange(classes)
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    together = outputs.T.astype(np.float64) @ outputs
    alone = np.sqrt(np.maximum(np.diag(together), np.finfo(float).tiny))
    apart = np.maximum(0, 1 - together / np.outer(alone, alone))
    np.fill_diagonal(apart, 0)
    return np.asarray(leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=True)), np.int64)


def _line(read: Reading, model: PrefixClassifier, label: int) -> OpinionLine:
    before, after = read.before[:, label], read.after[:, label]
    moves = np.zeros((len(STATIONS), len(STATIONS)), np.int64)
    np.add.at(moves, (np.digitize(before, BOUNDS), np.digitize(after, BOUNDS)), 1)
    pushes = _pushes(read, model, label)
    idle = [each for each in pushes if each.low > -_IDLE and each.high < _IDLE]
    towards = sorted((each for each in pushes if each.low > 0 and each not in idle), key=lambda each: -each.low)
    against = sorted((each for each in pushes if each.high < 0 and each not in idle), key=lambda each: each.high)
    spelled = [each for each in idle if has_letter(each.word)]
    answers = np.bincount(read.ends.argmax(1)[read.class_of_text == label], minlength=len(model.class_names))
    others = [at for at in np.argsort(-answers, kind="stable") if at != label and answers[at]]
    is_known = _accuracy(read) is not None
    return OpinionLine(
        label=model.class_names[label],
        number=label,
        texts=int((read.class_of_text == label).sum()),
        recognized=int(answers[label]) if is_known else None,
        mistaken=tuple((model.class_names[at], int(answers[at])) for at in others[:2] if is_known),
        moves=moves,
        towards=tuple(sorted(towards[:_PUSHES], key=lambda each: -each.change)),
        against=tuple(sorted(against[:_PUSHES], key=lambda each: each.change)),
        idle=tuple(sorted(spelled, key=lambda each: (not each.expected, -each.n))[:_IDLE_WORDS]),
    )


def _pushes(read: Reading, model: PrefixClassifier, label: int) -> list[Push]:
    """Of every known word that is read often enough while the network is not sure."""
    known = model.encoder.vocabulary.words
    found = read.pushes(len(known), [label])
    by_labels = np.flatnonzero(_expected(read, label, len(known)))
    expected = {int(word) for word in by_labels if not is_stop_word(known[word])}
    columns = (found.ids.tolist(), found.changes[:, 0], found.halves[:, 0], found.n.tolist())
    return [
        Push(known[word], float(mean), max(-1.0, mean - half), min(1.0, mean + half), count, word in expected)
        for word, mean, half, count in zip(*columns, strict=True)
    ]


def _expected(read: Reading, label: int, size: int) -> NDArray[np.bool_]:
    """Words whose texts are labelled with the class clearly more, or less, often than all texts; (V,)"""
    if read.labels is None:
        return np.zeros(size, bool)
    pairs = np.unique(read.ids.item_of_value() * size + read.ids.values)  # every word once per text
    texts = np.bincount(pairs % size, minlength=size)
    hits = np.bincount(pairs % size, read.labels[pairs // size] == label, size)
    share = float((read.labels == label).mean())
    error = np.sqrt(share * (1 - share) / np.maximum(1, texts))
    return np.asarray(np.abs(hits / np.maximum(1, texts) - share) > _EXPECTED * np.maximum(error, 1e-12))


def _stations(line: OpinionLine) -> list[dict[str, str]]:
    return [
        {
            f"probability of {line.label}": name,
            "of words read": percent(line.shares[at]),
            "stays": percent(line.rates[at, at]),
            "moves up": percent(line.rates[at, at + 1 :].sum()),
            "moves down": percent(line.rates[at, :at].sum()),
        }
        for at, name in enumerate(STATIONS)
    ]


def _words(line: OpinionLine) -> list[dict[str, str]]:
    named = {"towards": line.towards[:_PRINTED], "against": line.against[:_PRINTED], "nothing": line.idle[:3]}
    return [
        {
            "pushes": name,
            "word": each.word,
            "points": points(each.change),
            "95 % interval": f"{points(each.low)} to {points(each.high)}",
            "read": f"{each.n:,}",
        }
        for name, pushes in named.items()
        for each in pushes
    ]


def _class_row(line: OpinionLine) -> dict[str, str]:
    def listed(pushes: Sequence[Push]) -> str:
        return ", ".join(f"{each.word} {points(each.change)}" for each in pushes[:3])

    return {
        "class": line.label,
        "texts": f"{line.texts:,}",
        "recognized": "" if line.recognized is None else percent(line.recognized / max(1, line.texts)),
        "stays sure": percent(line.rates[-1, -1]),
        "words towards it": listed(line.towards),
        "words against it": listed(line.against),
    }


def points(change: float) -> str:
    """A change of probability in points, with its sign."""
    rounded = round(100 * change)
    return "0" if rounded == 0 else f"{'+' if rounded > 0 else '−'}{abs(rounded)}"
