"""Data augmentation for extraction: synonym replacement and dropout (paper §3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.vocabulary import UNKNOWN, Vocabulary
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, Options, option, real, whole

_COUNT, _CHANCE = Bounds(whole, 1, 1 << 20), Bounds(real, 0, 1)


@dataclass(frozen=True, kw_only=True)
class Augmentation(Options):
    """Per epoch one new sentence for each sentence; the originals are never touched.

    A word with a vector is replaced at random by one of its nearest words of the vocabulary; a word that was not
    replaced may become `<unk>`.

    Args:
        vectors: word vectors in which neighbours are looked up, by Euclidean distance.
        epochs: new sentences for each sentence (t).
        replace: probability p_r of a replacement, 0 to 1.
        drop: probability p_d of `<unk>`, 0 to 1.
        neighbours: k, among which a replacement is drawn.
        weight: what a new transition counts beside an observed one (the authors' code: 0.5).

    Examples:
        >>> from wfalens import Augmentation, WordVectors
        >>> vectors = WordVectors(["good", "bad"], np.eye(2, dtype=np.float32))
        >>> Augmentation(vectors=vectors, epochs=2, neighbours=1).replace
        0.4
    """

    vectors: WordVectors
    epochs: int = option(5, allowed=_COUNT)
    replace: float = option(0.4, allowed=_CHANCE)
    drop: float = option(0.2, allowed=_CHANCE)
    neighbours: int = option(5, allowed=_COUNT)
    weight: float = option(1.0, allowed=Bounds(real, 0, 1e6, excluded=(0,)))

    @property
    def parameters(self) -> dict[str, object]:
        return self.to_dict() | {"vectors": self.vectors.source}

    def synonyms(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The k nearest words of every word, by id; a word without a vector has itself. -> (V, k)"""
        known = self.vectors.restricted(vocabulary.words[2:])
        if len(known) < 2:
            raise InputError(
                f"{self.vectors.source} has vectors for {len(known)} of the {len(vocabulary) - 2} words of the "
                "vocabulary: too few for synonyms"
            )
        nearest, _ = known.neighbours(k=self.neighbours)
        ids = np.array([vocabulary.id_of(word) for word in known.words], np.int32)
        table = np.tile(np.arange(len(vocabulary), dtype=np.int32)[:, None], (1, nearest.shape[1]))
        table[ids] = ids[nearest]
        return table


@dataclass(frozen=True, eq=False)
class Resampling:
    """Augmentation of blocks: each draws by its own number, so that it does not matter who reads it."""

    synonyms: NDArray[np.int32]  # (V, k)
    replace: float
    drop: float
    epochs: int
    seed: int

    @classmethod
    def of(cls, augmentation: Augmentation | None, encoder: TextEncoder, seed: int) -> Resampling | None:
        """For texts of an encoder; a closed alphabet has no `<unk>` to drop words to."""
        if augmentation is None:
            return None
        drop = 0.0 if encoder.closed else augmentation.drop
        return cls(augmentation.synonyms(encoder.vocabulary), augmentation.replace, drop, augmentation.epochs, seed)

    def texts(self, ids: Ragged[np.int32], file: int = 0, block: int = 0) -> Iterator[Ragged[np.int32]]:
        """One set of new texts for each epoch."""
        for epoch in range(self.epochs):
            yield self.augmented(ids, np.random.default_rng([self.seed, file, block, epoch]))

    def augmented(self, ids: Ragged[np.int32], rng: np.random.Generator) -> Ragged[np.int32]:
        """One epoch of new texts."""
        words = ids.values
        has_synonym = self.synonyms[words, 0] != words
        choice = self.synonyms[words, rng.integers(self.synonyms.shape[1], size=len(words))]
        replaced = (rng.random(len(words)) < self.replace) & has_synonym
        dropped = (rng.random(len(words)) < self.drop) & ~replaced
        fresh = np.where(replaced, choice, np.where(dropped, np.int32(UNKNOWN), words))
        return Ragged(fresh.astype(np.int32, copy=False), ids.offsets)
