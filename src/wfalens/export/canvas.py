"""A drawing as a list of shapes, written as SVG by our own code, or as PNG and PDF by matplotlib.

Colours are names: `ink`, `soft`, `line`, `panel`, `paper`, `grey`, or `class-3`. An SVG file follows the reader's light
or dark setting; on the page, the page's style sheet colours the same names. Words become markup only in `_text_tag`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from wfalens.errors import InputError
from wfalens.html import escaped
from wfalens.messages import printable
from wfalens.palette import COLOURS, DARK_COLOURS, GREY
from wfalens.storage import write_atomically

DRAWING_FORMATS = ("svg", "png", "pdf")
FONT = "Inter, system-ui, 'DejaVu Sans', sans-serif"
PLAIN_COLOURS = {  # light, dark; the page's style sheet has the same
    "ink": ("#1d232b", "#e6e9ec"),
    "soft": ("#56606c", "#a7b0ba"),
    "line": ("#d9dcd8", "#353c45"),
    "faint": ("#eef0ec", "#242a31"),
    "panel": ("#ffffff", "#1b1f25"),
    "grey": (GREY, GREY),
}
_EM, _BOLD_EM = 0.56, 0.64  # mean width of a letter, in font sizes
_CAPITAL_EM, _BROAD_EM, _DIGIT_EM = 0.14, 0.35, 0.08  # so much more of a capital, of one such as m, and of a digit
_FINENESS = 150  # dots per inch of a PNG; an inch is 100 pixels of the drawing

Point = tuple[float, float]


class Text(NamedTuple):
    """A line of text; on the page it is a link where it names a word or a text."""

    at: Point
    content: str
    size: float
    colour: str = "ink"
    bold: bool = False
    italic: bool = False
    anchor: str = "start"  # or middle, end
    link: Mapping[str, str] | None = None  # {"word": …} or {"text": …}


class Box(NamedTuple):
    """A rectangle with round corners."""

    at: Point
    width: float
    height: float
    colour: str
    opacity: float = 1.0
    radius: float = 6.0
    edge: str | None = None
    tip: str = ""


class Circle(NamedTuple):
    """A filled circle."""

    at: Point
    radius: float
    colour: str
    opacity: float = 1.0
    tip: str = ""


class Stroke(NamedTuple):
    """A line, or a curve with two control points, with an arrow head where `head` is its length."""

    points: Sequence[Point]  # two, or four
    colour: str
    width: float
    opacity: float = 1.0
    head: float = 0.0
    tip: str = ""


Shape = Text | Box | Circle | Stroke


@dataclass
class Canvas:
    """Shapes in pixels, the later ones above the earlier."""

    width: float
    height: float
    about: str  # for readers who do not see it
    shapes: list[Shape] = field(default_factory=list)

    def add(self, *shapes: Shape) -> None:
        self.shapes += shapes

    def to_svg(self, own_style: bool = True) -> str:
        """The drawing; without a style of its own, the page that holds it colours it."""
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        style = f"<style>{_style(self)}</style>" if own_style else ""
        ground = _tag("rect", {"width": "100%", "height": "100%", **_paint("panel")}) if own_style else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="drawn" role="group" font-family="{escaped(FONT)}" '
            f'aria-label="{_safe(self.about)}">{style}{ground}{"".join(map(_markup, self.shapes))}</svg>'
        )

    def to_bytes(self, ending: str) -> bytes:
        """The drawing as svg, png or pdf; equal drawings give equal bytes."""
        if ending == "svg":
            return self.to_svg().encode()
        if ending not in DRAWING_FORMATS:
            raise InputError(
                f"no drawing is written as {ending!r}; choose one of {', '.join(DRAWING_FORMATS)}", code="option-value"
            )
        blob = BytesIO()
        stamp = {"CreationDate": None} if ending == "pdf" else None
        _figure(self).savefig(blob, format=ending, dpi=_FINENESS, metadata=stamp)
        return blob.getvalue()

    def write(self, path: str | Path) -> None:
        """Into a file, in the format of its ending."""
        write_atomically(Path(path), self.to_bytes(Path(path).suffix[1:].lower()))


def width_of(text: str, size: float, bold: bool = False) -> float:
    """About how wide a line is, in pixels; a little more rather than less."""
    wide, capitals = sum(unicodedata.east_asian_width(char) in "WF" for char in text), sum(map(str.isupper, text))
    broad, digits = sum(char in "mwMW@" for char in text), sum(map(str.isdigit, text))
    more = 1.05 * wide + _CAPITAL_EM * capitals + _BROAD_EM * broad + _DIGIT_EM * digits
    return size * ((len(text) - wide) * (_BOLD_EM if bold else _EM) + more)


def fitted(text: str, size: float, room: float, bold: bool = False) -> str:
    """The beginning of a text that fits, with an ellipsis where it is cut."""
    text = printable(text[: 8 + int(4 * room / size)])  # more never fits
    if width_of(text, size, bold) <= room:
        return text
    while text and width_of(f"{text}…", size, bold) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrapped(text: str, size: float, room: float, most: int = 3, bold: bool = False) -> list[str]:
    """A text in lines that fit; where there are too many, the last ends with an ellipsis."""
    lines: list[str] = []
    for word in re.split(r"\s+(?!%)", printable(text).strip()):  # a figure and its unit stay together
        if lines and width_of(f"{lines[-1]} {word}", size, bold) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [fitted(line, size, room, bold) for line in lines]


def colours_of(name: str) -> tuple[str, str]:
    """A named colour on a light and on a dark ground."""
    if name.startswith("class-"):
        number = int(name[6:]) % len(COLOURS)
        return COLOURS[number], DARK_COLOURS[number]
    return PLAIN_COLOURS[name]


def _style(canvas: Canvas) -> str:
    """The dark colours, by class; the light ones are attributes, which every reader of SVG understands."""
    names = {"panel", *(each.colour for each in canvas.shapes)}
    names |= {each.edge for each in canvas.shapes if isinstance(each, Box) and each.edge is not None}
    rules = "".join(
        f".f-{name}{{fill:{colours_of(name)[1]}}}.s-{name}{{stroke:{colours_of(name)[1]}}}" for name in sorted(names)
    )
    return f":root{{color-scheme:light dark}}@media (prefers-color-scheme:dark){{{rules}}}"


def _markup(shape: Shape) -> str:
    if isinstance(shape, Text):
        return _text_tag(shape)
    if isinstance(shape, Box):
        place = {"x": shape.at[0], "y": shape.at[1], "width": shape.width, "height": shape.height, "rx": shape.radius}
        return _tag("rect", place | _paint(shape.colour, shape.opacity, shape.edge), shape.tip)
    if isinstance(shape, Circle):
        place = {"cx": shape.at[0], "cy": shape.at[1], "r": shape.radius}
        return _tag("circle", place | _paint(shape.colour, shape.opacity), shape.tip)
    path, head = _path(shape)
    line: dict[str, Any] = {
        "d": path,
        "fill": "none",
        "stroke": colours_of(shape.colour)[0],
        "class": f"s-{shape.colour}",
    }
    line |= {"stroke-width": shape.width, "stroke-opacity": shape.opacity, "stroke-linecap": "butt"}
    drawn = _tag("path", line, shape.tip)
    return drawn + (_tag("path", {"d": head} | _paint(shape.colour)) if head else "")


def _text_tag(shape: Text) -> str:
    """The one place where words become markup."""
    place: dict[str, Any] = {"x": shape.at[0], "y": shape.at[1], "font-size": shape.size, "text-anchor": shape.anchor}
    more: dict[str, Any] = {"font-weight": 700} if shape.bold else {}
    more |= {"font-style": "italic"} if shape.italic else {}
    more |= {f"data-{name}": value for name, value in (shape.link or {}).items()}
    return f"<text{_attributes(place | more | _paint(shape.colour))}>{_safe(shape.content)}</text>"


def _tag(name: str, attributes: dict[str, Any], tip: str = "") -> str:
    content = f"><title>{_safe(tip)}</title></{name}>" if tip else "/>"
    return f"<{name}{_attributes(attributes)}{content}"


def _attributes(values: dict[str, Any]) -> str:
    shown = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in values.items()}
    return "".join(f' {name}="{_safe(str(value))}"' for name, value in shown.items())


def _paint(colour: str, opacity: float = 1.0, edge: str | None = None) -> dict[str, Any]:
    names = f"f-{colour}" + (f" s-{edge}" if edge else "")
    painted: dict[str, Any] = {"fill": colours_of(colour)[0], "class": names}
    painted |= {"fill-opacity": opacity} if opacity < 1 else {}
    return painted | ({"stroke": colours_of(edge)[0]} if edge else {})


def _safe(text: str) -> str:
    return escaped(printable(text))


def _head(stroke: Stroke) -> tuple[Point, list[Point]]:
    """Where the line ends below its head, and the three corners of the head."""
    (x0, y0), (x1, y1) = stroke.points[-2:]
    away = max(1e-9, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
    dx, dy, wide = (x1 - x0) / away, (y1 - y0) / away, 0.45 * stroke.head
    foot = (x1 - stroke.head * dx, y1 - stroke.head * dy)
    return foot, [(x1, y1), (foot[0] - wide * dy, foot[1] + wide * dx), (foot[0] + wide * dy, foot[1] - wide * dx)]


def _path(stroke: Stroke) -> tuple[str, str]:
    """The path of a stroke, and that of its head, "" without one."""

    def joined(points: Sequence[Point]) -> Iterator[str]:
        return (f"{x:.1f},{y:.1f}" for x, y in points)

    points, head = list(stroke.points), ""
    if stroke.head:
        points[-1], corners = _head(stroke)
        head = f"M{'L'.join(joined(corners))}z"
    start, *rest = joined(points)
    return f"M{start}{'L' if len(rest) == 1 else 'C'}{' '.join(rest)}", head


def _figure(canvas: Canvas) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(canvas.width / 100, canvas.height / 100), facecolor=colours_of("panel")[0])
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, canvas.width), ylim=(canvas.height, 0))
    axes.set_axis_off()
    for order, shape in enumerate(canvas.shapes):
        _plot(axes, shape, order)
    return figure


def _plot(axes: Any, shape: Shape, order: int) -> None:
    """A shape in matplotlib, whose sizes of type and lines are in points: 72 for 100 pixels."""
    from matplotlib import patches
    from matplotlib.path import Path as Curve

    colour = colours_of(shape.colour)[0]
    if isinstance(shape, Text):
        style = {"weight": "bold" if shape.bold else "normal", "style": "italic" if shape.italic else "normal"}
        align = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        content = printable(shape.content).replace("$", r"\$")
        axes.text(*shape.at, content, size=0.72 * shape.size, color=colour, ha=align, zorder=order, **style)
        return
    if isinstance(shape, Stroke):
        points, curve = list(shape.points), len(shape.points) == 4
        if shape.head:
            points[-1], corners = _head(shape)
            axes.add_patch(patches.Polygon(corners, color=colour, lw=0, zorder=order))
        codes = [Curve.MOVETO, *([Curve.CURVE4] * 3 if curve else [Curve.LINETO])]
        line = {"lw": 0.72 * shape.width, "alpha": shape.opacity, "capstyle": "butt", "fill": False}
        axes.add_patch(patches.PathPatch(Curve(points, codes), edgecolor=colour, zorder=order, **line))
        return
    drawn: Any
    if isinstance(shape, Box):
        radius = f"round,pad=0,rounding_size={min(shape.radius, shape.width / 2, shape.height / 2):g}"
        drawn = patches.FancyBboxPatch(shape.at, shape.width, shape.height, boxstyle=radius)
        drawn.set_edgecolor(colours_of(shape.edge)[0] if shape.edge else "none")
    else:
        drawn = patches.Circle(shape.at, shape.radius, linewidth=0)
    drawn.set(facecolor=(colour, shape.opacity), zorder=order)
    axes.add_patch(drawn)
