"""What kind of token a word is: a stop word, or one that no writer typed (mojibake, control characters, markup)."""

from __future__ import annotations

import re
import unicodedata

_ENGLISH = """
a about above after again against all also although always am an and another any anyone anything are around as at
away back be became because become been before being below between both but by came can cannot come could did do
does doing done down during each either else enough even ever every few first for from further get gets getting give
given go goes going gone got had has have having he her here hers herself him himself his how however i if in indeed
instead into is it its itself just keep last least less let like made make makes many may me might more most much
must my myself near neither next nobody none nor nothing now of off often on once one only onto or other others our
ours out over own part per perhaps put quite rather really said same say says see seem seems set several she should
show since so some someone something soon still such take than that the their theirs them themselves then there
therefore these they thing things this those though through thus to together too toward towards two under until up
upon us very was way we well were what whatever when where whether which while who whole whom whose why will with
within without would yet you your yours yourself ll re ve don didn doesn isn wasn aren won wouldn couldn shouldn
hasn haven hadn ain n't 's 're 've 'll 'm 'd
"""
ENDINGS = frozenset({"s", "es", "d", "ed", "ing", "ly", "er", "ers", "est", "ful", "less", "ness"})
_STOP_WORDS = frozenset(_ENGLISH.split())


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
