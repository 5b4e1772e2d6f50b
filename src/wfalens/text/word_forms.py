"""Unknown words by their form: what a word does is foretold from its character n-grams."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from wfalens.storage import StoredFile, Tensors
from wfalens.text.vocabulary import UNKNOWN

_SIZES = (2, 3, 4)  # characters of an n-gram
_STEM = 7  # characters of a word's beginning that count once more: endings are inflected
BUCKETS = 1 << 16
_NAMES = ("form_weights", "form_bias", "form_words", "form_effects")
_GRAMS = "form_grams"  # whose weights a file has: the others are zero


class WordForms:
    """Reads an unknown word as the known word that does what its n-grams foretell.

    Args:
        weights: (buckets, k) what an n-gram adds to the effect of a word.
        bias: (k,) the effect of a word without n-grams.
        words: (m,) ids of known words.
        effects: (m, k) what these do.

    Examples:
        >>> import numpy as np
        >>> weights = np.zeros((BUCKETS, 1))
        >>> weights[grams("boringly")] = -1.0
        >>> forms = WordForms(weights, np.zeros(1), np.array([2, 3]), np.array([[-4.0], [4.0]]))
        >>> forms.nearest("boringly")
        2
    """

    def __init__(
        self,
        weights: NDArray[np.floating],
        bias: NDArray[np.floating],
        words: NDArray[np.integer],
        effects: NDArray[np.floating],
    ) -> None:
        self.weights, self.bias = np.asarray(weights, np.float32), np.asarray(bias, np.float32)
        self.words, self.effects = np.asarray(words, np.int32), np.asarray(effects, np.float32)
        self._found: dict[str, int] = {}

    def nearest(self, word: str) -> int:
        """The id of the word that stands for an unknown one; that of `<unk>` if its characters were never seen."""
        if word not in self._found:
            places = grams(word)
            if self.weights[places].any():
                effect = self.bias + self.weights[places].sum(0) / np.sqrt(len(places))
                self._found[word] = int(self.words[np.square(self.effects - effect).sum(1).argmin()])
            else:
                self._found[word] = UNKNOWN
        return self._found[word]

    def tensors(self) -> Tensors:
        """As a file has it."""
        used = np.flatnonzero(self.weights.any(1)).astype(np.int32)
        parts = self.weights[used], self.bias, self.words, self.effects
        return {_GRAMS: used, **dict(zip(_NAMES, parts, strict=True))}

    @classmethod
    def restored(cls, file: StoredFile, vocabulary: int) -> Self | None:
        """What a file has of it, checked; None: nothing."""
        if _NAMES[0] not in file.tensors:
            return None
        stored, effects = (file.tensor(name, "f", 2) for name in (_NAMES[0], _NAMES[3]))
        bias, words, used = file.tensor(_NAMES[1], "f"), file.tensor(_NAMES[2], "i"), file.tensor(_GRAMS, "i")
        shapes = ((len(used), len(bias)), (len(words), len(bias)))
        if (
            (stored.shape, effects.shape) != shapes
            or not len(words)
            or not 0 <= words.min() <= words.max() < vocabulary
            or np.any(np.diff(used) <= 0)
            or (len(used) and not 0 <= used[0] <= used[-1] < BUCKETS)
        ):
            raise file.fail("what it says of unknown words does not fit its words")
        weights = np.zeros((BUCKETS, len(bias)), np.float32)
        weights[used] = stored
        return cls(weights, bias, words, effects)


def grams(word: str) -> list[int]:
    """The distinct n-grams of a word and of its ends, and its beginnings, hashed; capitals do not matter."""
    framed = f"<{word.lower()}>"
    spelled = {framed[at : at + size] for size in _SIZES for at in range(len(framed) - size + 1)}
    spelled |= {f"^{framed[:size]}" for size in range(2, min(_STEM, len(framed)) + 1)}
    return sorted({_hash(gram) for gram in spelled})


def _hash(gram: str) -> int:
    """The same in every process, which Python's own is not (FNV-1a)."""
    value = 2166136261
    for byte in gram.encode("utf-8", "surrogatepass"):
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value % BUCKETS
