"""Data augmentation for extraction: synonym replacement and dropout (paper §3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN, Vocabulary
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, check_numbers, real, whole

_BOUNDS = {
    **dict.fromkeys(("replace", "drop"), Bounds(real, 0, 1)),
    **dict.fromkeys(("epochs", "neighbours"), Bounds(whole, 1, 1 << 20)),
    "weight": Bounds(real, 0, 1e6, excluded=(0,)),
}


class Chances(NamedTuple):
    """Of a word to be replaced, and of one that was not to be dropped."""

    replace: float
    drop: float


@dataclass(frozen=True, kw_only=True)
class Augmentation:
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
    epochs: int = 5
    replace: float = 0.4
    drop: float = 0.2
    neighbours: int = 5
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_numbers(self, _BOUNDS)

    @property
    def chances(self) -> Chances:
        return Chances(self.replace, self.drop)

    @property
    def parameters(self) -> dict[str, object]:
        names = ("epochs", "replace", "drop", "neighbours", "weight")
        return {"vectors": self.vectors.source, **{name: getattr(self, name) for name in names}}

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


def augmented(
    ids: Ragged[np.int32], synonyms: NDArray[np.int32], chances: Chances, rng: np.random.Generator
) -> Ragged[np.int32]:
    """One epoch of new sentences."""
    words = ids.values
    has_synonym = synonyms[words, 0] != words
    choice = synonyms[words, rng.integers(synonyms.shape[1], size=len(words))]
    replaced = (rng.random(len(words)) < chances.replace) & has_synonym
    dropped = (rng.random(len(words)) < chances.drop) & ~replaced
    fresh = np.where(replaced, choice, np.where(dropped, np.int32(UNKNOWN), words))
    return Ragged(fresh.astype(np.int32, copy=False), ids.offsets)
