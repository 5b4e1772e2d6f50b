"""Words that carry no content of their own: they stand for a class of words only if it has no others."""

from __future__ import annotations

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
_STOP_WORDS = frozenset(_ENGLISH.split())


def is_stop_word(word: str) -> bool:
    """Whether a word is a common English function word (a negation is none), a single letter, or has no letter."""
    return word.lower() in _STOP_WORDS or len(word) < 2 or not has_letter(word)


def has_letter(word: str) -> bool:
    return any(character.isalpha() for character in word)
