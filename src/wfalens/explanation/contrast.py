"""Contrast of two spaces (paper §5.3): words that act alike but mean different things, and the other way round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.explanation.influence import Influence, influence
from wfalens.explanation.word_pairs import Pair, Pairs
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import check_choice, threshold

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CONVENTIONS = ("cosine", "mean_square", "norm")
_BLOCK = 2048  # words on each side of a block of pairs
_FLOATS = 1 << 23  # of matrices of one side that are held at a time
_SAMPLE = 1500  # words whose pairs give the quantiles
_QUANTILES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99)
Distances = NDArray[np.float32]


def collaborative_pairs(
    wfa: WFA,
    vectors: WordVectors,
    epsilon: float | str = "q0.01",
    delta: float | str = "q0.5",
    **options: Any,
) -> Pairs:
    """Pairs with `d_T ≤ ε` and `d_S ≥ δ`: unlike words that the model treats alike.

    The pairs of which both words move the output most come first; neutral words all act alike, which tells little.
    Options as for `find_pairs`.
    """

    def rank(_gap: Distances, first: Distances, second: Distances) -> Distances:
        return np.minimum(first[:, None], second[None])

    def holds(d_t: Distances, d_s: Distances, low: float, high: float) -> NDArray[np.bool_]:
        return (d_t <= low) & (d_s >= high)

    return find_pairs("collaborative", wfa, vectors, epsilon, delta, ("d_T", "d_S"), holds, rank, **options)


def adversarial_pairs(
    wfa: WFA,
    vectors: WordVectors,
    epsilon: float | str = "q0.001",
    delta: float | str = "q0.5",
    **options: Any,
) -> Pairs:
    """Pairs with `d_T ≥ δ` and `d_S ≤ ε`: like words that the model treats differently, the largest d_T first.

    By the usual convention the two words must also be near in meaning (`corpus.nearness`).
    """

    def rank(gap: Distances, _first: Distances, _second: Distances) -> Distances:
        return gap

    def holds(d_t: Distances, d_s: Distances, low: float, high: float) -> NDArray[np.bool_]:
        return (d_t >= high) & (d_s <= low)

    return find_pairs(
        "adversarial", wfa, vectors, epsilon, delta, ("d_S", "d_T"), holds, rank, near_only=True, **options
    )


def find_pairs(
    kind: str,
    wfa: WFA,
    vectors: WordVectors,
    epsilon: float | str,
    delta: float | str,
    spaces: tuple[str, str],
    holds: Callable[[Distances, Distances, float, float], NDArray[np.bool_]],
    rank: Callable[[Distances, Distances, Distances], Distances],
    *,
    near_only: bool = False,
    min_count: int = 5,
    per_class: int = 10,
    convention: str = "cosine",
    seed: int = 0,
) -> Pairs:
    """All pairs of words seen `min_count` times that have a vector, block by block in bounded memory.

    epsilon, delta  numbers, or quantiles over random pairs such as "q0.01"; `spaces` names the distance of each
    convention      cosine: d_S is 1 − cosine, among content words that can be compared (`corpus.nearness`), and d_T the
                    mean squared difference per element; the paper's: mean_square for both, or norm (per element)
    per_class       pairs kept for each class that the first word speaks for most
    """
    check_choice("convention", convention, CONVENTIONS)
    scores, table, meanings = _shared_words(wfa, vectors, min_count, convention)
    measured = _Spaces(table, meanings, convention)
    near = _near_pairs(meanings) if near_only and convention == "cosine" else None
    quantiles = measured.quantiles(np.random.default_rng(seed))
    low, high = (threshold(value, quantiles[space].at) for value, space in zip((epsilon, delta), spaces, strict=True))
    strength, classes = scores.strength.astype(np.float32), scores.scores.argmax(1)
    best: list[_Found] = []
    total = 0
    block = measured.block
    blocks = range(0, len(table), block)
    progress.start("comparing pairs of words", len(blocks) * (len(blocks) + 1) // 2)
    for start in blocks:
        rows = slice(start, min(start + block, len(table)))
        left = measured.load(rows)
        for other in range(start, len(table), block):
            columns = slice(other, min(other + block, len(table)))
            d_t, d_s = measured.between(left, left if other == start else measured.load(columns))
            chosen = holds(d_t, d_s, low, high)
            if near is not None:
                chosen &= near[rows, columns].toarray()
            if other == start:
                chosen &= np.triu(np.ones_like(chosen), 1)
            first, second = np.nonzero(chosen)
            total += len(first)
            value = np.broadcast_to(rank(d_t, strength[rows], strength[columns]), d_t.shape)[first, second]
            found = _Found(first + start, second + other, value, d_t[first, second], d_s[first, second])
            best.append(_keep(found, classes, per_class))
            progress.advance()
    progress.finish()
    merged = _Found(*(np.concatenate(column) for column in zip(*best, strict=True)))
    first, second, value, d_t, d_s = _keep(merged, classes, per_class)
    order = np.argsort(-value, kind="stable")
    return Pairs(
        kind,
        tuple(
            Pair(
                scores.words[first[at]],
                scores.words[second[at]],
                float(d_t[at]),
                float(d_s[at]),
                scores.scores[first[at]],
                scores.scores[second[at]],
            )
            for at in order
        ),
        total,
        len(table),
        low,
        high,
        convention,
        vectors.source,
        quantiles,
        wfa.class_names,
        wfa.unit,
    )


@dataclass(frozen=True, eq=False)
class _Spaces:
    """Distances between blocks of words in both spaces."""

    table: TransitionEmbeddings
    meanings: WordVectors  # of unit length by the cosine convention
    convention: str

    @property
    def block(self) -> int:
        """Words on each side of a block of pairs."""
        return min(_BLOCK, max(1, _FLOATS // self.table.width))

    def load(self, words: slice | NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        index = np.arange(len(self.table))[words]
        return self.table.rows(index), self.meanings.matrix[index]

    def between(
        self,
        left: tuple[NDArray[np.float32], NDArray[np.float32]],
        right: tuple[NDArray[np.float32], NDArray[np.float32]],
    ) -> tuple[Distances, Distances]:
        """d_T and d_S of all pairs; -> (left, right) each"""
        acting, meaning = (_squares(one, two) for one, two in zip(left, right, strict=True))
        if self.convention == "norm":
            np.sqrt(acting, out=acting)
            np.sqrt(meaning, out=meaning)
        acting /= self.table.width
        # between unit vectors: |a − b|² = 2·(1 − cos)
        meaning /= 2 if self.convention == "cosine" else self.meanings.width
        return acting, meaning

    def quantiles(self, rng: np.random.Generator) -> dict[str, _Curve]:
        chosen = np.sort(rng.permutation(len(self.table))[: min(_SAMPLE, 4 * self.block)])
        sample = self.load(chosen)
        above = np.triu_indices(len(chosen), 1)
        return {
            name: _Curve(distance[above])
            for name, distance in zip(("d_T", "d_S"), self.between(sample, sample), strict=True)
        }


class _Curve(dict[float, float]):
    """Quantiles to show; any other one can be asked for."""

    def __init__(self, values: Distances) -> None:
        self._values = np.sort(values)
        super().__init__({at: self.at(at) for at in _QUANTILES})

    def at(self, quantile: float) -> float:
        return float(np.quantile(self._values, quantile))


def _squares(left: NDArray[np.float32], right: NDArray[np.float32]) -> Distances:
    """Squared Euclidean distances; (left, width), (right, width) -> (left, right)"""
    squares: Distances = left @ right.T
    squares *= -2
    squares += np.einsum("ij,ij->i", left, left)[:, None]
    squares += np.einsum("ij,ij->i", right, right)
    np.maximum(squares, 0, out=squares)
    return squares


def _shared_words(
    wfa: WFA, vectors: WordVectors, min_count: int, convention: str
) -> tuple[Influence, TransitionEmbeddings, WordVectors]:
    """Words that were seen often enough and have a vector, in the order of their influences."""
    scores = influence(wfa, min_count)
    if convention == "cosine":
        vectors = Nearness.among(vectors, scores.words).content
    known = np.array([at for at, word in enumerate(scores.words) if word in vectors], np.int64)
    if len(known) < 2:
        raise InputError(
            f"{vectors.source} has vectors for {len(known)} of the {len(scores.words)} words seen at least {min_count} "
            "times: too few for pairs; give other vectors or lower the minimum count"
        )
    scores = scores.subset(known)
    ids = np.array([wfa.encoder.vocabulary.id_of(word) for word in scores.words], np.int32)
    return scores, TransitionEmbeddings(wfa, ids), vectors.restricted(scores.words)


def _near_pairs(meanings: WordVectors) -> csr_array:
    """Which words are each other's neighbours; -> (words, words)"""
    from scipy.sparse import csr_array

    found = Nearness(meanings, meanings.restricted(())).pairs(within=math.inf)
    there = np.ones(len(found.first), bool)
    return csr_array((there, (found.first, found.second)), shape=(len(meanings), len(meanings)))


class _Found(NamedTuple):
    """Pairs as columns."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    value: Distances
    d_t: Distances
    d_s: Distances


def _keep(found: _Found, classes: NDArray[np.int64], per_class: int) -> _Found:
    """The `per_class` highest-ranking pairs of every class of the first word."""
    of_pair = classes[found.first]
    chosen = [np.zeros(0, np.int64)]
    for label in np.unique(of_pair):
        members = np.flatnonzero(of_pair == label)
        if len(members) > per_class:
            members = members[np.argpartition(-found.value[members], per_class - 1)[:per_class]]
        chosen.append(members)
    keep = np.sort(np.concatenate(chosen))
    return _Found(found.first[keep], found.second[keep], found.value[keep], found.d_t[keep], found.d_s[keep])
