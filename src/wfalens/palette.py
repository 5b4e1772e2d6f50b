"""The colours of classes, on paper and in the dark. In a figure a colour always means a class; all else is grey.

Eight hues that readers with any kind of colour vision can tell apart, then the same eight paler, then darker. A class
with a higher number has the colour of one with a lower; its name stands beside it.
"""

from __future__ import annotations

# blue, orange, green, pink, olive, teal, purple, red
LIGHT = ("#2653d8", "#c18154", "#145538", "#ec55b5", "#787121", "#0f9293", "#65188d", "#9e0009")
DARK = ("#7cb4fc", "#b16f23", "#76eea5", "#e94287", "#fdd506", "#0f919c", "#9657e8", "#ec8d7a")
GREY = "#8a8f98"  # of what belongs to no class
_PALE, _DEEP = 0.55, 0.6  # how much of the hue is left in the second and third round
_WHITE, _NIGHT = "#ffffff", "#14171b"


def mixed(colour: str, share: float, ground: str = _WHITE) -> str:
    """So much of a colour on another."""
    pairs = zip(_parts(colour), _parts(ground), strict=True)
    return "#" + "".join(f"{round(under + (over - under) * share):02x}" for over, under in pairs)


def _rounds(hues: tuple[str, ...]) -> tuple[str, ...]:
    paler = (mixed(hue, _PALE) for hue in hues)
    deeper = (mixed(hue, _DEEP, _NIGHT) for hue in hues)
    return (*hues, *paler, *deeper)


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


COLOURS = _rounds(LIGHT)
DARK_COLOURS = _rounds(DARK)


def class_colour(number: int) -> str:
    """Of a class in a figure on white."""
    return COLOURS[number % len(COLOURS)]


def as_style() -> str:
    """The colours as variables of a style sheet, for the light and the dark page."""
    light, dark = (
        "".join(f"--class-{at}:{colour};" for at, colour in enumerate(colours)) for colours in (COLOURS, DARK_COLOURS)
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
