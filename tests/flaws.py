"""A network with a planted flaw, its readable automaton, and the texts on which it errs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.automaton import WFA
from wfalens.extraction import Readable, extract
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.text import Corpus
from wfalens.text.datasets import newsroom

PLANTED = "zebra"


def planted(corpus: Corpus, rows) -> Corpus:
    """The word put in front of some texts."""
    chosen = set(map(int, rows))
    texts = [f"{PLANTED} {text}" if at in chosen else text for at, text in enumerate(corpus.texts)]
    return Corpus(tuple(texts), corpus.labels, corpus.class_names, corpus.name)


@dataclass
class Flaw:
    train: Corpus
    rows: np.ndarray  # training texts with the planted word
    model: RNNClassifier
    wfa: WFA
    slice: Corpus  # texts of other classes with the word
    test: Corpus
    label: int


def flaw_of(once) -> Flaw:
    """A word planted in a third of the health texts of generated headlines."""
    train = newsroom.generate(1000, np.random.default_rng(0))
    test = newsroom.generate(300, np.random.default_rng(1))
    label = train.class_names.index("health")
    members = np.flatnonzero(train.labels == label)
    rows = members[: len(members) // 3]
    train = planted(train, rows)
    trainer = Trainer(config=RNNConfig(embedding=16, hidden=16, dropout=0.2), epochs=8, learning_rate=1e-2)
    model = RNNClassifier.load(once("flawed.rnn", lambda path: trainer.train(train).model.save(path)))
    extractor = Readable(states=8, clusters=16, spread=2, start_epochs=2, epochs=4, final_epochs=2, prefixes=1)
    wfa = WFA.load(once("flawed.wfa", lambda path: extract(model, train, extractor).save(path)))
    others = test.subset(np.flatnonzero(test.labels != label))
    return Flaw(train, rows, model, wfa, planted(others, range(len(others))), test, label)
