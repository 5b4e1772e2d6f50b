"""Generated opinions with a planted grammar of negation: "not very good", "never boring", "good but boring"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.text.corpus import Corpus
from wfalens.text.datasets.newsroom import draw_word

CLASSES = ("negative", "positive")

_POSITIVE = (
    "good funny great moving clever charming fresh lively smart brilliant warm original gripping honest "
    "touching witty elegant bold tender vivid"
)
_NEGATIVE = (
    "bad boring dull weak silly slow tedious flat awful clumsy shallow noisy stale predictable bland "
    "messy lifeless empty forced grim"
)
_NEGATORS = "not never hardly scarcely"
_CONTRASTS = "but yet"
_SUBJECTS = (
    "film plot story cast music dialogue ending acting script humour camera direction hero romance opening "
    "pace scenery sequel villain soundtrack"
)
_VERBS = "is was feels seems looks remains becomes sounds stays turns"
_DEGREES = "very really so all quite too particularly truly"
_LINKS = "and also while then"
_OPENINGS = "overall honestly today again perhaps here"

_NEGATED = 0.3  # share of the opinion words that a negation turns round
_CONTRASTED = 0.3  # share of the texts that first say the opposite, then "but"
_BARE = 0.25  # share of the opinions without "the film is"
_OPENED = 0.3  # share of the texts that begin with a word such as "overall"
_FILLERS = (0.45, 0.35, 0.2)  # how often none, one or two words such as "very" stand before an opinion word


@dataclass(frozen=True)
class Truth:
    """What the generator planted: the role of every word, and the grammar that gives a text its class.

    A negator turns the next opinion word round, also across other words. A contrast ("but") makes what follows count:
    opinions before it say nothing about the class, and a negation does not reach across it.
    """

    positive: tuple[str, ...]  # most frequent first, as in all lists
    negative: tuple[str, ...]
    negators: tuple[str, ...]
    contrasts: tuple[str, ...]
    neutral: tuple[str, ...]

    def polarity(self, word: str) -> int:
        """1 for a positive word, -1 for a negative one, 0 for all others."""
        return int(word in self.positive) - int(word in self.negative)

    def balance(self, text: str) -> int:
        """Positive minus negative opinions that count, each turned round if it is negated."""
        balance, turn = 0, 1
        for word in text.split():
            if word in self.contrasts:
                balance, turn = 0, 1
            elif word in self.negators:
                turn = -1
            elif self.polarity(word):
                balance, turn = balance + turn * self.polarity(word), 1
        return balance

    def class_of(self, text: str) -> str | None:
        """The class by the grammar; None if the opinions that count are balanced, or there are none."""
        balance = self.balance(text)
        return CLASSES[balance > 0] if balance else None


TRUTH = Truth(
    positive=tuple(_POSITIVE.split()),
    negative=tuple(_NEGATIVE.split()),
    negators=tuple(_NEGATORS.split()),
    contrasts=tuple(_CONTRASTS.split()),
    neutral=("the", *f"{_SUBJECTS} {_VERBS} {_DEGREES} {_LINKS} {_OPENINGS}".split()),
)


def generate(size: int, rng: np.random.Generator) -> Corpus:
    """`size` texts of 1 to 40 words, half of each class: one to three opinions, in part after opposite ones and "but".

    All opinions on one side of "but" agree, each with a word of its polarity or with a negated one of the other.
    """
    labels = rng.permutation(np.arange(size) % 2)
    texts = tuple(_text(int(label), rng) for label in labels)
    return Corpus(texts, labels.astype(np.int64), CLASSES, "opinions")


def _text(label: int, rng: np.random.Generator) -> str:
    words = [draw_word(_OPENINGS.split(), rng)] if rng.random() < _OPENED else []
    if rng.random() < _CONTRASTED:
        words += [*_side(1 - label, 2, rng), draw_word(TRUTH.contrasts, rng)]
    return " ".join([*words, *_side(label, 3, rng)])


def _side(label: int, most: int, rng: np.random.Generator) -> list[str]:
    """One to `most` opinions of one class."""
    words = _opinion(label, rng)
    for _ in range(int(rng.integers(most))):
        words += [draw_word(_LINKS.split(), rng), *_opinion(label, rng)]
    return words


def _opinion(label: int, rng: np.random.Generator) -> list[str]:
    words = [] if rng.random() < _BARE else ["the", draw_word(_SUBJECTS.split(), rng), draw_word(_VERBS.split(), rng)]
    negated = rng.random() < _NEGATED
    if negated:
        words.append(draw_word(TRUTH.negators, rng))
    words += [draw_word(_DEGREES.split(), rng) for _ in range(rng.choice(3, p=_FILLERS))]
    return [*words, draw_word(TRUTH.positive if bool(label) != negated else TRUTH.negative, rng)]
