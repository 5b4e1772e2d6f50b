"""Words that no writer typed: control characters, broken encodings, left-over markup."""

from __future__ import annotations

import re
import unicodedata

CONTROL, ENCODING, MARKUP = DAMAGES = ("control character", "broken encoding", "markup")
_REPLACEMENT = "\ufffd"
_TYPED = "\u200c\u200d\t\n\r"  # joiners within emoji and some scripts; ends of lines
_NOT_TYPED = ("Cc", "Cf", "Cn", "Co", "Cs")  # control, format, unassigned, private use, half of a pair
# UTF-8 that was read as Latin-1 or Windows-1252: the first byte of a letter, then one between 80 and BF.
# Lower case too, because texts are often lowered after they were damaged; there, marks that may end a word must not.
_LEADS = "ÂÃÄÅÎÏÐÑ×ØÙÚ"
_WINDOWS = "".join(bytes([byte]).decode("cp1252", "ignore") for byte in range(0x80, 0xA0))
_MISREAD = re.compile(
    f"[{_LEADS}][\x80-\xbf{_WINDOWS}]|[{_LEADS.lower()}](?:[\x80-\x9f\xa1-\xba\xbc-\xbe]|»\\w)"
    "|â(?:€|‚¬|\x80)|ï(?:»¿|¿½)"  # quotes and dashes, the euro sign, the marks of files and of earlier damage
)
_MARKUP = re.compile(r"&#?\w+;?|</?\w+/?>?|\w+/?>")


def damage(word: str) -> str | None:
    """What is wrong with a word, one of `DAMAGES`; None if nothing is."""
    if _REPLACEMENT in word or _MISREAD.search(word):
        return ENCODING
    if any(unicodedata.category(char) in _NOT_TYPED and char not in _TYPED for char in word):
        return CONTROL
    return MARKUP if _MARKUP.fullmatch(word) else None
