"""Pairs of words that two spaces disagree on (paper §5.3): alike in effect but not in meaning, or the reverse."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.attribution import class_column
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.explanation.influence import Influence, influence
from wfalens.results import Result
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import check_choice, threshold

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ADVERSARIAL, COLLABORATIVE = PAIR_KINDS = ("adversarial", "collaborative")
CONVENTIONS = ("cosine", "mean_square", "norm")
_EPSILON, _DELTA = {ADVERSARIAL: "q0.001", COLLABORATIVE: "q0.01"}, "q0.5"
_BLOCK = 2048  # words on each side of a block of pairs
_FLOATS = 1 << 23  # of matrices of one side that are held at a time
_SAMPLE = 1500  # words whose pairs give the quantiles
_QUANTILES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99)
Distances = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two words, their distances in both spaces, and their influences."""

    first: str
    second: str
    transition_distance: float  # d_T
    semantic_distance: float  # d_S
    first_influence: NDArray[np.float64]  # (classes,)
    second_influence: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Result):
    """The pairs that rank highest for each class of their first word, and how many there are in all."""

    kind: str
    pairs: tuple[Pair, ...]
    total: int
    words: int
    epsilon: float
    delta: float
    convention: str
    vectors: str  # the source of the word vectors
    quantiles: Mapping[str, Mapping[float, float]]  # of d_T and d_S over random pairs
    class_names: tuple[str, ...]
    unit: str

    @property
    def title(self) -> str:
        return (
            f"{self.total:,} {self.kind} pairs among {self.words:,} words, word vectors: {self.vectors} "
            f"(ε = {self.epsilon:.4g}, δ = {self.delta:.4g}; influence in {self.unit})"
        )

    def of_class(self, class_name: str) -> tuple[Pair, ...]:
        """Pairs whose first word has its largest influence on a class."""
        column = class_column(self.class_names, class_name)
        return tuple(pair for pair in self.pairs if pair.first_influence.argmax() == column)

    def rows(self) -> list[dict[str, Any]]:
        rows = []
        for pair in self.pairs:
            distances = {"d_T": pair.transition_distance, "d_S": pair.semantic_distance}
            row: dict[str, Any] = {"first": pair.first, "second": pair.second, **distances}
            for word, scores in (("first", pair.first_influence), ("second", pair.second_influence)):
                row[f"{word} class"] = self.class_names[int(scores.argmax())]
                row[f"{word} influence"] = float(scores.max())
            rows.append(row)
        return rows


def word_pairs(
    wfa: WFA,
    vectors: WordVectors,
    kind: str = ADVERSARIAL,
    *,
    epsilon: float | str | None = None,
    delta: float | str | None = None,
    min_count: int = 5,
    per_class: int = 10,
    convention: str = "cosine",
    seed: int = 0,
) -> Pairs:
    """All pairs of words seen `min_count` times that have a vector, block by block in bounded memory.

    Adversarial pairs are ranked by d_T, collaborative ones by the smaller of the two influences: neutral words all act
    alike, which says little.

    Args:
        wfa: the automaton.
        vectors: word vectors, the meanings.
        kind: "adversarial" (`d_T ≥ δ` and `d_S ≤ ε`) or "collaborative" (`d_T ≤ ε` and `d_S ≥ δ`).
        epsilon: upper bound: a number, or a quantile over random pairs such as "q0.01".
        delta: lower bound, likewise.
        min_count: occurrences in the extraction texts that a word needs.
        per_class: pairs kept for each class on which the first word has its largest influence.
        convention: cosine: d_S is 1 − cosine, among content words that can be compared (`text.similar_words`; the
            words of adversarial pairs must be each other's neighbours), and d_T the mean squared difference per
            element; the paper's: mean_square for both, or norm (per element).
        seed: of the random pairs.
    """
    check_choice("kind", kind, PAIR_KINDS)
    check_choice("convention", convention, CONVENTIONS)
    scores, table, meanings = _shared_words(wfa, vectors, min_count, convention)
    spaces = _Spaces(table, meanings, convention)
    sampled = spaces.sampled(np.random.default_rng(seed))
    quantiles = {name: {at: float(np.quantile(each, at)) for at in _QUANTILES} for name, each in sampled.items()}
    near_space, far_space = ("d_S", "d_T") if kind == ADVERSARIAL else ("d_T", "d_S")
    low = threshold(
        _EPSILON[kind] if epsilon is None else epsilon, lambda at: float(np.quantile(sampled[near_space], at))
    )
    high = threshold(_DELTA if delta is None else delta, lambda at: float(np.quantile(sampled[far_space], at)))
    columns, total = _search(kind, spaces, scores, low, high, per_class)
    order = np.argsort(-columns.rank, kind="stable")
    first, second = (scores.subset(each[order]) for each in (columns.first, columns.second))
    distances = columns.d_t[order].tolist(), columns.d_s[order].tolist()
    pairs = tuple(map(Pair, first.words, second.words, *distances, first.scores, second.scores))
    names = wfa.class_names
    return Pairs(kind, pairs, total, len(table), low, high, convention, vectors.source, quantiles, names, wfa.unit)


class _PairColumns(NamedTuple):
    """Pairs as columns."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    rank: Distances
    d_t: Distances
    d_s: Distances

    def best(self, classes: NDArray[np.int64], per_class: int) -> _PairColumns:
        """The `per_class` highest-ranking pairs of every class of the first word."""
        of_pair = classes[self.first]
        chosen = [np.zeros(0, np.int64)]
        for label in np.unique(of_pair):
            members = np.flatnonzero(of_pair == label)
            if len(members) > per_class:
                members = members[np.argpartition(-self.rank[members], per_class - 1)[:per_class]]
            chosen.append(members)
        keep = np.sort(np.concatenate(chosen))
        return _PairColumns(self.first[keep], self.second[keep], self.rank[keep], self.d_t[keep], self.d_s[keep])


def _search(
    kind: str, spaces: _Spaces, scores: Influence, low: float, high: float, per_class: int
) -> tuple[_PairColumns, int]:
    """The best pairs within the bounds, and the number of all of them."""
    strength, classes = scores.strength.astype(np.float32), scores.scores.argmax(1)
    adversarial, words, block = kind == ADVERSARIAL, len(spaces.table), spaces.block
    near = _near_pairs(spaces.meanings) if adversarial and spaces.convention == "cosine" else None
    best: list[_PairColumns] = []
    total, blocks = 0, range(0, words, block)
    progress.start("comparing pairs of words", len(blocks) * (len(blocks) + 1) // 2)
    for start in blocks:
        rows = slice(start, min(start + block, words))
        left = spaces.load(rows)
        for other in range(start, words, block):
            columns = slice(other, min(other + block, words))
            d_t, d_s = spaces.between(left, left if other == start else spaces.load(columns))
            chosen = (d_t >= high) & (d_s <= low) if adversarial else (d_t <= low) & (d_s >= high)
            if near is not None:
                chosen &= near[rows, columns].toarray()
            if other == start:
                chosen &= np.triu(np.ones_like(chosen), 1)
            first, second = np.nonzero(chosen)
            total += len(first)
            weaker = np.minimum(strength[rows][first], strength[columns][second])
            rank = d_t[first, second] if adversarial else weaker
            found = _PairColumns(first + start, second + other, rank, d_t[first, second], d_s[first, second])
            best.append(found.best(classes, per_class))
            progress.advance()
    progress.finish()
    merged = _PairColumns(*(np.concatenate(column) for column in zip(*best, strict=True)))
    return merged.best(classes, per_class), total


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

    def sampled(self, rng: np.random.Generator) -> dict[str, Distances]:
        """d_T and d_S of pairs of random words; (pairs,) each"""
        chosen = np.sort(rng.permutation(len(self.table))[: min(_SAMPLE, 4 * self.block)])
        sample = self.load(chosen)
        above = np.triu_indices(len(chosen), 1)
        return {
            name: distance[above] for name, distance in zip(("d_T", "d_S"), self.between(sample, sample), strict=True)
        }


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
            "times: too few for pairs; give other vectors or lower the minimum count",
            code="few-vectors",
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
