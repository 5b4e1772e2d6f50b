"""What is known of a word before training: the numbers from which a linear automaton generates its matrix."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wfalens.extraction.completion.probing import Representatives, affordable, probing_queries, read_words
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.query_budget import PROBING, QueryBudget
from wfalens.extraction.states import narrowed, principal_axes
from wfalens.models.contract import EmbeddingClassifier, PrefixClassifier, State, StatefulClassifier
from wfalens.models.inference import asks_every_prefix
from wfalens.text.vocabulary import UNKNOWN
from wfalens.text.word_vectors import WordVectors

_QUERY_SHARE, _CALL_SHARE = 0.5, 0.6  # of what is left; of a model that pays for every call
_TIMES_OUTPUTS = 5
_LEAST_SPREAD, _FARTHEST = 1e-3, 10.0
_ROUNDING = 1e-5  # variances below this share of the largest are rounding errors: brought to variance 1, they are noise
_AT_ONCE = 512  # columns, or words
_FLOOR = 1e-4  # below it, probabilities are told apart no further
_MOST_COLUMNS = 256  # for the outputs after a prefix: those of many classes would fill the memory


def prefixes_read(model: PrefixClassifier, prefixes: int) -> int:
    """After how many prefixes every word is read beside the empty one, as far as the queries pay for them."""
    return prefixes if isinstance(model, StatefulClassifier) else _TIMES_OUTPUTS * prefixes


def word_inputs(
    model: PrefixClassifier,
    representatives: Representatives,
    vectors: WordVectors | None,
    counts: NDArray[np.int64],
    components: int,
    budget: QueryBudget,
    deadline: Deadline = NEVER,
) -> NDArray[np.float32]:
    """What the model, or vectors given for it, tell of each word: principal components over the words seen.

    A steppable model tells where the word leads from the empty text and from a few other prefixes: its internal state
    and output there. A black box tells its outputs only. Beside these stand the model's own embedding and the given
    vectors. Words that the queries do not pay for, the rarest, begin as `<unk>` does, in a closed alphabet as the mean
    of the others. counts: (V,) -> (V, inputs)
    """
    alphabet = len(model.encoder.vocabulary)
    everything = np.arange(model.encoder.lowest_id, alphabet, dtype=np.int32)
    share, deadline = (_CALL_SHARE, deadline) if asks_every_prefix(model) else (_QUERY_SHARE, NEVER)
    words, chosen = affordable(model, everything, counts, representatives, budget.left(share))
    budget.enter(PROBING, probing_queries(model, chosen, len(words)))
    columns = [np.empty((alphabet, 0), np.float32)]
    if isinstance(model, EmbeddingClassifier):
        columns.append(np.asarray(model.embedding, np.float32))
    if vectors is not None:
        known = vectors.restricted(model.encoder.vocabulary.words[2:])
        table = np.zeros((alphabet, known.width + 1), np.float32)  # the last column tells whether there is a vector
        rows = [model.encoder.vocabulary.id_of(word) for word in known.words]
        table[rows] = np.hstack([known.matrix, np.ones((len(known), 1), np.float32)])
        columns.append(table)
    further, seen = np.hstack(columns), counts > 0
    inputs = _reactions(model, chosen, words, further.shape[1], deadline)  # what takes the memory of an extraction
    inputs[:, inputs.shape[1] - further.shape[1] :] = further
    for first in range(0, inputs.shape[1], _AT_ONCE):  # copies of the whole table would double the memory
        some = inputs[:, first : first + _AT_ONCE]
        mean, spread = some[seen].mean(0), some[seen].std(0)
        # a column that is the same for all words seen tells nothing, and a word far off them no more than "far off"
        some -= mean
        some /= np.where(spread > _LEAST_SPREAD, spread, 1)
        np.clip(some, -_FARTHEST, _FARTHEST, out=some)
        some -= some[seen].mean(0)
    return _components(inputs, seen, components)


def _components(table: NDArray[np.float32], seen: NDArray[np.bool_], most: int) -> NDArray[np.float32]:
    """The principal components of the words seen, each of variance 1; (V, ·), which is centred -> (V, most at most)"""
    products = np.zeros((table.shape[1], table.shape[1]), np.float32)
    for words in np.array_split(np.flatnonzero(seen), max(1, len(seen) // _AT_ONCE)):
        products += table[words].T @ table[words]
    products /= seen.sum()
    variances, directions = principal_axes(products, min(most, max(1, int(seen.sum()) - 1)))
    kept = variances > max(_LEAST_SPREAD**2, _ROUNDING * variances[0])
    if not kept.any():  # all words are alike
        return np.zeros((len(table), 1), np.float32)
    found = table @ (directions[:, kept] / np.sqrt(variances[kept]))
    return np.asarray(found.clip(-_FARTHEST, _FARTHEST), np.float32)


def _reactions(
    model: PrefixClassifier,
    representatives: Representatives,
    words: NDArray[np.int32],
    further: int,
    deadline: Deadline,
) -> NDArray[np.float32]:
    """What each word does to the model after the given prefixes, as far as there is time; -> (V, ·)

    The table has so many `further` columns, which are not filled yet.

    A word that was not asked does what `<unk>` does, the first of the words where there is one, else a usual one.
    """
    table, done = np.empty((0, 0), np.float32), 0
    for answers in read_words(model, representatives, _Reactions(), words, deadline):
        part = answers.reshape(len(answers), -1)
        if not done:
            table = np.zeros((len(model.encoder.vocabulary), part.shape[1] + further), np.float32)
        table[words[done : done + len(part)], : part.shape[1]] = part
        done += len(part)
    words = words[:done]
    others = np.setdiff1d(np.arange(len(table)), words)
    table[others] = table[UNKNOWN] if words[0] == UNKNOWN else table[words].mean(0)
    return table


class _Reactions:
    """What a model shows of a prefix: its internal state, where it has one, and the logarithms of its output."""

    needs_states: ClassVar[bool] = True

    def points(self, outputs: NDArray[np.float32], states: State | None) -> NDArray[np.float32]:
        logarithms = narrowed(np.log(np.maximum(outputs, _FLOOR)), _MOST_COLUMNS)
        return logarithms if states is None else np.hstack([states, logarithms])
