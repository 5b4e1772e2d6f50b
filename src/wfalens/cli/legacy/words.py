"""The words that a command is about: given, listed in a file, or the most frequent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens import progress
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.automaton import WFA

_TOLD = 3


@dataclass(frozen=True)
class WordChoice:
    """Words of three options together: given ones (with spaces), a file of words, the most frequent ones."""

    words: Sequence[str] = ()
    file: Path | None = None
    top: int | None = None
    encoding: str = "utf-8"

    def of(
        self,
        wfa: WFA,
    ) -> list[str] | None:
        """Each word once; None if nothing is chosen."""
        from wfalens.export import frequent_words

        if not self.words and self.file is None and self.top is None:
            return None
        chosen = [word for some in self.words for word in some.split()]
        if self.file is not None:
            chosen += self._listed(self.file, wfa)
        if self.top is not None:
            chosen += frequent_words(wfa, self.top)
        return list(dict.fromkeys(chosen))

    def _listed(
        self,
        file: Path,
        wfa: WFA,
    ) -> list[str]:
        from wfalens.text.vocabulary import UNKNOWN_WORD

        listed = _lines(file, self.encoding)
        known = [word for word in listed if word in wfa.encoder.vocabulary or word == UNKNOWN_WORD]
        if len(known) < len(listed):
            missing = [word for word in listed if word not in set(known)]
            told = ", ".join(missing[:_TOLD]) + (", …" if len(missing) > _TOLD else "")
            progress.say(f"{file}: left out {len(missing)} words that are not in the automaton's alphabet ({told})")
        return known


def _lines(path: Path, encoding: str) -> list[str]:
    try:
        text = path.read_text(encoding)
    except (UnicodeDecodeError, LookupError):
        raise InputError(f"{path}: not readable as {encoding}; name its encoding with --encoding") from None
    return [line for line in (line.rstrip("\r") for line in text.split("\n")) if line]
