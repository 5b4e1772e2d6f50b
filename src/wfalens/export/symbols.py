"""Words as names that every tool can read, and back again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wfalens.errors import FormatError, InputError

WORD, CLASS = "w", "class"  # what a name stands for; the prefix also keeps names clear of every tool's keywords
EPSILON = "<eps>"  # number 0 belongs to the empty word
_ODD = re.compile(r"[^A-Za-z0-9]")
_ESCAPE = re.compile(r"_(?:_|([0-9a-f]+)_)")


def escape(text: str, prefix: str = WORD) -> str:
    """An identifier for any text: `don't` becomes `w_don_27_t`. Different texts have different names."""
    return f"{prefix}_" + _ODD.sub(lambda found: "__" if found[0] == "_" else f"_{ord(found[0]):x}_", text)


def unescape(name: str, prefix: str = WORD) -> str:
    """The text that `escape` made a name of."""
    start = f"{prefix}_"
    text = _ESCAPE.sub(_character, name[len(start) :])
    if not name.startswith(start) or escape(text, prefix) != name:
        raise FormatError(f"{name!r} is not a name that wfalens writes for a text")
    return text


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else ord("_")
    return chr(code) if code < 0x110000 else ""  # beyond all characters: `unescape` sees that it was not written by us


@dataclass(frozen=True)
class SymbolTable:
    """Numbers and names of words, in the text form that OpenFst reads: a name, a tab, a number; 0 is the empty word."""

    words: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [escape(word) for word in self.words]

    def number(self, word: str) -> int:
        try:
            return self.words.index(word) + 1
        except ValueError:
            raise InputError(f"the word {word!r} is not in the symbol table") from None

    def to_text(self) -> str:
        lines = [f"{EPSILON}\t0", *(f"{name}\t{number}" for number, name in enumerate(self.names, 1))]
        return "\n".join(lines) + "\n"

    @staticmethod
    def from_text(text: str) -> SymbolTable:
        lines = [line.split("\t") for line in text.splitlines()]
        if not lines or lines[0] != [EPSILON, "0"]:
            raise FormatError(f"a symbol table begins with {EPSILON} and 0")
        if [line[1:] for line in lines] != [[str(number)] for number in range(len(lines))]:
            raise FormatError("a symbol table has a name, a tab and a number in every line, counted from 0")
        return SymbolTable(tuple(unescape(line[0]) for line in lines[1:]))
