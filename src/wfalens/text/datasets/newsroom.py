"""Generated headlines on seven topics with a planted truth: which words carry what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.text.corpus import Corpus
from wfalens.text.datasets import read_words
from wfalens.text.word_vectors import WordVectors

_WORDS = read_words("newsroom")
TOPICS = tuple(_WORDS["carriers"])
_WIDTH = 32  # of the generated word vectors
_AMBIGUOUS_RATE = 0.1  # how often an ambiguous word stands in a headline of one of its topics


@dataclass(frozen=True)
class Truth:
    """What the generator planted."""

    carriers: dict[str, tuple[str, ...]]  # topic -> words that occur (nearly) only in it, most frequent first
    ambiguous: dict[str, tuple[str, str]]  # word -> the two topics that share it
    neutral: tuple[str, ...]  # words that say nothing about the topic
    synonyms: tuple[tuple[str, str], ...]  # nearly the same vector, different topics

    def topic_of(self, word: str) -> str | None:
        return next((topic for topic, words in self.carriers.items() if word in words), None)


TRUTH = Truth(
    carriers={topic: tuple(words.split()) for topic, words in _WORDS["carriers"].items()},
    ambiguous={word: (first, second) for word, (first, second) in _WORDS["ambiguous"].items()},
    neutral=tuple(_WORDS["neutral"].split()),
    synonyms=tuple(_WORDS["synonyms"].items()),
)


def generate(size: int, rng: np.random.Generator, *, noise: float = 0.03) -> Corpus:
    """`size` headlines of 5 to 11 words: one to four carriers of the topic among neutral words.

    Each ambiguous word stands equally often in headlines of both its topics, there with at most two carriers and
    sometimes alone, so that the class depends on it alone. With probability `noise` a carrier of any topic joins.
    """
    labels = rng.integers(len(TOPICS), size=size)
    carriers = [TRUTH.carriers[topic] for topic in TOPICS]
    shared = [[word for word, pair in TRUTH.ambiguous.items() if topic in pair] for topic in TOPICS]
    texts = [_headline(label, carriers, shared, noise, rng) for label in labels]
    return Corpus(tuple(texts), labels.astype(np.int64), TOPICS, "newsroom")


def vectors() -> WordVectors:
    """Word vectors to match: words of a topic lie together, planted synonyms almost coincide."""
    rng = np.random.default_rng(7)
    centre = {topic: rng.normal(size=_WIDTH) for topic in TOPICS}
    place: dict[str, NDArray[np.float64]] = {}
    for topic, words in TRUTH.carriers.items():
        for word in words:
            place[word] = centre[topic] + rng.normal(scale=0.6, size=_WIDTH)
    for word, (first, second) in TRUTH.ambiguous.items():
        place[word] = (centre[first] + centre[second]) / 2 + rng.normal(scale=0.6, size=_WIDTH)
    for word in TRUTH.neutral:
        place[word] = rng.normal(scale=0.8, size=_WIDTH)
    for word, double in TRUTH.synonyms:
        place[double] = place[word] + rng.normal(scale=0.03, size=_WIDTH)
    return WordVectors(list(place), np.array(list(place.values()), np.float32), "newsroom")


def _headline(
    label: int,
    carriers: list[tuple[str, ...]],
    shared: list[list[str]],
    noise: float,
    rng: np.random.Generator,
) -> str:
    if rng.random() < _AMBIGUOUS_RATE * len(shared[label]):
        words = [shared[label][rng.integers(len(shared[label]))]]
        words += [draw_word(carriers[label], rng) for _ in range(rng.integers(0, 3))]
    else:
        words = [draw_word(carriers[label], rng) for _ in range(rng.integers(1, 5))]
    if rng.random() < noise:
        words.append(draw_word(carriers[rng.integers(len(carriers))], rng))
    words += [draw_word(TRUTH.neutral, rng) for _ in range(rng.integers(4, 7))]
    rng.shuffle(words)
    return " ".join(words)


def draw_word(words: Sequence[str], rng: np.random.Generator) -> str:
    """A word with probability falling as 1 / (rank + 2), by inverting the harmonic sum's logarithm."""
    rank = int(np.expm1(rng.random() * np.log1p(len(words) / 2)) * 2)
    return words[min(rank, len(words) - 1)]
