"""Words and their ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.ragged import Ragged, offsets_of
from wfalens.text.packed import PackedTexts

if TYPE_CHECKING:
    from wfalens.text.compiled_tokenizers import WordTable

PADDING, UNKNOWN = 0, 1
PADDING_WORD, UNKNOWN_WORD = "<pad>", "<unk>"


class Vocabulary:
    """Words ↔ ids: id 0 is padding, id 1 is `<unk>`; the two are never the same thing.

    Args:
        words: in the order of their ids, `<pad>` and `<unk>` first.

    Examples:
        >>> from wfalens import Vocabulary
        >>> Vocabulary.of_words(["good", "bad"]).words
        ('<pad>', '<unk>', 'good', 'bad')
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        if self.words[:2] != (PADDING_WORD, UNKNOWN_WORD):
            raise InputError(f"a vocabulary starts with {PADDING_WORD} and {UNKNOWN_WORD}")
        if len(set(self.words)) != len(self.words):
            repeated = Counter(self.words).most_common(1)[0][0]
            raise InputError(f"the word {repeated!r} stands twice in the vocabulary")

    @classmethod
    def of_words(cls, words: Iterable[str] | Mapping[str, int]) -> Vocabulary:
        """The given words behind padding (id 0) and `<unk>` (id 1), in their order, or in the order of their ids.

        Args:
            words: all of them different; or each with its id, as in a Keras `word_index`, in any order

        Examples:
            >>> Vocabulary.of_words(["good", "bad"]).words
            ('<pad>', '<unk>', 'good', 'bad')
        """
        reserved = (PADDING_WORD, UNKNOWN_WORD)
        if isinstance(words, Mapping):
            words = _in_order(words)
        return cls([*reserved, *(word for word in words if word not in reserved)])

    @classmethod
    def build(cls, texts: Iterable[Iterable[str]], min_count: int = 1, max_size: int | None = None) -> Vocabulary:
        """Words of tokenised texts by falling count, then alphabetically.

        Args:
            texts: the tokens of each text
            min_count: how often a word must occur
            max_size: the most words, besides padding and `<unk>`; None: all

        Examples:
            >>> Vocabulary.build([["a", "good", "film"], ["a", "film"]], max_size=2).words[2:]
            ('a', 'film')
        """
        counts: Counter[str] = Counter()
        for tokens in texts:
            counts.update(tokens)
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, count in ranked if count >= min_count]
        return cls.of_words(words if max_size is None else words[:max_size])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words)"

    @cached_property
    def _ids(self) -> dict[str, int]:
        ids = {word: position for position, word in enumerate(self.words)}
        del ids[PADDING_WORD]  # padding is not a word: a text that contains it says <unk>
        return ids

    @cached_property
    def packed(self) -> PackedTexts:
        """The words as one run of bytes."""
        return PackedTexts.of(self.words)

    @cached_property
    def table(self) -> WordTable:
        """The words by their hash, for texts that are encoded without making strings of their tokens."""
        from wfalens.text.compiled_tokenizers import WordTable

        return WordTable.of(self.packed)

    @property
    def has_table(self) -> bool:
        """Whether the table is made already, so that even a few texts may use it."""
        return "table" in self.__dict__

    def id_of(self, word: str) -> int:
        return self._ids.get(word, UNKNOWN)

    def encode(self, texts: Sequence[Sequence[str]]) -> Ragged[np.int32]:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ids = map(self._ids.get, chain.from_iterable(texts), repeat(UNKNOWN))
        return Ragged(np.fromiter(ids, np.int32, int(lengths.sum())), offsets_of(lengths))

    def decode(self, ids: NDArray[np.int32]) -> list[str]:
        return [self.words[position] for position in ids]


def _in_order(ids: Mapping[str, int]) -> list[str]:
    """Words by rising id; what stands beside the words may also be something else, and their order then stays."""
    if not all(isinstance(each, int | np.integer) for each in ids.values()):
        return list(ids)
    if len(set(ids.values())) < len(ids):
        raise InputError("words with ids need a different whole number each")
    return sorted(ids, key=ids.__getitem__)
