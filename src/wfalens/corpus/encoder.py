"""From texts to word ids: what a model reads and what its automaton must read in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wfalens.bounds import Bounds, check_numbers, whole
from wfalens.corpus.packed import PackedTexts
from wfalens.corpus.tokenizers import TOKENIZERS, Tokenizer, tokenizer_named
from wfalens.corpus.vocabulary import Vocabulary
from wfalens.errors import InputError
from wfalens.ragged import Ragged, concatenate

CUSTOM = "custom"
LENGTHS = Bounds(whole, 1, 1 << 40, (None,))  # at which texts may be cut
_COMPILED = ("whitespace", "basic_english")
_MANY = 64  # texts for which it pays to index the words


@dataclass(frozen=True)
class TextEncoder:
    """Tokenizer, vocabulary and cut-off length (None: never cut).

    `tokenizer` is a name from `TOKENIZERS` or any callable from a text to its tokens. A callable cannot be
    written to a file: there it is stored as "custom" and must be given again to encode texts.
    """

    vocabulary: Vocabulary
    tokenizer: str | Tokenizer = "basic_english"
    max_length: int | None = None
    _tokenize: Tokenizer | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_numbers(self, {"max_length": LENGTHS})
        if callable(self.tokenizer):
            tokenize: Tokenizer | None = self.tokenizer
        else:
            tokenize = None if self.tokenizer == CUSTOM else tokenizer_named(self.tokenizer)
        object.__setattr__(self, "_tokenize", tokenize)

    @classmethod
    def of_texts(
        cls,
        texts: Sequence[str],
        tokenizer: str | Tokenizer = "basic_english",
        max_length: int | None = None,
        min_count: int = 1,
    ) -> TextEncoder:
        """An encoder that knows the words of texts, as far as they are read, that occur at least `min_count` times."""
        tokens = cls(Vocabulary.of_words([]), tokenizer, max_length).tokens
        return cls(Vocabulary.build(map(tokens, texts), min_count), tokenizer, max_length)

    @property
    def tokenizer_name(self) -> str:
        return self.tokenizer if isinstance(self.tokenizer, str) else CUSTOM

    def tokens(self, text: str) -> list[str]:
        """Tokens of one text, cut at `max_length`."""
        if self._tokenize is None:
            raise InputError(
                "this file was made with a tokenizer of one's own; give it again, "
                f"or pass token ids (built-in ones: {', '.join(TOKENIZERS)})"
            )
        return self._tokenize(text)[: self.max_length]

    def encode(self, texts: Sequence[str]) -> Ragged[np.int32]:
        if isinstance(texts, str):
            raise InputError("encode takes a list of texts; wrap a single text in a list")
        if self.tokenizer_name in _COMPILED and (len(texts) >= _MANY or self.vocabulary.has_table):
            return self._encode_many(texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts))
        return self.vocabulary.encode([self.tokens(text) for text in texts])

    def _encode_many(self, texts: PackedTexts) -> Ragged[np.int32]:
        """The same, compiled for the texts that are ASCII."""
        from wfalens.corpus.quick import encode_ascii

        plain = texts.is_ascii()
        if plain.all():
            return encode_ascii(texts, self.tokenizer_name, self.vocabulary.table, self.max_length)
        others = self.vocabulary.encode([self.tokens(text) for text in texts.take(np.flatnonzero(~plain))])
        if not plain.any():
            return others
        simple = texts.take(np.flatnonzero(plain))
        both = concatenate([encode_ascii(simple, self.tokenizer_name, self.vocabulary.table, self.max_length), others])
        return both.take(np.argsort(np.argsort(~plain, kind="stable")))

    def checked(self, ids: Ragged[np.int32]) -> Ragged[np.int32]:
        """Ids that are given already, refused where they are not words of the vocabulary."""
        if len(ids.values) and not 0 <= ids.values.min() <= ids.values.max() < len(self.vocabulary):
            raise InputError(f"word ids must lie between 0 and {len(self.vocabulary) - 1}")
        return ids

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many texts are longer than `max_length` tokens."""
        if self.max_length is None or self._tokenize is None:
            return 0
        tokenize, limit = self._tokenize, self.max_length
        # a text of n characters has at most 2n + 1 tokens; spare the short ones
        return sum(len(tokenize(text)) > limit for text in texts if len(text) * 2 >= limit)
