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

_RIDGE, _FACTOR_RIDGE, _TOLERANCE = 0.1, 1.0, 1e-2
_STANDING = 20_000  # known words at most that may stand for an unknown one
_DIRECTIONS, _LEAST = 16, 1e-6  # of effects at most, and the least size of one beside the largest


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
    """What each known word does alone, foretold from its character n-grams by ridge regression. counts: (V,)

    An effect lies where the factors of words with this effect lie in the mean. The word that stands for an unknown one
    has the nearest factors: its effect is like the foretold one, and it does nothing unusual beside, which counts as
    one direction more.
    """
    from scipy.sparse import csr_array
    from sklearn.linear_model import Ridge

    seen = np.flatnonzero(counts[UNKNOWN + 1 :]) + UNKNOWN + 1
    weights = wfa.weights(Ragged(seen.astype(np.int32), np.arange(len(seen) + 1)))
    effects, factors = weights - weights.mean(1, keepdims=True), wfa.factors.words[seen].astype(np.float64)
    usual = Ridge(_FACTOR_RIDGE).fit(effects, factors)
    _, sizes, directions = np.linalg.svd(usual.coef_.T, full_matrices=False)
    directions = directions[: max(1, min(_DIRECTIONS, int(np.sum(sizes > _LEAST * sizes[0]))))]  # (k, R)
    apart = factors - usual.intercept_
    places = apart @ directions.T
    unusual = np.sqrt(np.square(apart - places @ directions).sum(1, keepdims=True))

    spelled = [grams(wfa.encoder.vocabulary.words[number]) for number in seen]
    lengths = np.array([len(each) for each in spelled])
    entries = np.repeat(1 / np.sqrt(lengths), lengths)
    table = csr_array((entries, np.concatenate(spelled), np.append(0, np.cumsum(lengths))), (len(seen), BUCKETS))
    foretold = Ridge(_RIDGE, solver="sparse_cg", tol=_TOLERANCE).fit(table, effects @ usual.coef_.T @ directions.T)
    nothing = np.zeros((BUCKETS, 1))
    standing = np.argsort(-counts[seen], kind="stable")[:_STANDING]
    return WordForms(
        np.hstack([foretold.coef_.reshape(-1, BUCKETS).T, nothing]),
        np.append(foretold.intercept_, 0),
        seen[standing],
        np.hstack([places, unusual])[standing],
    )
