"""Words and their ids."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError, InputError
from wfalens.messages import quoted, reason_of
from wfalens.ragged import Ragged, offsets_of
from wfalens.storage import file_text
from wfalens.text.packed import PackedTexts

if TYPE_CHECKING:
    from wfalens.text.compiled_tokenizers import WordHashTable

PADDING, UNKNOWN = 0, 1
PADDING_WORD, UNKNOWN_WORD = "<pad>", "<unk>"
_PADDING_NAMES = (PADDING_WORD, "[PAD]", "<PAD>", "")  # "": as Keras' TextVectorization calls it
_UNKNOWN_NAMES = (UNKNOWN_WORD, "[UNK]", "<UNK>", "<oov>", "<OOV>")


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
    def of_words(cls, words: Iterable[str]) -> Vocabulary:
        """The given words behind padding (id 0) and `<unk>` (id 1), in their order.

        Args:
            words: all of them different; words with ids of their own go to `Vocabulary.from_ids`

        Examples:
            >>> Vocabulary.of_words(["good", "bad"]).words
            ('<pad>', '<unk>', 'good', 'bad')
        """
        if isinstance(words, Mapping):
            raise InputError("a dictionary of ids goes to Vocabulary.from_ids, which keeps the ids", code="ids")
        reserved = (PADDING_WORD, UNKNOWN_WORD)
        return cls([*reserved, *(word for word in words if word not in reserved)])

    @classmethod
    def from_ids(cls, ids: Mapping[str, int], *, closed: bool = False) -> tuple[Vocabulary, NDArray[np.int64]]:
        """A vocabulary of a model's own dictionary, and the model's id of each of its words.

        The words stand in the order of their ids, behind `<pad>` and `<unk>`. What the dictionary calls `[PAD]`,
        `[UNK]`, `<oov>` and the like is padding and `<unk>` here; without a word for padding, that is id 0.

        Args:
            ids: a different whole number from 0 up for each word
            closed: there are no unknown words, so the dictionary needs no word for them

        Examples:
            >>> vocabulary, word_ids = Vocabulary.from_ids({"<unk>": 0, "<pad>": 1, "film": 7, "good": 3})
            >>> vocabulary.words, word_ids.tolist()
            (('<pad>', '<unk>', 'good', 'film'), [1, 0, 3, 7])
        """
        for word, number in ids.items():
            is_id = isinstance(number, int | np.integer) and not isinstance(number, bool) and number >= 0
            if not isinstance(word, str) or not is_id:
                raise InputError(f"a vocabulary maps words to ids from 0 up, not {word!r} to {number!r}", code="ids")
        padding = next((name for name in _PADDING_NAMES if name in ids), None)
        unknown = next((name for name in _UNKNOWN_NAMES if name in ids), None)
        if unknown is None and not closed:
            raise InputError(
                'the vocabulary has no word for unknown words; add one with its id, for example {"<unk>": 0}',
                code="no-unknown-word",
            )
        words = sorted((word for word in ids if word not in (padding, unknown)), key=ids.__getitem__)
        if len({ids[word] for word in words}) < len(words):
            raise InputError("words with ids need a different whole number each", code="ids")
        pad = 0 if padding is None else ids[padding]
        reserved = (pad, pad if unknown is None else ids[unknown])
        return cls.of_words(words), np.array([*reserved, *(ids[word] for word in words)], np.int64)

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
    def table(self) -> WordHashTable:
        """The words by their hash, for texts that are encoded without making strings of their tokens."""
        from wfalens.text.compiled_tokenizers import WordHashTable

        return WordHashTable.of(self.packed)

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


_TABLES = {".csv": ",", ".tsv": "\t"}


def read_word_list(path: str | Path) -> tuple[str, ...]:
    """Words from a file, blanks and all: one on a line, the first column of a table, or JSON.

    A .csv or .tsv table has a head. JSON is a list, or an object from words to ids such as the `word_index` of a Keras
    tokenizer; if nothing has the id 0, that is `<pad>`.
    """
    path = Path(path)
    try:
        text = file_text(path)
    except UnicodeDecodeError:
        raise FormatError(f"{path}: not UTF-8 text") from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    if path.suffix.lower() == ".json":
        return _from_json(text, path)
    if path.suffix.lower() in _TABLES:
        rows = list(csv.reader(text.splitlines(), delimiter=_TABLES[path.suffix.lower()]))
        return tuple(row[0] for row in rows[1:] if row)
    return tuple(text.removesuffix("\n").split("\n"))


def _from_json(text: str, path: Path) -> tuple[str, ...]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON ({reason_of(error)})") from None
    if isinstance(content, list) and all(isinstance(word, str) for word in content):
        return tuple(content)
    if isinstance(content, dict) and content and all(type(number) is int for number in content.values()):
        return _by_id(content, path)
    raise FormatError(f"{path}: neither a list of words nor an object from words to their ids")


def _by_id(ids: Mapping[str, int], path: Path) -> tuple[str, ...]:
    word_of: dict[int, str] = {}
    for word, number in ids.items():
        if number in word_of:
            raise FormatError(f"{path}: {quoted(word_of[number])} and {quoted(word)} have the same id, {number}")
        word_of[number] = word
    word_of.setdefault(0, PADDING_WORD)
    missing = next((number for number in range(len(word_of)) if number not in word_of), None)
    if missing is not None:
        raise FormatError(f"{path}: no word has the id {missing}, although others have higher ones")
    return tuple(word_of[number] for number in range(len(word_of)))
