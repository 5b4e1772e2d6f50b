"""A class-based bigram model of the extraction texts (Brown et al. 1992): a Markov chain over clusters of words.

`P(w_t | w_{t−1}) = P(c(w_t) | c(w_{t−1}))·P(w_t | c(w_t))`, with the edge of a text as a symbol of its own. Where a
corpus has no more words than there are clusters, every word is a cluster: then it is the plain bigram model.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import PADDING, UNKNOWN

CLUSTERS = 32
_NEIGHBOURS = 30  # the most frequent words, by whose company words are clustered
_AT_ONCE = 65_536  # words
_SEED, _FITTED, _ROUNDS = 0, 1000, 10  # of k-means; it is fitted to the most frequent words


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
    from scipy.sparse import csr_array
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    order = np.argsort(-seen, kind="stable")
    column = np.full(words + 1, -1)
    column[np.append(order[:_NEIGHBOURS], words)] = np.arange(min(_NEIGHBOURS, words) + 1)
    own, side = np.concatenate([before, after]), np.repeat([0, _NEIGHBOURS + 1], len(before))
    neighbour = column[np.concatenate([after, before])]
    kept = (neighbour >= 0) & (own < words)
    places = own[kept], (neighbour + side)[kept]
    company = csr_array((np.ones(kept.sum(), np.float32), places), (words, 2 * _NEIGHBOURS + 2))
    company.data = np.sqrt(company.data / np.repeat(np.maximum(seen, 1), np.diff(company.indptr)), dtype=np.float32)
    fitted = company[order[:_FITTED]].toarray()
    k_means = KMeans(clusters, n_init=1, init="random", max_iter=_ROUNDS, random_state=_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different words than clusters are no harm
        means = k_means.fit(fitted).cluster_centers_
    halves, columns = (means**2).sum(1) / 2, np.ascontiguousarray(means.T)
    parts = (company[at : at + _AT_ONCE] for at in range(0, words, _AT_ONCE))  # all at once would fill the memory
    nearest = np.concatenate([(halves - part @ columns).argmin(1) for part in parts])
    nearest[PADDING] = nearest[UNKNOWN]
    return nearest
