"""Random automata for property tests, with the dense arrays that they were made from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from hypothesis import strategies as st

from tests import oracle
from wfalens.automaton import Empirical, Fitted, LinearWFA, Null, Probe, Shared, StochasticWFA, Uniform
from wfalens.automaton.completion import COMPLETIONS
from wfalens.automaton.linear import Factors
from wfalens.automaton.rows import rows_from_keys
from wfalens.text import TextEncoder, Vocabulary


@dataclass
class Sample:
    wfa: StochasticWFA
    counts: np.ndarray  # (V, n, n)
    probed: np.ndarray | None  # (V, n, n)
    centres: np.ndarray
    settings: dict

    def matrix(self, word: int) -> np.ndarray:
        """Êσ by the plain formulas, with the fallbacks for words without rows."""
        if not self._known(word):
            word = 1
        if not self._known(word):
            return np.eye(len(self.centres))
        probed = None if self.probed is None else self.probed[word]
        plain = oracle.transition_matrix(self.counts[word], self.centres, probed=probed, **self.settings)
        return oracle.context_enhanced(plain, self.wfa.alpha)

    def _known(self, word: int) -> bool:
        return word != 0 and (self.probed is not None or self.counts[word].any())


def sample(completion: str, seed: int, n: int = 6, words: int = 9, alpha: float = 0.3, beta: float = 0.4) -> Sample:
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    density = rng.uniform(0.05, 0.6)
    counts = rng.integers(1, 9, (words, n, n)) * (rng.random((words, n, n)) < density)
    counts[0] = 0
    if rng.random() < 0.5:
        counts[1] = 0  # <unk> was never seen
    counts = counts * (rng.random(words) < 0.8)[:, None, None]
    if rng.random() < 0.3:
        counts = counts * 0.5  # as with half-weight augmentation
    centres = rng.dirichlet(np.ones(classes), n)
    squared = bool(rng.random() < 0.5)
    probed, strength = None, float(rng.uniform(0.5, 4))
    if completion in ("probe", "fit"):
        probed = rng.multinomial(10, np.ones(n) / n, (words, n)).astype(float)
        probed[0] = 0
    if completion == "shared":
        shared, of_word = rng.multinomial(10, np.ones(n) / n, (2, n)).astype(float), rng.integers(0, 2, words)
        probed, counts = shared[of_word], counts * 0
    rule = {
        "null": lambda: Null(),
        "uniform": lambda: Uniform(),
        "empirical": lambda: Empirical(beta, "squared" if squared else "euclidean"),
        "probe": lambda: Probe(strength, 10, _rows(probed)),
        "fit": lambda: Fitted(_rows(probed), 0.1),
        "shared": lambda: Shared(
            _rows(shared), of_word, rng.integers(0, 9, (2, n)).astype(float), rng.integers(0, 256, words, np.uint8)
        ),
    }[completion]()
    vocabulary = Vocabulary.of_words([f"w{number}" for number in range(words - 2)])
    wfa = StochasticWFA(
        encoder=TextEncoder(vocabulary, "whitespace"),
        class_names=[f"c{number}" for number in range(classes)],
        centres=centres,
        rows=_rows(counts),
        completion=rule,
        alpha=alpha,
        state_visits=rng.integers(0, 50, n),
        word_counts=np.append(0, rng.integers(0, 9, words - 1)) if completion == "shared" else _sums(counts),
        provenance={"seed": seed},
    )
    options = {
        "completion": "fit" if completion == "shared" else completion,
        "beta": beta,
        "squared": squared,
        "strength": strength,
    }
    return Sample(wfa, counts, probed, centres, options)


def _sums(counts: np.ndarray) -> np.ndarray:
    return counts.sum((1, 2)).astype(int)


def _rows(dense: np.ndarray):
    words, n, _ = dense.shape
    flat = dense.reshape(-1)
    keys = np.flatnonzero(flat)
    return rows_from_keys(keys, flat[keys], words, n)


@st.composite
def samples(draw, completions=tuple(COMPLETIONS)) -> Sample:
    return sample(
        draw(st.sampled_from(completions)),
        draw(st.integers(0, 10**6)),
        n=draw(st.integers(2, 12)),
        words=draw(st.integers(3, 12)),
        alpha=draw(st.sampled_from([0.0, 0.2, 0.7, 1.0])),
        beta=draw(st.sampled_from([0.0, 0.3, 1.0])),
    )


@dataclass
class LinearSample:
    wfa: LinearWFA
    defined: np.ndarray  # (V, n + 1, n + 1): Êσ written out from the factors, in double precision
    final: np.ndarray  # (n + 1, C): F and f, not centred

    @cached_property
    def matrices(self) -> np.ndarray:
        """Êσ as the automaton has it, rounded to single precision; (V, n + 1, n + 1)"""
        return self.wfa.matrices(np.arange(len(self.defined), dtype=np.int32))


def linear_sample(
    seed: int,
    *,
    layers: int = 3,
    width: int = 4,
    words: int = 9,
    classes: int = 3,
    decay: float = 0.95,
    turns: bool = True,
) -> LinearSample:
    rng = np.random.default_rng(seed)
    n, per_word = layers * width, 5
    layer = np.arange(n) // width

    def numbers(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    factors = Factors(
        words=numbers(words, per_word),
        expansion=numbers(per_word, 3 * n - width) / 2,
        offset=numbers(3 * n - width),
        links=np.where(layer[:, None] < layer, numbers(n, n), np.float32(0)) / np.float32(np.sqrt(n)),
        start=numbers(n),
        final=numbers(n, classes),
        bias=numbers(classes),
        decay=decay,
        turns=turns,
    )
    wfa = LinearWFA(
        encoder=TextEncoder(Vocabulary.of_words([f"w{number}" for number in range(words - 2)]), "whitespace"),
        class_names=[f"c{number}" for number in range(classes)],
        factors=factors,
        mean_state=rng.normal(size=n),
        word_counts=np.append([0, 1], rng.integers(0, 30, words - 2)),
        provenance={"seed": seed},
    )
    return LinearSample(wfa, np.array([_linear_matrix(factors, word) for word in range(words)]), _final(factors))


def _linear_matrix(factors: Factors, word: int) -> np.ndarray:
    """Êσ for rows `[x, 1]`, straight from the definition in `Factors`."""
    n, m = len(factors.start), factors.width
    if word == 0:
        return np.eye(n + 1)
    described = factors.words[word].astype(float) @ factors.expansion.astype(float) + factors.offset
    decay, gate, entry = np.split(described, [n, 2 * n - m])
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, m:n] = factors.links[:, m:] * gate
    matrix[n, :n], matrix[n, n] = entry, 1
    for j in range(n):
        matrix[j, j] = factors.decay * np.tanh(decay[j]) if factors.turns else factors.decay / (1 + np.exp(-decay[j]))
    if factors.turns:
        for j in range(m // 2):
            radius, angle, other = factors.decay / (1 + np.exp(-decay[j])), decay[j + m // 2], j + m // 2
            pair = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])  # [x, y] turns left
            matrix[np.ix_([j, other], [j, other])] = radius * pair
    return matrix


def _final(factors: Factors) -> np.ndarray:
    return np.vstack([factors.final, factors.bias]).astype(float)


@st.composite
def linear_samples(draw) -> LinearSample:
    return linear_sample(
        draw(st.integers(0, 10**6)),
        layers=draw(st.integers(1, 5)),
        width=draw(st.integers(1, 5)),
        words=draw(st.integers(3, 12)),
        classes=draw(st.integers(2, 5)),
        decay=draw(st.sampled_from([0.1, 0.9, 0.999])),
        turns=draw(st.booleans()),
    )


def linear_like(wfa: StochasticWFA, seed: int = 0) -> LinearWFA:
    """A linear automaton of any weights with the words and classes of another."""
    made = linear_sample(seed, words=len(wfa.encoder.vocabulary), classes=len(wfa.class_names)).wfa
    return LinearWFA(
        encoder=wfa.encoder,
        class_names=wfa.class_names,
        factors=made.factors,
        mean_state=made.mean_state,
        word_counts=wfa.word_counts,
        provenance={"seed": seed},
    )


def carrier(seed: int = 0, n: int = 6, words: int = 9) -> LinearWFA:
    """A linear automaton that carries a readable automaton."""
    readable = sample("shared", seed, n=n, words=words).wfa
    return linear_like(readable, seed).with_readable(readable)
