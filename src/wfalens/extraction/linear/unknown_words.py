"""What a linear automaton does with words that it never saw, where its model reads words of any spelling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.extraction.held_out import rates
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN
from wfalens.text.word_forms import BUCKETS, WordForms, grams

_RIDGE = 0.3
_STANDING = 512  # known words at most that may stand for an unknown one


def read_unknown_words(
    wfa: LinearWFA, counts: NDArray[np.int64], held: Ragged[np.int32], targets: NDArray[np.float32]
) -> None:
    """Let the automaton read unknown words by their form if that makes it more faithful on held-out texts.

    Words of the held-out texts that the others do not have were never seen in training: they are what unknown words
    will be. counts: (V,) of the other texts; targets: (held, C)
    """
    new = counts[held.values] == 0
    if not new.any():
        return
    forms, words = learn_forms(wfa, counts), wfa.encoder.vocabulary.words
    by_form = held.values.copy()
    by_form[new] = [forms.nearest(words[number]) for number in held.values[new]]
    unknown = np.where(new, UNKNOWN, held.values).astype(np.int32)
    jsd = [rates(wfa, Ragged(values, held.offsets), targets).jsd for values in (by_form, unknown)]
    if jsd[0] < jsd[1]:
        wfa.encoder = replace(wfa.encoder, forms=forms)


def learn_forms(wfa: LinearWFA, counts: NDArray[np.int64]) -> WordForms:
    """Ridge regression of what each word does alone on its character n-grams. counts: (V,)"""
    from scipy.sparse import csr_array
    from sklearn.cluster import KMeans
    from sklearn.linear_model import Ridge
    from threadpoolctl import threadpool_limits

    seen = np.flatnonzero(counts[UNKNOWN + 1 :]) + UNKNOWN + 1
    weights = wfa.weights(Ragged(seen.astype(np.int32), np.arange(len(seen) + 1)))
    effects = weights - weights.mean(1, keepdims=True)
    spelled = [grams(wfa.encoder.vocabulary.words[number]) for number in seen]
    sizes = np.array([len(each) for each in spelled])
    entries = np.repeat(1 / np.sqrt(sizes), sizes)
    table = csr_array((entries, np.concatenate(spelled), np.append(0, np.cumsum(sizes))), (len(seen), BUCKETS))
    fitted = Ridge(_RIDGE, solver="sparse_cg").fit(table, effects)
    with threadpool_limits(1):  # sums over threads come in any order
        groups = KMeans(min(_STANDING, len(np.unique(effects, axis=0))), n_init=1, random_state=0).fit(effects)
    nearest = np.square(effects - groups.cluster_centers_[groups.labels_]).sum(1)
    order = np.lexsort((nearest, groups.labels_))
    first = order[np.unique(groups.labels_[order], return_index=True)[1]]  # the word in the middle of each group
    return WordForms(fitted.coef_.T.reshape(BUCKETS, -1), fitted.intercept_, seen[first], effects[first])
