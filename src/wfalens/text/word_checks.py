"""What kind of token a word is: a stop word, or one that no writer typed (mojibake, control characters, markup)."""

from __future__ import annotations

import re
import unicodedata
from importlib.resources import files

ENDINGS = frozenset({"s", "es", "d", "ed", "ing", "ly", "er", "ers", "est", "ful", "less", "ness"})
_STOP_WORDS = frozenset(files(__package__).joinpath("stop_words.txt").read_text("utf-8").split())


def is_stop_word(word: str) -> bool:
    """Whether a word is a common English function word (a negation is none), a single letter, or has no letter."""
    return word.lower() in _STOP_WORDS or len(word) < 2 or not has_letter(word)


def has_letter(word: str) -> bool:
    return any(character.isalpha() for character in word)


CONTROL, ENCODING, MARKUP = MOJIBAKE_KINDS = ("control character", "broken encoding", "markup")
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


def find_mojibake(word: str) -> str | None:
    """What is wrong with a word, one of `MOJIBAKE_KINDS`; None if nothing is."""
    if _REPLACEMENT in word or _MISREAD.search(word):
        return ENCODING
    if any(unicodedata.category(char) in _NOT_TYPED and char not in _TYPED for char in word):
        return CONTROL
    return MARKUP if _MARKUP.fullmatch(word) else None
