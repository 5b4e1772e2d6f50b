"""Edits of a text by single characters: substitute, insert, delete, transpose. Each result is a text, tokenised again.

Where tokens are characters or runs of them, putting one token in the place of another spells no text: the next run
would contradict it. So changes are made to the text, which is then split into tokens again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wfalens.errors import InputError
from wfalens.ragged import Ragged
from wfalens.text.encoder import TextEncoder
from wfalens.text.tokenizers import characters_each
from wfalens.text.vocabulary import UNKNOWN
from wfalens.validation import check_choice

SUBSTITUTE, INSERT, DELETE, TRANSPOSE = KINDS = ("substitute", "insert", "delete", "transpose")


@dataclass(frozen=True)
class Edit:
    """One change of a text: at a position, `old` characters become `new` ones."""

    kind: str
    position: int
    old: str
    new: str
    text: str  # the changed text


@dataclass(frozen=True, eq=False)
class EditedTexts:
    """Edits that lead to different texts, all of which the encoder can read, with their tokens."""

    edits: tuple[Edit, ...]
    ids: Ragged[np.int32]

    def __len__(self) -> int:
        return len(self.edits)


def reads_characters(encoder: TextEncoder) -> bool:
    """Whether tokens are characters or runs of them, so that texts are changed by editing them."""
    return characters_each(encoder.tokenizer_name) is not None


def alphabet_of(encoder: TextEncoder) -> tuple[str, ...]:
    """The characters of the tokens that the encoder knows."""
    return tuple(sorted({char for word in encoder.vocabulary.words[UNKNOWN + 1 :] for char in word}))


def single_edits(text: str, alphabet: Sequence[str], kinds: Collection[str] = KINDS) -> Iterator[Edit]:
    """All texts at one edit from a text, each change once (deleting either of two equal neighbours is one)."""
    for kind in kinds:
        check_choice("kind of edit", kind, KINDS)
    for at in range(len(text) + 1):
        before, char, after = text[:at], text[at : at + 1], text[at + 1 :]
        if INSERT in kinds:
            for new in alphabet:
                if new != char:  # the same letter behind its own kind is the same text
                    yield Edit(INSERT, at, "", new, before + new + text[at:])
        if not char:
            return
        if SUBSTITUTE in kinds:
            for new in alphabet:
                if new != char:
                    yield Edit(SUBSTITUTE, at, char, new, before + new + after)
        if DELETE in kinds and after[:1] != char:
            yield Edit(DELETE, at, char, "", before + after)
        if TRANSPOSE in kinds and after and after[0] != char:
            yield Edit(TRANSPOSE, at, char + after[0], after[0] + char, before + after[0] + char + after[1:])


def edited_texts(encoder: TextEncoder, text: str, kinds: Collection[str] = KINDS) -> EditedTexts:
    """What the encoder reads of all texts at one edit from a text.

    Texts with a token that it does not know are left out, and so are texts without tokens and those that it reads like
    the given one or like an earlier edit: where case is not read, letters are put in as the text is written.
    """
    if not reads_characters(encoder):
        raise InputError("texts of words are changed word by word; edits are for tokens that are characters")
    vocabulary = encoder.vocabulary
    seen = {tuple(encoder.tokens(text))}
    kept: list[Edit] = []
    read: list[list[str]] = []
    letters = sorted(alphabet_of(encoder), key=lambda letter: letter.isupper() != text.isupper())
    for edit in single_edits(text, letters, kinds):
        tokens = encoder.tokens(edit.text)
        if tokens and tuple(tokens) not in seen and all(token in vocabulary for token in tokens):
            seen.add(tuple(tokens))
            kept.append(edit)
            read.append(tokens)
    return EditedTexts(tuple(kept), vocabulary.encode(read))
