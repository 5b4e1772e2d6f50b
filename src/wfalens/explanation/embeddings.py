"""Transition matrix embeddings (paper §5.1): a word is what it does to the states. Neighbours and maps of words.

The semantic side, what words mean, comes from word vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.influence import influence, words_seen
from wfalens.results import Result
from wfalens.storage import write_atomically
from wfalens.text.similar_words import Nearness
from wfalens.text.word_vectors import WordVectors, wordllama_vectors
from wfalens.validation import Bounds, whole

_BLOCK_FLOATS = 1 << 22  # of the table held at a time
_OVERSAMPLING, _POWER_STEPS = 10, 3
TRANSITION_SPACE = "transition matrix embeddings"
_MAP_DIMENSIONS = 50  # that t-SNE sees of the n²
_MAP_NEIGHBOURS, _LEAST_WORDS = 10, 5


@dataclass(frozen=True, eq=False)
class TransitionEmbeddings:
    """The table of Êσ flattened, one row of n² numbers per word, computed block by block when it is needed."""

    wfa: WFA
    ids: NDArray[np.int32]  # (words,)

    @classmethod
    def of(cls, wfa: WFA, min_count: int = 1) -> TransitionEmbeddings:
        """All words seen at least `min_count` times in extraction."""
        return cls(wfa, words_seen(wfa, min_count))

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.wfa.encoder.vocabulary.decode(self.ids))

    @property
    def width(self) -> int:
        return self.wfa.states**2

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, index: NDArray[np.int64]) -> NDArray[np.float32]:
        # (words,) -> (words, n²)
        return self.wfa.matrices(self.ids[index]).reshape(len(index), -1).astype(np.float32)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """The whole table, a bounded number of rows at a time."""
        step = max(1, _BLOCK_FLOATS // self.width)
        for start in range(0, len(self), step):
            chunk = slice(start, min(start + step, len(self)))
            yield chunk, self.rows(np.arange(chunk.start, chunk.stop))

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """The `k` words that act most like `word`, with d_T: the mean squared difference per element."""
        return self.nearest_each([word], k)[0]

    def nearest_each(self, words: Sequence[str], k: int = 10) -> list[list[tuple[str, float]]]:
        """The same for several words in one pass over the table."""
        vocabulary = self.wfa.encoder.vocabulary
        for word in words:
            if word not in vocabulary:
                raise InputError(f"the automaton does not know the word {word!r}", code="unknown-word")
        ids = np.array([vocabulary.id_of(word) for word in words], np.int32)
        own = self.wfa.matrices(ids).reshape(len(ids), -1).astype(np.float32)
        gap = np.empty((len(ids), len(self)), np.float32)  # squared distance up to a constant per row
        for chunk, block in self.blocks():
            gap[:, chunk] = np.einsum("ij,ij->i", block, block) - 2 * (own @ block.T)
        gap[ids[:, None] == self.ids] = np.inf
        found = []
        for row, matrix in zip(gap, own, strict=True):
            best = np.argsort(row, kind="stable")[: min(k, int(np.isfinite(row).sum()))]
            distance = np.square(self.rows(best) - matrix).mean(1)
            order = np.argsort(distance, kind="stable")
            found.append([(vocabulary.words[self.ids[best[at]]], float(distance[at])) for at in order])
        return found

    def reduced(self, size: int, seed: int = 0) -> ReducedEmbeddings:
        """PCA to `size` dimensions by randomised subspace iteration over the blocks.

        Each pass recomputes the table and never holds it; a few passes give the leading directions.
        """
        size = Bounds(whole, 1, min(self.width, len(self))).checked("size", size)
        probes = min(size + _OVERSAMPLING, self.width, len(self))
        mean, total = np.zeros(self.width), 0.0
        for _, block in self.blocks():
            mean += block.sum(0, dtype=np.float64) / len(self)
            total += float(np.square(block, dtype=np.float64).sum()) / len(self)
        centre, variance = mean.astype(np.float32), total - float(mean @ mean)
        directions = np.random.default_rng(seed).normal(size=(self.width, probes)).astype(np.float32)
        for _ in range(_POWER_STEPS):
            directions, _ = np.linalg.qr(self._gram(directions, centre))
        small = directions.T @ self._gram(directions, centre)
        strengths, rotation = np.linalg.eigh((small + small.T) / 2)
        order = np.argsort(strengths)[::-1][:size]
        basis = (directions @ rotation[:, order]).astype(np.float32)
        basis *= np.where(basis[np.abs(basis).argmax(0), np.arange(size)] < 0, -1, 1).astype(np.float32)
        coordinates = np.empty((len(self), size), np.float32)
        for chunk, block in self.blocks():
            coordinates[chunk] = (block - centre) @ basis
        explained = np.maximum(strengths[order], 0) / len(self) / max(variance, np.finfo(float).tiny)
        return ReducedEmbeddings(WordVectors(self.words, coordinates, "transition embeddings"), explained)

    def _gram(self, directions: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.float32]:
        """XᵀX·directions of the centred table X; (n², k) -> (n², k)"""
        result = np.zeros_like(directions)
        for _, block in self.blocks():
            centred = block - centre
            result += centred.T @ (centred @ directions)
        return result


@dataclass(frozen=True, eq=False)
class ReducedEmbeddings:
    """Embeddings of ordinary width, and the share of the variance that each dimension explains."""

    vectors: WordVectors
    explained: NDArray[np.float64]  # (size,)

    def save_word2vec(self, path: str | Path) -> None:
        """word2vec text: a header, then one line per word; words with white space are left out."""
        pairs = zip(self.vectors.words, self.vectors.matrix, strict=True)
        lines = [
            f"{word} {' '.join(f'{value:.6g}' for value in row)}"
            for word, row in pairs
            if word and not any(char.isspace() for char in word)
        ]
        text = f"{len(lines)} {self.vectors.width}\n" + "\n".join(lines) + "\n"
        write_atomically(Path(path), text.encode("utf-8", "surrogatepass"))


def nearness_of(
    wfa: WFA, vectors: WordVectors | None, *, min_count: int = 1, spare_stop_words: bool = False
) -> Nearness:
    """Semantic nearness among the words that were seen at least `min_count` times in extraction; None: by WordLlama."""
    vectors = wordllama_vectors(wfa.encoder.vocabulary.words[2:]) if vectors is None else vectors
    found = Nearness.among(vectors, wfa.encoder.vocabulary.decode(words_seen(wfa, min_count)))
    return found.without_stop_words if spare_stop_words else found


@dataclass(frozen=True, repr=False)
class Neighbours(Result):
    """The words that act most like a word, and the words nearest in meaning, each with its distance."""

    word: str
    acting: tuple[tuple[str, float], ...]  # by d_T
    meaning: tuple[tuple[str, float], ...]  # by 1 − cosine
    vectors: str  # the source of the word vectors

    @property
    def title(self) -> str:
        return f"Neighbours of {self.word} (word vectors: {self.vectors})"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"acts alike": acting[0], "d_T": acting[1], "means alike": meaning[0], "1 − cosine": meaning[1]}
            for acting, meaning in zip_longest(self.acting, self.meaning, fillvalue=("", None))
        ]


def neighbours(wfa: WFA, word: str, vectors: WordVectors, *, k: int = 10, min_count: int = 5) -> Neighbours:
    """The `k` nearest words of a word, by transition matrices and by word vectors."""
    acting = TransitionEmbeddings.of(wfa, min_count).nearest(word, k)
    return Neighbours(word, tuple(acting), tuple(nearness_of(wfa, vectors).nearest(word, k)), vectors.source)


@dataclass(frozen=True, eq=False, repr=False)
class WordMaps(Result):
    """The same words in several spaces (paper §5.3)."""

    words: tuple[str, ...]
    classes: NDArray[np.int64]  # (words,): the class on which each word has its largest influence
    class_names: tuple[str, ...]
    points: Mapping[str, NDArray[np.float32]]  # by space, (words, 2)
    purity: Mapping[str, float]  # by space: share of a word's nearest neighbours that have its class

    @property
    def title(self) -> str:
        return f"Maps of {len(self.words)} words in {len(self.points)} spaces"

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"space": space, "word": word, "class": self.class_names[label], "x": float(x), "y": float(y)}
            for space, points in self.points.items()
            for word, label, (x, y) in zip(self.words, self.classes, points, strict=True)
        ]


def word_maps(wfa: WFA, vectors: WordVectors, *, per_class: int = 50, min_count: int = 5, seed: int = 0) -> WordMaps:
    """t-SNE of the `per_class` strongest words of each class, by transition matrices and by word vectors."""
    from sklearn.manifold import TSNE

    scores = influence(wfa, min_count)
    strongest = dict(zip(scores.words, scores.scores.argmax(1).tolist(), strict=True))
    top = [word for name in wfa.class_names for word in scores.top(name, per_class).words]
    chosen = {word: strongest[word] for word in top if word in vectors}
    if len(chosen) < _LEAST_WORDS:
        raise InputError("too few words have a vector to draw a map", code="few-vectors")
    table = TransitionEmbeddings.of(wfa, min_count)
    acting = table.reduced(min(_MAP_DIMENSIONS, len(table), table.width)).vectors
    classes, points, purity = np.array(list(chosen.values())), {}, {}
    for space, known in ((TRANSITION_SPACE, acting), (vectors.source, vectors)):
        matrix = np.array([known[word] for word in chosen])
        perplexity = min(30.0, (len(chosen) - 1) / 3)
        points[space] = TSNE(perplexity=perplexity, random_state=seed, init="pca").fit_transform(matrix)
        purity[space] = _purity(matrix, classes)
    return WordMaps(tuple(chosen), classes, wfa.class_names, points, purity)


def _purity(matrix: NDArray[np.float32], classes: NDArray[np.int64]) -> float:
    """How often the nearest neighbours of a word are of its class. (words, width), (words,)"""
    from sklearn.neighbors import NearestNeighbors

    k = min(_MAP_NEIGHBOURS, len(matrix) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(matrix).kneighbors(return_distance=False)  # without the word itself
    return float(np.mean(classes[near] == classes[:, None]))
