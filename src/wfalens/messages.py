"""Untrusted words and texts in what people read: printable, escaped and not too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_JOINERS = "\u200c\u200d"  # within emoji and some scripts
_BREAKS = str.maketrans("\t\n\r", "   ")
_ROUNDING = 1e-9  # of a share
_LONGEST = 1000  # characters of a sentence


def printable(text: str) -> str:
    """The text without control characters, direction overrides and halves of surrogate pairs."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _JOINERS else "�" for char in text)


def visible(word: str) -> str:
    """A word with all of its characters in sight: blanks as ␣, what cannot be printed by its number."""
    return "".join("␣" if char == " " else char if char.isprintable() else f"[U+{ord(char):04X}]" for char in word)


def sentence(text: str, longest: int = _LONGEST) -> str:
    """One printable line of bounded length: the middle of a longer text is cut out."""
    if len(text) > longest:
        end = longest // 3
        text = f"{text[: longest - end - 3]} … {text[-end:]}"
    return printable(text.translate(_BREAKS))


def percent(share: float, digits: int = 0) -> str:
    """A share as people read it, without calling a rare thing impossible or a usual one certain."""
    shown, least = f"{100 * share:.{digits}f}", 10.0**-digits
    if float(shown) == 0 and share > _ROUNDING:
        return f"< {least:g} %"
    if float(shown) == 100 and share < 1 - _ROUNDING:
        return f"> {100 - least:g} %"
    return f"{shown} %"


_LONGEST_NAME, _MOST_NAMES = 60, 20
LONGEST_REASON = 200  # characters that an error echoes of a file


def quoted(text: str) -> str:
    """A name in quotes, special characters as Python spells them."""
    return repr(shortened(text, _LONGEST_NAME))


def listed(names: Iterable[str]) -> str:
    """Names with commas between them, as far as they fit into a sentence; "none" if there are none."""
    first = list(islice(names, _MOST_NAMES + 1))
    shown = [shortened(printable(name), _LONGEST_NAME) for name in first[:_MOST_NAMES]]
    return shortened(", ".join([*shown, "…"] if len(first) > _MOST_NAMES else shown), LONGEST_REASON) or "none"


def reason_of(error: BaseException) -> str:
    """What a library says went wrong, in one line."""
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return shortened(printable(first), LONGEST_REASON)


def shortened(text: str, most: int = _LONGEST_NAME) -> str:
    """The beginning of a text that is too long for a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
