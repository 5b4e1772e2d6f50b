"""Static word vectors from the WordLlama wheel. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.text.similar_words import ENDINGS
from wfalens.text.word_vectors import WordVectors

NAME = "wordllama"
_WORD_START = "▁"
_SPELLINGS = (str, str.capitalize, str.upper)  # "peru" is two pieces, "Peru" is one
_SHORTEST_STEM = 4  # letters; what shorter pieces mean depends on what follows


def wordllama_vectors(words: Sequence[str]) -> WordVectors:
    """Vectors of the words that WordLlama knows: as one piece, or as a stem with an English ending.

    Other words have no vector. The mean of arbitrary pieces says how a word is spelt, not what it means: it would place
    "so" and "x" near "sox".
    """
    from wordllama import WordLlama

    words = [word for word in words if word.strip()]
    if not words:
        raise InputError("there is no word to look up vectors for")
    with as_file(files("wordllama")) as folder:
        model = WordLlama.load(cache_dir=folder, disable_download=True)
    model.tokenizer.no_padding()
    spelt = [
        model.tokenizer.encode_batch([spelling(word) for word in words], add_special_tokens=False)
        for spelling in _SPELLINGS
    ]
    split = [min((_Pieces(each.tokens, each.ids) for each in same), key=len) for same in zip(*spelt, strict=True)]
    asked = frozenset(words)
    known = [at for at, pieces in enumerate(split) if pieces.tell_the_meaning(asked)]
    vectors = np.zeros((len(known), model.embedding.shape[1]), np.float32)
    for row, at in enumerate(known):
        vectors[row] = split[at].vector(model.embedding)
    return WordVectors([words[at] for at in known], vectors, NAME)


@dataclass(frozen=True)
class _Pieces:
    """A word as WordLlama reads it."""

    tokens: list[str]
    ids: list[int]

    def __len__(self) -> int:
        return len(self.ids)

    def tell_the_meaning(self, words: Collection[str]) -> bool:
        """Whether it is one piece, or a stem that is itself one of the words, with an ending: not "feder" and "er"."""
        stem = self.tokens[0].removeprefix(_WORD_START) if self.tokens else ""
        if len(self) == 1:
            return bool(stem)
        known = len(stem) >= _SHORTEST_STEM and stem.lower() in words
        return known and "".join(self.tokens[1:]).lower() in ENDINGS

    def vector(self, embedding: NDArray[np.float32]) -> NDArray[np.float32]:
        """The mean of the pieces, each by its letters; embedding: (pieces, width) -> (width,)"""
        letters = np.array([len(token.removeprefix(_WORD_START)) for token in self.tokens], np.float32)
        mean: NDArray[np.float32] = letters @ embedding[self.ids] / letters.sum()
        return mean
