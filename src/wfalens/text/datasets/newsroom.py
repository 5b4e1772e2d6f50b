"""Generated headlines on seven topics with a planted truth: which words carry what is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.text.corpus import Corpus
from wfalens.text.word_vectors import WordVectors

_CARRIERS = {
    "sport": "match coach players league playoffs striker goalkeeper tournament stadium umpire quarterback "
    "basketball tennis marathon racket referee innings penalty transfer championship relay sprint batting "
    "defender midfield roster semifinal trophy workout stakes",
    "world": "embassy treaty rebels ceasefire border refugees summit minister parliament diplomat sanctions "
    "troops coup monarchy envoy militia peacekeepers regime consulate delegation territory insurgents "
    "blockade province exile junta convoy republic uprising metropolis",
    "us": "senate congress governor county sheriff statehouse governors lawmakers wildfire federal mayor ballot "
    "caucus republicans democrats veto impeachment filibuster tornado redistricting electors attorney "
    "firefighters suburb interstate primaries pentagon homeland subpoena twister",
    "business": "stocks dollar earnings merger investors mortgage inflation bonds shares profits revenue banks "
    "bankruptcy retailer dividend takeover economy exports factory wages deficit auditors startup lender "
    "commodities hedge pension tariffs payrolls capital",
    "health": "disease vaccine patients hospital surgery cancer asthma obesity clinic nurses symptoms therapy "
    "insulin diabetes vitamins infection pediatric flu antibiotics cholesterol dementia allergy transplant "
    "pharmacy diagnosis nutrition epidemic physicians virus exercise",
    "entertainment": "album singer actress movie premiere concert sitcom celebrity oscar comedian broadway drummer "
    "sequel screenplay paparazzi director rapper ballet musical festival chart soundtrack blockbuster "
    "novelist opera guitarist reality sketch star contest",
    "sci_tech": "software browser smartphone telescope satellite robot genome algorithm quantum laptop encryption "
    "gadget physicist fossil asteroid hacker tablet processor startups cloud orbit particle dinosaur climate "
    "wireless engineers spacecraft keyboard malware sun",
}
_AMBIGUOUS = {
    "apple": ("business", "sci_tech"),
    "court": ("sport", "us"),
    "patent": ("business", "sci_tech"),
    "drug": ("health", "business"),
    "show": ("entertainment", "sci_tech"),
    "strike": ("sport", "business"),
    "election": ("us", "world"),
    "injury": ("sport", "health"),
    "stage": ("entertainment", "sport"),
    "radiation": ("health", "sci_tech"),
}
_SYNONYMS = (
    ("match", "contest"),
    ("exercise", "workout"),
    ("virus", "malware"),
    ("capital", "metropolis"),
    ("star", "sun"),
    ("shares", "stakes"),
)
_NEUTRAL = """
the to of in a for and on as with at is after from by new says over up out amid will may more before his her its not
big first back near than into off week year day time two three could but who how why what again still all no set
down make take gets puts finds sees wants plans calls asks helps keeps turns moves begins ends rises falls early
late next last many most some other another few own old long high
"""

TOPICS = tuple(_CARRIERS)
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
    carriers={topic: tuple(words.split()) for topic, words in _CARRIERS.items()},
    ambiguous=_AMBIGUOUS,
    neutral=tuple(_NEUTRAL.split()),
    synonyms=_SYNONYMS,
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
