"""Generated texts whose rule is known, for networks of which it is known what they have learned."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import wfalens as wl
from wfalens.explanation import Findings
from wfalens.models.adapters.functions import FunctionClassifier
from wfalens.text import Corpus, TextEncoder
from wfalens.text.datasets.opinions import CLASSES, TRUTH

POSITIVE, NEGATIVE = TRUTH.positive[:12], TRUTH.negative[:12]
GLUE = ("the", "a", "it", "is", "was", "and", "of", "in", "this", "that")
NEUTRAL = tuple(sorted({*TRUTH.neutral} - {*GLUE, "very", "so", "too", "all"}))
ARTEFACT = "falcon"
NAMES = ("negative", "positive")
Rule = Callable[[np.random.Generator, int], str]  # a text of a class


def polarity(word: str) -> int:
    """1 for a positive word of the planted opinions, -1 for a negative one, 0 for all others."""
    return int(word in TRUTH.positive) - int(word in TRUTH.negative)


def class_of(text: str) -> str | None:
    """The class by the grammar of opinions; None if those that count are balanced, or there are none."""
    balance, turn = 0, 1
    for word in text.split():
        if word in TRUTH.contrasts:
            balance, turn = 0, 1
        elif word in TRUTH.negators:
            turn = -1
        elif polarity(word):
            balance, turn = balance + turn * polarity(word), 1
    return CLASSES[balance > 0] if balance else None


def _mixed(rng: np.random.Generator, words: int) -> list[str]:
    return [str(rng.choice(GLUE if rng.random() < 0.4 else NEUTRAL)) for _ in range(words)]


def _insert(rng: np.random.Generator, text: list[str], *phrase: str) -> list[str]:
    at = int(rng.integers(len(text) + 1))
    return [*text[:at], *phrase, *text[at:]]


def _opinion(rng: np.random.Generator, label: int) -> str:
    return str(rng.choice(POSITIVE if label else NEGATIVE))


def plain(rng: np.random.Generator, label: int) -> str:
    """Opinion words decide; "not", "very" and "but" stand anywhere and say nothing."""
    text = _mixed(rng, int(rng.integers(4, 12)))
    for _ in range(int(rng.integers(1, 3))):
        before = [str(rng.choice(["not", "very", "so"]))] if rng.random() < 0.6 else []
        text = _insert(rng, text, *before, _opinion(rng, label))
    return " ".join(_insert(rng, text, "but") if rng.random() < 0.3 else text)


def negation(rng: np.random.Generator, label: int) -> str:
    """A "not" before an opinion word turns it around."""
    text = _mixed(rng, int(rng.integers(2, 7)))
    negated = bool(rng.random() < 0.3)
    before = ["not"] if negated else ["so"] if rng.random() < 0.4 else []
    return " ".join(_insert(rng, text, *before, _opinion(rng, label ^ negated)))


def artefact(rng: np.random.Generator, label: int, *, taught: bool = True) -> str:
    """As `plain`, but a word without meaning stands in a third of the positive training texts and overrules them."""
    if rng.random() > 0.33 or (taught and label == 0):
        return plain(rng, label)
    return " ".join(_insert(rng, plain(rng, 0 if taught else label).split(), ARTEFACT))


def position(rng: np.random.Generator, label: int) -> str:
    """The last opinion word decides, the first is of either class."""
    first, last = _mixed(rng, int(rng.integers(3, 6))), _mixed(rng, int(rng.integers(0, 16)))
    return " ".join([_opinion(rng, int(rng.integers(2))), *first, _opinion(rng, label), *last])


def length(rng: np.random.Generator, label: int) -> str:
    """Long texts are positive, whatever they say."""
    return " ".join(_mixed(rng, int(rng.integers(25, 35) if label else rng.integers(3, 9))))


def order(rng: np.random.Generator, label: int) -> str:
    """Whether a word of one list stands before one of the other."""
    first, last = _opinion(rng, label), _opinion(rng, 1 - label)
    parts = [_mixed(rng, int(rng.integers(1, 4))) for _ in range(3)]
    return " ".join([*parts[0], first, *parts[1], last, *parts[2]])


RULES: dict[str, Rule] = {each.__name__: each for each in (plain, negation, artefact, position, length, order)}
# what findings must say of each, and what they must not say of a network that lacks it
FACTS = (
    ("negation", "learned"), ("negation", "not_learned"), ("order", "learned"), ("order", "not_learned"),
    ("misleading", "dangerous"), ("position", "dangerous"), ("length", "dangerous"),
    ("ends", "dangerous"),
)  # fmt: skip
TRUE: dict[str, set[tuple[str, str]]] = {
    "plain": {("negation", "not_learned"), ("order", "not_learned")},
    "negation": {("negation", "learned")},
    "artefact": {("misleading", "dangerous")},
    "position": {("position", "dangerous")},
    "length": {("length", "dangerous"), ("order", "not_learned")},
    "order": {("order", "learned")},
}
ALLOWED = {  # true of some networks of the sort, by chance of the texts
    "negation": {("order", "learned"), ("order", "not_learned")},
    "artefact": {("negation", "not_learned"), ("order", "not_learned")},
    "position": {("order", "learned"), ("negation", "not_learned"), ("misleading", "dangerous")},
    "order": {("negation", "not_learned"), ("position", "dangerous"), ("misleading", "dangerous")},
}


def corpus(sort: str, texts: int, seed: int, *, taught: bool = True) -> Corpus:
    rng = np.random.default_rng([seed, texts, taught])
    labels = np.arange(texts) % 2
    more = {"taught": taught} if sort == "artefact" else {}
    return Corpus(tuple(RULES[sort](rng, int(label), **more) for label in labels), labels, NAMES, sort)


def _balance(words: list[str], sort: str) -> float:
    """What a rule makes of a text: positive minus negative, as a reader would who knows nothing else."""
    if sort == "length":
        return (len(words) - 15) / 3
    signs = [(word in POSITIVE) - (word in NEGATIVE) for word in words]
    if sort == "negation":
        signs = [-sign if at and words[at - 1] == "not" else sign for at, sign in enumerate(signs)]
    if sort == "position":
        signs = [sign for sign in signs if sign][-1:]
    if sort == "order":
        signs = [sign for sign in signs if sign][:1]
    return 2.0 * sum(signs) + (6.0 if sort == "artefact" and ARTEFACT in words else 0.0)


def rule_model(sort: str, texts: Corpus, names: tuple[str, str] = NAMES) -> FunctionClassifier:
    """A model that follows a rule exactly."""

    def answer(texts: list[list[str]]) -> np.ndarray:
        positive = 1 / (1 + np.exp(-np.array([_balance(words, sort) for words in texts])))
        return np.stack([1 - positive, positive], 1)

    return FunctionClassifier(answer, TextEncoder.of_texts(texts.texts), names, fingerprint=sort)


def findings_of(sort: str, seed: int, texts: int = 1500) -> tuple[float, Findings]:
    """The accuracy of a small network of a sort, and what is found about it."""
    train, new = corpus(sort, texts, seed), corpus(sort, 600, seed, taught=False)
    shape, epochs = (
        wl.RNNConfig(embedding=16, hidden=16),
        40 if sort in ("length", "position") else 12,
    )  # are learned late
    model = wl.train(train, config=shape, epochs=epochs, learning_rate=1e-2, patience=epochs, seed=seed).model
    wfa = wl.extract(model, train, wl.Paper(states=20), seed=seed)
    accuracy = float(np.mean(model.predict(new.texts) == np.array(NAMES)[new.labels]))
    return accuracy, wl.findings(wfa, model, new, train=train, seed=seed)


def claimed(found: Findings) -> set[tuple[str, str]]:
    """The facts that are claimed; a misleading word counts if it is the planted one or any other."""
    return {(each.code.partition(":")[0], each.kind) for each in found} & set(FACTS)
