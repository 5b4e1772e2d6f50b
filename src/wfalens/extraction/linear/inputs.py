"""What is known of a word before training: the numbers from which a linear automaton generates its matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wfalens.corpus.vectors import WordVectors
from wfalens.extraction.completion.probing import Representatives, ask
from wfalens.models.contract import EmbeddingClassifier, SteppableClassifier, StepwiseClassifier
from wfalens.models.stepping import states_after
from wfalens.progress import Progress

_WORDS_PER_BATCH = 1024
_LEAST_SPREAD, _FARTHEST = 1e-3, 10.0
_FLOOR = 1e-4  # below it, probabilities are told apart no further


def word_inputs(
    model: StepwiseClassifier,
    representatives: Representatives,
    vectors: WordVectors | None,
    seen: NDArray[np.bool_],
    progress: Progress,
) -> NDArray[np.float32]:
    """Everything that the model, or vectors given for it, tell of each word, standardised over the words seen.

    A steppable model tells where the word leads from the empty text and from a few other prefixes: its internal state
    and output there. A black box tells its outputs only. Beside these stand the model's own embedding and the given
    vectors. -> (V, inputs)
    """
    alphabet = len(model.encoder.vocabulary)
    columns = [_reactions(model, representatives, progress)]
    if isinstance(model, EmbeddingClassifier):
        columns.append(np.asarray(model.embedding, np.float32))
    if vectors is not None:
        known = vectors.restricted(model.encoder.vocabulary.words[2:])
        table = np.zeros((alphabet, known.width + 1), np.float32)  # the last column tells whether there is a vector
        rows = [model.encoder.vocabulary.id_of(word) for word in known.words]
        table[rows] = np.hstack([known.matrix, np.ones((len(known), 1), np.float32)])
        columns.append(table)
    inputs = np.hstack(columns)
    mean, spread = inputs[seen].mean(0), inputs[seen].std(0)
    # a column that is the same for all words seen tells nothing, and a word far off them no more than "far off"
    scaled = (inputs - mean) / np.where(spread > _LEAST_SPREAD, spread, 1)
    return np.asarray(scaled.clip(-_FARTHEST, _FARTHEST), np.float32)


def _reactions(model: StepwiseClassifier, representatives: Representatives, progress: Progress) -> NDArray[np.float32]:
    """What each word does to the model after the given prefixes; -> (V, ·)"""
    alphabet, prefixes = len(model.encoder.vocabulary), len(representatives.state)
    saved = states_after(model, representatives.prefixes) if isinstance(model, SteppableClassifier) else None
    parts = []
    progress.start("reading every word", alphabet)
    for start in range(0, alphabet, _WORDS_PER_BATCH):
        words = np.arange(start, min(start + _WORDS_PER_BATCH, alphabet), dtype=np.int32)
        if saved is not None and isinstance(model, SteppableClassifier):
            states, outputs = model.step(np.repeat(saved, len(words), axis=0), np.tile(words, prefixes))
            reaction = np.hstack([states, np.log(np.maximum(outputs, _FLOOR))])
        else:
            reaction = np.log(np.maximum(ask(model, representatives, None, words), _FLOOR))
        parts.append(reaction.reshape(prefixes, len(words), -1).swapaxes(0, 1).reshape(len(words), -1))
        progress.advance(len(words))
    progress.finish()
    return np.concatenate(parts).astype(np.float32)
