"""The colours of classes, on paper and in the dark. In a figure a colour always means a class; all else is grey.

Eight hues that readers with any kind of colour vision can tell apart, then the same eight paler, then darker. A class
with a higher number has the colour of one with a lower; its name stands beside it.
"""

from __future__ import annotations

# orange, blue, green, pink, ochre, teal, purple, red: of two classes the first is warm and the second cool
LIGHT = ("#c8501e", "#1f66c9", "#145538", "#ec55b5", "#c08a1e", "#0fa46f", "#65188d", "#9e0009")
DARK = ("#f0894f", "#7cb4fc", "#76eea5", "#e94287", "#fdd506", "#0f919c", "#9657e8", "#b04a3a")
FOR, AGAINST = LIGHT[1], LIGHT[0]  # a class, where only one is shown
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


def as_style() -> str:
    """The colours as variables of a style sheet, each for the light and the dark page, and as classes of drawings."""
    pairs = enumerate(zip(COLOURS, DARK_COLOURS, strict=True))
    variables = {f"class-{at}": f"light-dark({light},{dark})" for at, (light, dark) in pairs} | {"grey": GREY}
    values = "".join(f"--{each}:{value};" for each, value in variables.items())
    names = ("ink", "soft", "line", "faint", "panel", *variables)
    drawn = "".join(f".f-{each}{{fill:var(--{each})}}.s-{each}{{stroke:var(--{each})}}" for each in names)
    return f":root{{{values}}}\n{drawn}\n"
