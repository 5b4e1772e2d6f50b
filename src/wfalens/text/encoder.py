"""From texts to word ids: what a model reads and what its automaton must read in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, WfalensError
from wfalens.messages import quoted
from wfalens.ragged import Ragged, concatenate
from wfalens.storage import StoredFile, Tensors, compact
from wfalens.text import tokenizers
from wfalens.text.corpus import as_texts
from wfalens.text.packed import PackedTexts
from wfalens.text.tokenizers import CUSTOM, KNOWN, LENGTHS, Tokenizer
from wfalens.text.vocabulary import UNKNOWN, Vocabulary
from wfalens.text.word_forms import WordForms
from wfalens.validation import check_choice, check_numbers

SIDES = RIGHT, LEFT = ("right", "left")
_COMPILED = ("whitespace", "basic_english")
_MANY = 64  # texts for which it pays to index the words


@dataclass(frozen=True)
class TextEncoder:
    """How a text becomes word ids: a tokenizer, a vocabulary and a cut-off length. Model and automaton share it.

    Args:
        vocabulary: the words and their ids.
        tokenizer: a name (see `wfalens.text.tokenizers`), or any callable from a text to its tokens. A callable
            cannot be written to a file: there it is stored as "custom" and must be given again to encode texts; one
            that `allow_tokenizer` imported is stored by its import path.
        max_length: tokens after which a text is cut (None: never).
        truncation_side: where a text that is too long loses tokens: "right" keeps its beginning, "left" its end.
        closed: every token that there is stands in the vocabulary: a text with another one is refused, and a model
            is never shown `<unk>` or `<pad>`.
        forms: how an unknown word is read by its form, in automata of models that read words of any spelling.

    Examples:
        >>> encoder = TextEncoder.of_texts(["The film , in short"], max_length=3)
        >>> ids = encoder.encode(["The film never ends"])
        >>> [encoder.vocabulary.words[number] for number in ids[0]]
        ['the', 'film', '<unk>']
    """

    vocabulary: Vocabulary
    tokenizer: str | Tokenizer = "basic_english"
    max_length: int | None = None
    truncation_side: str = RIGHT
    closed: bool = False
    forms: WordForms | None = field(default=None, compare=False, repr=False)
    _tokenize: Tokenizer | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.vocabulary, Vocabulary):
            given = type(self.vocabulary).__name__
            raise InputError(f"an encoder takes a Vocabulary, not {given}; give Vocabulary.of_words(words)")
        check_numbers(self, {"max_length": LENGTHS})
        check_choice("truncation_side", self.truncation_side, SIDES)
        if self.closed and len(self.vocabulary) <= UNKNOWN + 1:
            raise InputError("a closed alphabet has at least one symbol")
        if not isinstance(self.tokenizer, str) and not callable(self.tokenizer):
            given = type(self.tokenizer).__name__
            raise InputError(f"tokenizer must be a name or a function, not {given}", code="tokenizer")
        if callable(self.tokenizer):
            tokenize: Tokenizer | None = self.tokenizer
            object.__setattr__(self, "tokenizer", tokenizers.path_of(self.tokenizer) or self.tokenizer)
        elif self.tokenizer == CUSTOM or (
            tokenizers.is_import_path(self.tokenizer) and not tokenizers.is_allowed(self.tokenizer)
        ):
            tokenize = None
        else:
            tokenize = tokenizers.tokenizer_named(self.tokenizer)
        object.__setattr__(self, "_tokenize", tokenize)

    @classmethod
    def of_texts(
        cls,
        texts: Sequence[str],
        tokenizer: str | Tokenizer = "basic_english",
        max_length: int | None = None,
        min_count: int = 1,
        *,
        truncation_side: str = RIGHT,
        closed: bool = False,
    ) -> TextEncoder:
        """An encoder that knows the words of texts, as far as they are read.

        Args:
            texts: texts to take the words from
            tokenizer: a name such as "basic_english" or "characters", or a function from a text to its tokens
            max_length: tokens of a text that are read; None: all
            min_count: how often a word must occur to be known
            truncation_side: the side on which long texts are cut, "right" or "left"
            closed: whether unknown words are an error, as in a closed alphabet

        Examples:
            >>> TextEncoder.of_texts(["a good film", "a film"], min_count=2).vocabulary.words
            ('<pad>', '<unk>', 'a', 'film')
        """
        tokens = cls(Vocabulary.of_words([]), tokenizer, max_length, truncation_side).tokens
        return cls(Vocabulary.build(map(tokens, texts), min_count), tokenizer, max_length, truncation_side, closed)

    @property
    def tokenizer_name(self) -> str:
        return self.tokenizer if isinstance(self.tokenizer, str) else CUSTOM

    @property
    def settings(self) -> dict[str, Any]:
        """All about it but its words, as files have it; what files of earlier versions lack stands only if unusual."""
        about: dict[str, Any] = {"tokenizer": self.tokenizer_name, "max_length": self.max_length}
        unusual = {"truncation_side": self.truncation_side != RIGHT, "closed": self.closed}
        return about | {name: getattr(self, name) for name, stands in unusual.items() if stands}

    @property
    def reads(self) -> str:
        """How much of a text is read, in words for people."""
        if self.max_length is None:
            return "whole texts"
        return f"the {'last' if self.truncation_side == LEFT else 'first'} {self.max_length:,} tokens"

    @property
    def lowest_id(self) -> int:
        """The first id that a model may be shown: that of `<unk>`, or of the first symbol of a closed alphabet."""
        return UNKNOWN + 1 if self.closed else UNKNOWN

    def tokens(self, text: str) -> list[str]:
        """Tokens of one text, cut at `max_length`.

        Args:
            text: any text

        Examples:
            >>> encoder.tokens("Not a good film!")
            ['not', 'a', 'good', 'film', '!']
        """
        tokens, most = self._all_tokens(text), self.max_length
        return tokens[-most:] if most is not None and self.truncation_side == LEFT else tokens[:most]

    def pieces(self, text: str) -> list[str]:
        """A text as it is written, one piece for each of its tokens: the token, and what stands before it.

        The last piece has what is behind it, too, so that all pieces together are the text, unless it was cut at
        `max_length`. Tokens that do not stand in the text as they are read are pieces themselves, behind a blank.

        Args:
            text: any text

        Examples:
            >>> encoder.pieces('Not  "a good" film!')
            ['Not', '  "a', ' good', '" film', '!']
        """
        tokens, ends = self.tokens(text), [0]
        lowered = text.lower() if len(text.lower()) == len(text) else text
        bare = [self.joined(("", token)) for token in tokens]
        if self.max_length is not None and self.truncation_side == LEFT:
            return bare
        for token in tokens:
            found = [text.find(token, ends[-1]), lowered.find(token.lower(), ends[-1])]
            if max(found) < 0:
                return bare
            ends.append(min(place for place in found if place >= 0) + len(token))
        if self.max_length is None:
            ends[-1] = len(text)
        return [text[start:end] for start, end in pairwise(ends)]

    def joined(self, tokens: Sequence[str]) -> str:
        """The text that tokens stand for."""
        return tokenizers.joined(tokens, self.tokenizer_name)

    def _all_tokens(self, text: str) -> list[str]:
        if self._tokenize is None and isinstance(self.tokenizer, str) and self.tokenizer != CUSTOM:
            tokenizers.tokenizer_named(self.tokenizer)  # says how it is allowed
        if self._tokenize is None:
            raise InputError(
                "this file was made with a tokenizer of one's own; give it with tokenizer= where the file is loaded, "
                f"or pass token ids (built-in ones: {KNOWN})",
                code="tokenizer",
            )
        return self._tokenize(text) if self._is_built_in else tokenizers.checked_tokens(self._tokenize, text)

    @property
    def _is_built_in(self) -> bool:
        return isinstance(self.tokenizer, str) and not tokenizers.is_import_path(self.tokenizer)

    def encode(self, texts: Sequence[str]) -> Ragged[np.int32]:
        """Word ids of texts, cut at `max_length`; 1 stands for words that are not known.

        Args:
            texts: a list of texts

        Examples:
            >>> encoder.encode(["a good film", "unheard"]).lengths
            array([3, 1])
        """
        if not isinstance(texts, PackedTexts):
            texts = as_texts(texts)
        ids = self._known_words(texts)
        if self.closed and np.any(ids.values == UNKNOWN):
            self._refuse_unknown(texts, ids)
        if self.forms is not None and np.any(ids.values == UNKNOWN):
            return self.encode_tokens([self.tokens(text) for text in texts])
        return ids

    def _known_words(self, texts: Sequence[str]) -> Ragged[np.int32]:
        """Ids of the words that the vocabulary has, and of `<unk>` for all others."""
        if self.tokenizer_name in _COMPILED and (len(texts) >= _MANY or self.vocabulary.has_table):
            return self._encode_many(texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts))
        return self.vocabulary.encode([self.tokens(text) for text in texts])

    def has_unknown(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which texts have a word that the vocabulary does not have; (texts,)"""
        ids = self._known_words(texts)
        found = np.zeros(len(ids), bool)
        found[ids.item_of_value()[ids.values == UNKNOWN]] = True
        return found

    def encode_tokens(self, tokens: Sequence[Sequence[str]]) -> Ragged[np.int32]:
        """Word ids of texts that are tokens already.

        Args:
            tokens: a list of tokens for each text

        Examples:
            >>> encoder.encode_tokens([["a", "film"], []]).lengths
            array([2, 0])
        """
        ids = self.vocabulary.encode(tokens)
        if self.forms is not None:
            words = [word for text in tokens for word in text]
            for place in np.flatnonzero(ids.values == UNKNOWN).tolist():
                ids.values[place] = self.forms.nearest(words[place])
        return ids

    def _refuse_unknown(self, texts: Sequence[str], ids: Ragged[np.int32]) -> None:
        """Name the first token that a closed alphabet lacks."""
        place = int(np.argmax(ids.values == UNKNOWN))
        item = int(np.searchsorted(ids.offsets, place, side="right")) - 1
        token = self.tokens(texts[item])[place - int(ids.offsets[item])]
        raise InputError(
            f"the alphabet is closed, but {quoted(token)} in the text {quoted(texts[item])} is not one of its "
            f"{len(self.vocabulary) - UNKNOWN - 1} symbols; leave the text out, or give the model an unknown word"
        )

    def _encode_many(self, texts: PackedTexts) -> Ragged[np.int32]:
        """The same, compiled for the texts that are ASCII."""
        plain = texts.is_ascii()
        if plain.all():
            return self._encode_ascii(texts)
        others = self.vocabulary.encode([self.tokens(text) for text in texts.take(np.flatnonzero(~plain))])
        if not plain.any():
            return others
        simple = texts.take(np.flatnonzero(plain))
        both = concatenate([self._encode_ascii(simple), others])
        return both.take(np.argsort(np.argsort(~plain, kind="stable")))

    def _encode_ascii(self, texts: PackedTexts) -> Ragged[np.int32]:
        from wfalens.text.compiled_tokenizers import encode_ascii

        ids = encode_ascii(texts, self.tokenizer_name, self.vocabulary.table)
        if self.max_length is None:
            return ids
        return ids.kept(self.max_length) if self.truncation_side == LEFT else ids.cut(self.max_length)

    def checked(self, ids: Ragged[np.int32]) -> Ragged[np.int32]:
        """Ids that are given already, refused where they are not words of the vocabulary."""
        lowest = self.lowest_id if self.closed else 0
        if len(ids.values) and not lowest <= ids.values.min() <= ids.values.max() < len(self.vocabulary.words):
            raise InputError(f"word ids must lie between {lowest} and {len(self.vocabulary) - 1}")
        return ids

    def count_cut(self, texts: Sequence[str]) -> int:
        """How many texts are longer than `max_length` tokens."""
        if self.max_length is None or self._tokenize is None:
            return 0
        return sum(len(self._all_tokens(text)) > self.max_length for text in texts)


def store_encoder(encoder: TextEncoder) -> tuple[dict[str, Any], Tensors]:
    """Header entries and tensors of an encoder."""
    spelled = encoder.vocabulary.packed.content
    forms = {} if encoder.forms is None else encoder.forms.tensors()
    return encoder.settings, {"alphabet_bytes": spelled.values, "alphabet_lengths": compact(spelled.lengths)} | forms


def restore_encoder(file: StoredFile, tokenizer: Tokenizer | None = None) -> TextEncoder:
    """The stored encoder; a given tokenizer takes the place of a stored "custom" one."""
    values = file.tensor("alphabet_bytes", "u")
    limit, stored = file.header.get("max_length"), file.field("tokenizer", str)
    side, closed = file.header.get("truncation_side", RIGHT), file.header.get("closed", False)
    if not isinstance(closed, bool):
        raise file.fail("a header entry is neither true nor false")
    if values.dtype != np.uint8:
        raise file.fail("its words are not bytes")
    try:
        lengths = file.tensor("alphabet_lengths", "u").astype(np.int64)
        words = list(PackedTexts(Ragged.from_lengths(values, lengths)))
        known = tokenizer if tokenizer and stored == CUSTOM else stored
        return TextEncoder(Vocabulary(words), known, limit, side, closed, WordForms.restored(file, len(words)))
    except (WfalensError, UnicodeDecodeError) as error:
        raise file.fail(str(error)) from None


def require_words(ids: Ragged[np.int32], name: str = "") -> tuple[NDArray[np.int64], Ragged[np.int32]]:
    """The positions of the texts that have a word, and their ids; refused if none has.

    name  how the error calls the texts
    """
    worded, ids = ids.nonempty()
    if len(worded) == 0:
        raise InputError(f"{name}: there is no text with a word in it".removeprefix(": "), code="no-words")
    return worded, ids
