"""A class-based bigram model of the extraction texts (Brown et al. 1992): a Markov chain over clusters of words.

`P(w_t | w_{t−1}) = P(c(w_t) | c(w_{t−1}))·P(w_t | c(w_t))`, with the edge of a text as a symbol of its own. Where a
corpus has no more words than there are clusters, every word is a cluster: then it is the plain bigram model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING, UNKNOWN

CLUSTERS = 32
_NEIGHBOURS = 100  # the most frequent words, by whose company words are clustered
_AT_ONCE = 2048  # words
_SEED, _FITTED, _ROUNDS = 0, 1000, 20  # of k-means; it is fitted to the most frequent words


@dataclass(frozen=True, eq=False)
class WordBigrams:
    """Which cluster of words follows which; K clusters, and K stands for the edge of a text."""

    cluster: NDArray[np.int32]  # c: (V,)
    counts: NDArray[np.int64]  # (K + 1, K + 1): how often the column follows the row

    def __post_init__(self) -> None:
        edge = len(self.counts) - 1
        fits = self.counts.shape == (edge + 1, edge + 1) and edge > 0 and not np.any(self.counts < 0)
        if not fits or np.any(self.cluster < 0) or np.any(self.cluster >= edge):
            raise InputError("the bigrams do not fit their clusters")

    @cached_property
    def transitions(self) -> NDArray[np.float64]:
        """`P(d | c)`, shrunk towards the frequency of d by one observation, so that nothing is impossible; rows: c"""
        followers = self.counts.sum(0) + 1
        smoothed = self.counts + followers / followers.sum()
        return np.asarray(smoothed / smoothed.sum(1, keepdims=True))

    def word_shares(self, word_counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """`P(w | c)`: the frequencies within each cluster, equal ones where none of its words was seen; -> (K, V)"""
        member = np.arange(len(self.counts) - 1)[:, None] == self.cluster
        member[:, PADDING] = False
        weights = np.where(member, word_counts, 0) + np.where((member @ word_counts == 0)[:, None], member, 0)
        return np.asarray(weights / np.maximum(weights.sum(1, keepdims=True), 1))

    @classmethod
    def of_texts(cls, ids: Ragged[np.int32], words: int, clusters: int = CLUSTERS) -> WordBigrams:
        """Clusters of words that keep the same company, and how often they follow each other."""
        edge = words
        ends = np.insert(ids.values, ids.offsets[1:], edge) if len(ids) else np.zeros(0, np.int64)
        after = np.insert(ids.values, ids.offsets[:-1], edge) if len(ids) else ends
        seen = np.bincount(ids.values, minlength=words)
        cluster = np.unique(_clustered(after, ends, seen, clusters), return_inverse=True)[1].reshape(words)
        count = int(cluster.max()) + 1
        number = np.append(cluster, count)
        pairs = np.bincount(number[after] * (count + 1) + number[ends], minlength=(count + 1) ** 2)
        return cls(cluster.astype(np.int32), pairs.reshape(count + 1, count + 1))


def _clustered(
    before: NDArray[np.integer], after: NDArray[np.integer], seen: NDArray[np.int64], clusters: int
) -> NDArray[np.integer]:
    """The cluster of every word; before, after: (pairs,) neighbours, V for the edge of a text -> (V,)

    k-means on the square roots of how often frequent words stand before and after a word.
    """
    words = len(seen)
    if np.count_nonzero(seen) <= clusters:
        return np.where(seen > 0, np.arange(words), UNKNOWN)
    from scipy.sparse import csr_array, hstack
    from sklearn.cluster import KMeans

    order = np.argsort(-seen, kind="stable")
    column = np.full(words + 1, -1)
    column[np.append(order[:_NEIGHBOURS], words)] = np.arange(min(_NEIGHBOURS, words) + 1)
    sides = []
    for own, other in ((before, after), (after, before)):
        kept = (column[other] >= 0) & (own < words)
        ones, places = np.ones(kept.sum(), np.float32), (own[kept], column[other[kept]])
        sides.append(csr_array((ones, places), (words, _NEIGHBOURS + 1)))
    table = hstack(sides).tocsr()

    def company(some: NDArray[np.integer]) -> NDArray[np.float64]:
        return np.asarray(np.sqrt(table[some].toarray() / np.maximum(seen[some], 1)[:, None]))

    fitted = company(order[:_FITTED])
    means = KMeans(min(clusters, len(np.unique(fitted, axis=0))), n_init=1, max_iter=_ROUNDS, random_state=_SEED).fit(
        fitted
    )
    parts = np.split(np.arange(words), np.arange(_AT_ONCE, words, _AT_ONCE))
    found = np.concatenate([means.predict(company(part)) for part in parts])  # all at once would fill the memory
    found[PADDING] = found[UNKNOWN]
    return found
