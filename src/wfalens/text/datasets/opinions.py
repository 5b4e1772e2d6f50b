"""Generated opinions with a planted grammar of negation: "not very good", "never boring", "good but boring"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.text.corpus import Corpus
from wfalens.text.datasets import read_words
from wfalens.text.datasets.newsroom import draw_word

CLASSES = ("negative", "positive")

_WORDS: dict[str, tuple[str, ...]] = {role: tuple(words.split()) for role, words in read_words("opinions").items()}
_NEUTRAL = ("subjects", "verbs", "degrees", "links", "openings")
_NEGATED = 0.3  # share of the opinion words that a negation turns round
_CONTRASTED = 0.3  # share of the texts that first say the opposite, then "but"
_BARE = 0.25  # share of the opinions without "the film is"
_OPENED = 0.3  # share of the texts that begin with a word such as "overall"
_FILLERS = np.cumsum([0.45, 0.35])  # how often none, or at most one word such as "very" stands before an opinion word


@dataclass(frozen=True)
class OpinionTruth:
    """What the generator planted: the role of every word, and the grammar that gives a text its class.

    A negator turns the next opinion word round, also across other words. A contrast ("but") makes what follows count:
    opinions before it say nothing about the class, and a negation does not reach across it.
    """

    positive: tuple[str, ...]  # most frequent first, as in all lists
    negative: tuple[str, ...]
    negators: tuple[str, ...]
    contrasts: tuple[str, ...]
    neutral: tuple[str, ...]


TRUTH = OpinionTruth(
    **{role: _WORDS[role] for role in ("positive", "negative", "negators", "contrasts")},
    neutral=("the", *(word for role in _NEUTRAL for word in _WORDS[role])),
)


def generate(size: int, rng: np.random.Generator) -> Corpus:
    """`size` texts of 1 to 40 words, half of each class: one to three opinions, in part after opposite ones and "but".

    All opinions on one side of "but" agree, each with a word of its polarity or with a negated one of the other.
    """
    labels = rng.permutation(np.arange(size) % 2)
    texts = tuple(_text(int(label), rng) for label in labels)
    return Corpus(texts, labels.astype(np.int64), CLASSES, "opinions")


def _text(label: int, rng: np.random.Generator) -> str:
    words = [draw_word(_WORDS["openings"], rng)] if rng.random() < _OPENED else []
    if rng.random() < _CONTRASTED:
        words += [*_side(1 - label, 2, rng), draw_word(TRUTH.contrasts, rng)]
    return " ".join([*words, *_side(label, 3, rng)])


def _side(label: int, most: int, rng: np.random.Generator) -> list[str]:
    """One to `most` opinions of one class."""
    words = _opinion(label, rng)
    for _ in range(int(rng.integers(most))):
        words += [draw_word(_WORDS["links"], rng), *_opinion(label, rng)]
    return words


def _opinion(label: int, rng: np.random.Generator) -> list[str]:
    words = [] if rng.random() < _BARE else ["the", draw_word(_WORDS["subjects"], rng), draw_word(_WORDS["verbs"], rng)]
    negated = rng.random() < _NEGATED
    if negated:
        words.append(draw_word(TRUTH.negators, rng))
    words += [draw_word(_WORDS["degrees"], rng) for _ in range(int((rng.random() >= _FILLERS).sum()))]
    return [*words, draw_word(TRUTH.positive if bool(label) != negated else TRUTH.negative, rng)]
