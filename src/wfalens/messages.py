"""Untrusted words in sentences for people: printable, and not too long."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from wfalens.printable import printable

_LONGEST_NAME, _MOST_NAMES, _LONGEST_REASON = 60, 20, 200


def quoted(text: str) -> str:
    """A name in quotes, special characters as Python spells them."""
    return repr(shortened(text, _LONGEST_NAME))


def listed(names: Iterable[str]) -> str:
    """Names with commas between them; "none" if there are none."""
    first = list(islice(names, _MOST_NAMES + 1))
    shown = [shortened(printable(name), _LONGEST_NAME) for name in first[:_MOST_NAMES]]
    return ", ".join([*shown, "…"] if len(first) > _MOST_NAMES else shown) or "none"


def reason_of(error: BaseException) -> str:
    """What a library says went wrong, in one line."""
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return shortened(printable(first), _LONGEST_REASON)


def shortened(text: str, most: int = _LONGEST_NAME) -> str:
    """The beginning of a text that is too long for a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
