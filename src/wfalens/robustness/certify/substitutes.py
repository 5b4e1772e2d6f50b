"""Which words may replace which: the choices of an adversary, word by word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.text.similar_words import Nearness


@dataclass(frozen=True)
class Substitutes:
    """For words, by id, the ids of those that may replace them. A word without any stays as it is."""

    of_word: Mapping[int, NDArray[np.int32]]
    left_out: int = 0  # replacements that were wanted for the texts, and that the automaton cannot read

    @classmethod
    def of(cls, wfa: WFA, words: Mapping[str, Iterable[str]]) -> Substitutes:
        """From words; refused if the automaton does not know one of the replacements."""
        vocabulary, table = wfa.encoder.vocabulary, {}
        for word, others in words.items():
            chosen = list(dict.fromkeys(others))
            for other in chosen:
                if other not in vocabulary:
                    raise InputError(f"the automaton does not know {other!r}, which should replace {word!r}")
            table[vocabulary.id_of(word)] = np.array([vocabulary.id_of(other) for other in chosen], np.int32)
        return cls(table)

    @classmethod
    def listed(cls, wfa: WFA, words: Mapping[str, Sequence[str]], most: int | None = None) -> Substitutes:
        """From lists of anybody: those that the automaton knows, at most so many a word; the others are left out."""
        vocabulary, table = wfa.encoder.vocabulary, {}
        for word in words:
            if word not in vocabulary:
                continue
            known = [other for other in dict.fromkeys(words[word]) if other in vocabulary and other != word]
            table[vocabulary.id_of(word)] = np.array([vocabulary.id_of(other) for other in known[:most]], np.int32)
        return cls(table)

    @classmethod
    def near(
        cls, wfa: WFA, nearness: Nearness, k: int, *, of: Iterable[str] | None = None, within: float | None = None
    ) -> Substitutes:
        """For the words `of` (None: all) the `k` nearest of those near in meaning; `within`: another bound on d_S."""
        if k < 1:
            raise InputError(f"a word needs at least one substitute, not {k}")
        vocabulary = wfa.encoder.vocabulary
        ids = np.array([vocabulary.id_of(word) for word in nearness.words], np.int32)
        found = nearness.pairs(of, within)
        first, start = np.unique(found.first, return_index=True)
        end = np.minimum(np.append(start, len(found.first))[1:], start + k)
        rows = zip(ids[first], start, end, strict=True)
        return cls({int(word): ids[found.second[begin:stop]] for word, begin, stop in rows})

    def of_id(self, word: int) -> list[int]:
        """The ids of the words that may replace a word."""
        others = self.of_word.get(word)
        return [] if others is None else [int(other) for other in others if other != word]

    def __bool__(self) -> bool:
        """Whether any word has a substitute."""
        return any(len(others) for others in self.of_word.values())


def unknown_in_lists(wfa: WFA, words: Mapping[str, Sequence[str]], of: Iterable[str]) -> int:
    """How many replacements of the words `of` are lost because the automaton does not know both words."""
    vocabulary = wfa.encoder.vocabulary
    pairs = {(word, other) for word in of for other in words.get(word, ()) if other != word}
    return sum(word not in vocabulary or other not in vocabulary for word, other in pairs)


def read_lists(path: str | Path) -> dict[str, list[str]]:
    """Words and what may replace them: a JSON object (word → list of words), or lines of text, each word first.

    Words of a line are separated by blanks; a colon behind the first word is allowed.
    """
    path = Path(path)
    try:
        content = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    if path.suffix.lower() != ".json":
        rows = [line.split() for line in content.splitlines() if line.strip()]
        return {word.rstrip(":") or word: others for word, *others in rows}
    try:
        lists = json.loads(content)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(f"{path}: not valid JSON") from None
    if not isinstance(lists, dict) or not all(_is_list(others) for others in lists.values()):
        raise InputError(f"{path}: must be one JSON object, from each word to the list of words that may replace it")
    return lists


def _is_list(others: object) -> bool:
    return isinstance(others, list) and all(isinstance(other, str) for other in others)
