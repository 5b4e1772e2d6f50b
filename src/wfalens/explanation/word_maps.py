"""Word maps (paper §5.3): the strongest words of each class, placed by what they do and by what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import TransitionEmbeddings
from wfalens.explanation.influence import influence
from wfalens.text.word_vectors import WordVectors

ACTING = "transition matrix embeddings"
_REDUCED = 50  # dimensions that t-SNE sees of the n²
_NEIGHBOURS = 10
_LEAST_WORDS = 5


@dataclass(frozen=True, eq=False)
class WordMaps:
    """The same words in several spaces."""

    words: tuple[str, ...]
    classes: NDArray[np.int64]  # (words,): the class that each word speaks for most
    class_names: tuple[str, ...]
    points: Mapping[str, NDArray[np.float32]]  # by space, (words, 2)
    purity: Mapping[str, float]  # by space: share of a word's nearest neighbours that speak for its class


def word_maps(wfa: WFA, vectors: WordVectors, *, per_class: int = 50, min_count: int = 5, seed: int = 0) -> WordMaps:
    """t-SNE of the `per_class` strongest words of each class, by transition matrices and by word vectors."""
    from sklearn.manifold import TSNE

    scores = influence(wfa, min_count)
    strongest = dict(zip(scores.words, scores.scores.argmax(1).tolist(), strict=True))
    chosen = {
        word: strongest[word]
        for name in wfa.class_names
        for word in scores.top(name, per_class).words
        if word in vectors
    }
    if len(chosen) < _LEAST_WORDS:
        raise InputError("too few words have a vector to draw a map")
    table = TransitionEmbeddings.of(wfa, min_count)
    acting = table.reduced(min(_REDUCED, len(table), table.width)).vectors
    classes, points, purity = np.array(list(chosen.values())), {}, {}
    for space, known in ((ACTING, acting), (vectors.source, vectors)):
        matrix = np.array([known[word] for word in chosen])
        perplexity = min(30.0, (len(chosen) - 1) / 3)
        points[space] = TSNE(perplexity=perplexity, random_state=seed, init="pca").fit_transform(matrix)
        purity[space] = _purity(matrix, classes)
    return WordMaps(tuple(chosen), classes, wfa.class_names, points, purity)


def _purity(matrix: NDArray[np.float32], classes: NDArray[np.int64]) -> float:
    """How often the nearest neighbours of a word are of its class. (words, width), (words,)"""
    from sklearn.neighbors import NearestNeighbors

    k = min(_NEIGHBOURS, len(matrix) - 1)
    near = NearestNeighbors(n_neighbors=k).fit(matrix).kneighbors(return_distance=False)  # without the word itself
    return float(np.mean(classes[near] == classes[:, None]))
