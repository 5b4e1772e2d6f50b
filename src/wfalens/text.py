"""Words and texts are of strangers: what of them may reach a terminal or a figure."""

from __future__ import annotations

_JOINERS = "\u200c\u200d"  # within emoji and some scripts


def printable(text: str) -> str:
    """The text without control characters, direction overrides and halves of surrogate pairs."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _JOINERS else "�" for char in text)
