"""Small studies for the report and the explorer, with words in them that would like to be more than words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from wfalens.automaton import WFA
from wfalens.extraction import Stochastic, extract
from wfalens.models import BlackBoxClassifier, RNNConfig, Trainer, wrap
from wfalens.models.rnn.classifier import RNNClassifier
from wfalens.report import Study
from wfalens.text import Corpus, TextEncoder, Vocabulary, WordVectors
from wfalens.text.datasets import newsroom

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img/src=x/onerror=alert(1)>'
TURNED = "\u202egnp.exe"
HALF = "half\ud800"
HOSTILE = {SCRIPT: "health", IMAGE: "sport", TURNED: "business", HALF: "world"}  # word -> topic it stands in
HOSTILE_CLASS = "<img src=x onerror=alert(1)>"
NAME = 'news"><script>alert(2)</script>.wfa'


def visible(text: str) -> str:
    """As pages show it: what would turn the line or is half a character stands there as its code."""
    return text.replace("\u202e", "⟨202e⟩").replace("\ud800", "⟨d800⟩")


def headlines(size: int, seed: int, word_by_topic: dict[str, str] | None = None, *, last: str = "sci_tech") -> Corpus:
    """Generated headlines; each given word stands at the end of some headlines of its topic."""
    rng = np.random.default_rng(seed)
    corpus = newsroom.generate(size, rng)
    topics = {topic: word for word, topic in (word_by_topic or {}).items()}
    texts = [
        f"{text} {topics[topic]}" if topic in topics and rng.random() < 0.4 else text
        for text, topic in zip(corpus.texts, np.array(corpus.class_names)[corpus.labels], strict=True)
    ]
    return Corpus(tuple(texts), corpus.labels, (*newsroom.TOPICS[:-1], last), "headlines </title>")


def trained(corpus: Corpus, epochs: int, cell: str = "lstm") -> RNNClassifier:
    config = RNNConfig(cell=cell, embedding=16, hidden=16, dropout=0.1)
    return Trainer(config=config, tokenizer="whitespace", epochs=epochs, learning_rate=2e-2, seed=0).train(corpus).model


def extracted(model: RNNClassifier, corpus: Corpus, states: int = 12) -> WFA:
    return extract(
        model,
        corpus,
        Stochastic(states=states, completion="probe", alpha=0.0, representatives=3, abstraction="outputs"),
    )


def vectors_with(words: dict[str, str]) -> WordVectors:
    known = newsroom.vectors()
    extra = np.random.default_rng(1).normal(size=(len(words), known.width)).astype(np.float32)
    return WordVectors([*known.words, *words], np.vstack([known.matrix, extra]), known.source)


@cache
def hostile_study() -> Study:
    """Everything that a study can have; words, a class and names are hostile."""
    train = headlines(1200, 0, HOSTILE, last=HOSTILE_CLASS)
    model, early = trained(train, 6), trained(train, 1)
    test = headlines(300, 1, HOSTILE, last=HOSTILE_CLASS)
    return Study(
        NAME,
        extracted(model, train),
        model,
        test,
        vectors_with(HOSTILE),
        extracted(early, train),
        "early<b>.wfa",
        early,
    )


def counting_model(classes: int, words: str = "abcdefgh") -> BlackBoxClassifier:
    """A black box that counts: the k-th letter speaks for class k modulo their number."""
    encoder = TextEncoder(Vocabulary.of_words(words), "whitespace")
    names = [f"c{number}" for number in range(classes)]
    return wrap(_counts(words, classes), vocab=encoder, classes=names, name="counting", reads="tokens")


def _counts(words: str, classes: int) -> Callable[[list[list[str]]], np.ndarray]:
    def predict(texts: list[list[str]]) -> np.ndarray:
        score = np.zeros((len(texts), classes))
        for row, text in zip(score, texts, strict=True):
            for word in text:
                if word in words:
                    row[words.index(word) % classes] += 1
        odds = np.exp(score - score.max(1, keepdims=True))
        return odds / odds.sum(1, keepdims=True)

    return predict


def letter_texts(size: int, classes: int, seed: int = 0, words: str = "abcdefgh") -> Corpus:
    rng = np.random.default_rng(seed)
    texts = tuple(" ".join(rng.choice(list(words), rng.integers(1, 7))) for _ in range(size))
    labels = rng.integers(classes, size=size)
    return Corpus(texts, labels, tuple(f"c{number}" for number in range(classes)), "letters")
