"""Readable automata for tests, made by hand or at random, with the texts that they were counted on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wfalens.automaton import Shared, StochasticWFA
from wfalens.automaton.rows import no_rows, rows_from_keys
from wfalens.text import TextEncoder, Vocabulary

LEVELS = 1000  # rows are whole numbers that sum to this


@dataclass
class Readable:
    wfa: StochasticWFA
    matrices: np.ndarray  # (G, n, n)
    centres: np.ndarray  # (n, C)
    words: tuple[tuple[str, ...], ...]  # of each class
    texts: list[list[str]]

    @property
    def class_of(self) -> dict[str, int]:
        return {word: number for number, words in enumerate(self.words) for word in words}

    def steps(self):
        """(text, position, class of word, distribution before, distribution after), word by word."""
        for text, words in enumerate(self.texts):
            before = np.eye(len(self.centres))[0]
            for position, word in enumerate(words):
                after = before @ self.matrices[self.class_of[word]]
                yield text, position, self.class_of[word], before, after
                before = after

    def ends(self) -> list[np.ndarray]:
        """The distribution at the end of each text."""
        last = {text: after for text, _, _, _, after in self.steps()}
        return [last[text] for text in range(len(self.texts))]


def readable(matrices, centres, words, texts, class_names=("bad", "good"), provenance=None) -> Readable:
    matrices = np.rint(np.array(matrices, float) * LEVELS) / LEVELS
    centres = np.array(centres, float)
    made = Readable(None, matrices, centres, tuple(map(tuple, words)), [list(text) for text in texts])
    visits, reached = np.zeros((len(matrices), len(centres))), np.zeros(len(centres))
    for _, _, number, before, after in made.steps():
        visits[number] += before
        reached += after
    reached[0] += len(texts)
    flat = [word for each in words for word in each]
    vocabulary = Vocabulary.of_words(flat)
    class_of = np.array([0, 0, *(made.class_of[word] for word in flat)])
    counts = np.array([0, 0, *(sum(text.count(word) for text in made.texts) for word in flat)])
    levels = np.rint(matrices * LEVELS).reshape(-1)
    keys = np.flatnonzero(levels)
    rows = rows_from_keys(keys, levels[keys], len(matrices), len(centres))
    made.wfa = StochasticWFA(
        encoder=TextEncoder(vocabulary, "whitespace"),
        class_names=class_names,
        centres=centres,
        rows=no_rows(len(vocabulary)),
        completion=Shared(rows, class_of, visits, np.full(len(vocabulary), 255, np.uint8)),
        alpha=0.0,
        state_visits=np.rint(reached).astype(np.int64),
        word_counts=counts,
        provenance=provenance or {},
    )
    return made


def at_random(seed: int, n: int = 6, kinds: int = 4, classes: int = 3, texts: int = 60) -> Readable:
    rng = np.random.default_rng(seed)
    matrices = rng.dirichlet(np.full(n - 1, 0.3), (kinds, n))
    matrices = np.concatenate([np.zeros((kinds, n, 1)), matrices], axis=2)  # nothing leads back to the start
    words = [[f"w{kind}{letter}" for letter in "abc"] for kind in range(kinds)]
    flat = [word for each in words for word in each]
    said = [[str(word) for word in rng.choice(flat, rng.integers(1, 9))] for _ in range(texts)]
    centres = rng.dirichlet(np.full(classes, 0.3), n)
    return readable(_whole(matrices), centres, words, said, tuple(f"c{label}" for label in range(classes)))


def _whole(matrices: np.ndarray) -> np.ndarray:
    """Rows of multiples of 1 / LEVELS that sum to 1."""
    levels = np.floor(matrices * LEVELS)
    np.put_along_axis(
        levels,
        levels.argmax(2)[..., None],
        np.take_along_axis(levels, levels.argmax(2)[..., None], 2) + LEVELS - levels.sum(2, keepdims=True),
        2,
    )
    return levels / LEVELS


# states: start, undecided, undecided after a negation, sure bad, sure good
NEGATION_CENTRES = [[0.5, 0.5], [0.5, 0.5], [0.52, 0.48], [0.95, 0.05], [0.04, 0.96]]
STAY = np.eye(5)


def negation(texts: int = 400, seed: int = 0, **changes) -> Readable:
    """Understands "not good": a state says what another says, but takes good and bad the other way round."""

    def leads(*targets):
        return np.eye(5)[list(targets)]

    matrices = {
        "good": leads(4, 4, 3, 3, 4),
        "bad": leads(3, 3, 4, 3, 3),  # "bad" overturns a good opinion
        "not": leads(2, 2, 1, 3, 4),
        "the": leads(1, 1, 2, 3, 4),
    }
    words = {"good": ["good", "fine"], "bad": ["bad", "dull"], "not": ["not", "never"], "the": ["the", "film"]}
    words = changes.pop("words", words)
    rng = np.random.default_rng(seed)
    flat = [word for each in words.values() for word in each]
    said = [[str(word) for word in rng.choice(flat, rng.integers(1, 6))] for _ in range(texts)]
    return readable(list(matrices.values()), NEGATION_CENTRES, list(words.values()), said, **changes)
