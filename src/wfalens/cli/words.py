"""The words that a command is about: given, listed in a file, or the most frequent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.automaton.wfa import WFA
from wfalens.cli.common import note
from wfalens.corpus.vocabulary import UNKNOWN_WORD
from wfalens.errors import InputError

WordsOption = Annotated[
    list[str] | None, typer.Option("--words", "-w", help="Words to use, separated by spaces (may be repeated).")
]
WordFileOption = Annotated[
    Path | None, typer.Option("--word-file", help="Words to use, one per line; unknown ones are left out.")
]
TopWordsOption = Annotated[
    int | None, typer.Option("--top", "-k", min=1, help="The words seen most often in extraction, and <unk>.")
]


def chosen_words(
    wfa: WFA, words: list[str] | None, word_file: Path | None, top: int | None, encoding: str
) -> list[str] | None:
    """The words of all three options together, each once; None if no option is given."""
    from wfalens.export.choice import frequent_words

    if not words and word_file is None and top is None:
        return None
    chosen = [word for some in words or [] for word in some.split()]
    if word_file is not None:
        listed = _lines(word_file, encoding)
        known = [word for word in listed if word in wfa.encoder.vocabulary or word == UNKNOWN_WORD]
        if len(known) < len(listed):
            missing = [word for word in listed if word not in set(known)]
            shown = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
            note(f"{word_file}: left out {len(missing)} words that are not in the automaton's alphabet ({shown})")
        chosen += known
    if top is not None:
        chosen += frequent_words(wfa, top)
    return list(dict.fromkeys(chosen))


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        text = path.read_text(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError(f"{path}: not readable as {encoding}; name its encoding with --encoding") from None
    return [line for line in (line.rstrip("\r") for line in text.split("\n")) if line]
