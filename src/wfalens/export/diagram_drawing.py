"""Drawings of a readable automaton's diagram: by Graphviz where it is installed, else in columns by matplotlib."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.export.diagram import (
    ENOUGH,
    LEGEND_TITLES,
    MOST_EDGES,
    Diagram,
    Edge,
    LegendRow,
    diagram_of,
    rows_by_class,
    self_contained,
)
from wfalens.html import escaped
from wfalens.messages import percent
from wfalens.palette import mixed
from wfalens.storage import write_atomically
from wfalens.validation import check_choice

GRAPHVIZ_FORMATS = ("svg", "pdf", "png")
DIAGRAM_FORMATS = (*GRAPHVIZ_FORMATS, "dot")
_THINNEST, _WIDEST = 0.6, 7.0  # of an arrow
_CAPTION_WIDTH = 110  # characters in a line
DIRECTIONS = {"right": "LR", "down": "TB"}
_MANY_CLUSTERS = 16  # more stand in two columns
_SECONDS = 120.0
_HEAD = """digraph automaton {
  nodesep=0.3; ranksep=0.4; outputorder=edgesfirst; fontname="sans-serif"; labelloc=b; labeljust=l;
  bgcolor=white; pad=0.2;
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=13, color="#444444", margin="0.12,0.06"];
  edge [fontname="sans-serif", fontsize=10];"""
_WIDTH, _HEIGHT = 2.0, 0.72  # of a box in plain columns, in inches as all below
_COLUMN, _ROW = 4.0, 1.5  # between the middles of boxes
_LINE = 0.21
_BEND = 0.16
_STOPS = (0.25, 4.5, 7.2, 8.1)  # where the columns of the legend begin


def draw(
    wfa: WFA,
    path: str | Path,
    *,
    most_edges: int = MOST_EDGES,
    enough: float = ENOUGH,
    direction: str = "right",
) -> Diagram:
    """Draw a readable automaton, or that of any automaton, into a file: .svg, .pdf, .png or .dot.

    Args:
        wfa: an automaton that is readable or carries a readable one.
        path: its ending decides the format.
        most_edges: arrows at most.
        enough: the share of all moves that the arrows should carry.
        direction: "right" or "down", from the initial state on ("down" needs Graphviz).
    """
    ending = Path(path).suffix[1:].lower()
    if ending not in DIAGRAM_FORMATS:
        endings = ", ".join(f".{each}" for each in DIAGRAM_FORMATS)
        raise InputError(f"{path}: a drawing must end in {endings}", code="unknown-format")
    diagram = diagram_of(wfa, most_edges, enough)
    write_atomically(Path(path), draw_diagram(diagram, ending, direction))
    return diagram


def draw_diagram(diagram: Diagram, ending: str, direction: str = "right") -> bytes:
    """The file. Graphviz places things where it is installed, else they stand in plain columns from left to right."""
    check_choice("format", ending, DIAGRAM_FORMATS)
    dot = to_diagram_dot(diagram, direction)
    if ending == "dot":
        return dot.encode()
    return drawn_by_graphviz(dot, ending) if has_graphviz() else drawn_plainly(diagram, ending)


def to_diagram_dot(diagram: Diagram, direction: str = "right") -> str:
    """DOT for Graphviz, with caption and legend. Names stand in HTML-like labels only, escaped."""
    check_choice("direction", direction, tuple(DIRECTIONS))
    columns = diagram.columns
    lines = [_HEAD, f"  rankdir={DIRECTIONS[direction]};", f"  label=<{_foot(diagram)}>;"]
    for state in range(len(columns)):
        lines.append(f'  s{state} [label=<{_box(diagram.box(state))}>, fillcolor="{diagram.tint(state)}"];')
    for column in range(int(columns.max()) + 1):
        members = " ".join(f"s{state};" for state in np.flatnonzero(columns == column))
        lines.append(f"  {{ rank=same; {members} }}")
    widest = max((edge.share for edge in diagram.edges), default=1.0)
    lines += [_arrow(diagram, edge, float(np.sqrt(edge.share / widest))) for edge in diagram.edges]
    return "\n".join([*lines, "}", ""])


def has_graphviz() -> bool:
    return shutil.which("dot") is not None


def drawn_by_graphviz(dot: str, ending: str) -> bytes:
    """The drawing as svg, pdf or png."""
    program = shutil.which("dot")
    if program is None:
        raise InputError("Graphviz is not installed: its program dot is not found", code="graphviz")
    if ending not in GRAPHVIZ_FORMATS:
        raise InputError(f"Graphviz draws {', '.join(GRAPHVIZ_FORMATS)} here, not {ending!r}", code="unknown-format")
    resolution = ["-Gdpi=110"] if ending == "png" else []
    try:
        done = subprocess.run(  # noqa: S603 - the program is the installed one, its input is our own DOT
            [program, f"-T{ending}", *resolution], input=dot.encode(), capture_output=True, timeout=_SECONDS, check=True
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"Graphviz did not finish within {_SECONDS:g} seconds; draw fewer arrows", code="graphviz"
        ) from None
    except (subprocess.CalledProcessError, OSError) as error:
        raise InputError(f"Graphviz failed: {_reason(error)}", code="graphviz") from None
    return self_contained(done.stdout) if ending == "svg" else done.stdout


def _reason(error: Exception) -> str:
    output = error.stderr.decode(errors="replace").strip() if isinstance(error, subprocess.CalledProcessError) else ""
    return output or str(error)


def _arrow(diagram: Diagram, edge: Edge, strength: float) -> str:
    """A way back is written from right to left, so that it does not turn the drawing round."""
    back = diagram.columns[edge.target] < diagram.columns[edge.source]
    width = _THINNEST + (_WIDEST - _THINNEST) * strength
    label = f"<B>{_safe(percent(edge.rate))}</B><BR/><I>{_safe(edge.words)}</I>"
    ends = (edge.target, edge.source) if back else (edge.source, edge.target)
    return (
        f"  s{ends[0]} -> s{ends[1]} [label=<{label}>, penwidth={width:.2f}, arrowsize={0.5 + width / 12:.2f}, "
        f'color="{mixed(diagram.colour(edge.target), 0.75)}"{", dir=back, style=dashed" if back else ""}];'
    )


def _box(lines: list[str]) -> str:
    first, *rest = map(_safe, lines)
    return f"<B>{first}</B>" + "".join(f'<BR/><FONT POINT-SIZE="11">{line}</FONT>' for line in rest)


def _foot(diagram: Diagram) -> str:
    """The caption and the legend, as one table under the drawing."""
    caption = "<BR/>".join(map(_safe, textwrap.wrap(diagram.caption, _CAPTION_WIDTH)))
    clusters = diagram.legend()
    half = (len(clusters) + 1) // 2 if len(clusters) > _MANY_CLUSTERS else len(clusters)
    parts = [_legend(each) for each in (clusters[:half], clusters[half:]) if each]
    cells = "".join(f'<TD VALIGN="TOP" ALIGN="LEFT">{part}</TD>' for part in parts)
    return (
        '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="2"><TR>'
        f'<TD COLSPAN="{len(parts)}" ALIGN="LEFT" BALIGN="LEFT">{caption}</TD></TR><TR>{cells}</TR></TABLE>'
    )


def _legend(clusters: list[LegendRow]) -> str:
    head = "".join(f'<TD ALIGN="LEFT"><B>{each}</B></TD>' for each in (" ", *LEGEND_TITLES))
    rows = "".join(
        f'<TR><TD FIXEDSIZE="TRUE" WIDTH="16" HEIGHT="16" BGCOLOR="{cluster.colour}"></TD>'
        f'<TD ALIGN="LEFT">{_safe(cluster.words)}</TD><TD ALIGN="LEFT">{_safe(cluster.effect)}</TD>'
        f'<TD ALIGN="RIGHT">{_safe(cluster.moved)}</TD><TD ALIGN="RIGHT">{_safe(cluster.share)}</TD></TR>'
        for cluster in clusters
    )
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="4"><TR>{head}</TR>{rows}</TABLE>'


def _safe(text: str) -> str:
    """Text within an HTML-like label; Graphviz does not accept an empty one in bold."""
    return escaped(text).replace("&#x27;", "&#39;") or " "


def drawn_plainly(diagram: Diagram, ending: str) -> bytes:
    """The drawing as svg, pdf or png; the same diagram gives the same bytes."""
    import matplotlib as mpl

    blob = BytesIO()
    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    with mpl.rc_context({"svg.hashsalt": "wfalens", "svg.fonttype": "none"}):
        _plain_figure(diagram).savefig(blob, format=ending, dpi=110, metadata=stamp)
    return self_contained(blob.getvalue()) if ending == "svg" else blob.getvalue()


def middles(diagram: Diagram) -> NDArray[np.float64]:
    """Where the boxes stand: columns by how sure they are, rows by class, none upon another; (n, 2)"""
    rows = rows_by_class(diagram.table.centres, diagram.columns)
    return np.column_stack([_COLUMN * diagram.columns, _ROW * rows])


def _plain_figure(diagram: Diagram) -> Any:
    from matplotlib.figure import Figure

    points = middles(diagram)
    caption, clusters = textwrap.wrap(diagram.caption, _CAPTION_WIDTH), diagram.legend()
    foot = _LINE * (len(caption) + len(clusters) + 3)
    margin = np.array([_WIDTH, _HEIGHT])
    low, high = points.min(0) - margin, points.max(0) + margin
    high[0] = max(high[0], low[0] + 9.5)  # room for the caption
    figure = Figure(figsize=(high[0] - low[0], high[1] - low[1] + foot))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(low[0], high[0]), ylim=(high[1] + foot, low[1]))
    axes.set_axis_off()
    boxes = [_plain_box(axes, diagram, state, point) for state, point in enumerate(points)]
    widest = max((edge.share for edge in diagram.edges), default=1.0)
    for edge in diagram.edges:
        _plain_arrow(axes, diagram, edge, boxes, points, _THINNEST + 6.0 * float(np.sqrt(edge.share / widest)))
    _plain_foot(axes, caption, clusters, low[0] + 0.3, high[1])
    return figure


def _plain_box(axes: Any, diagram: Diagram, state: int, point: NDArray[np.float64]) -> Any:
    from matplotlib.patches import FancyBboxPatch

    corner = point - (_WIDTH / 2, _HEIGHT / 2)
    style: dict[str, Any] = {
        "boxstyle": "round,pad=0,rounding_size=0.12",
        "fc": diagram.tint(state),
        "ec": "#444444",
        "zorder": 3,
    }
    box = axes.add_patch(FancyBboxPatch(tuple(corner), _WIDTH, _HEIGHT, **style))
    name, *more = diagram.box(state)
    lines = textwrap.wrap(name, 26) or [""]
    for at, line in enumerate([*lines, *more]):
        y = point[1] + 0.17 * (at - (len(lines) + len(more) - 1) / 2)
        bold = {"weight": "bold", "size": 9} if at < len(lines) else {"size": 7.5}
        axes.text(point[0], y, _without_markup(line), ha="center", va="center", zorder=4, **bold)
    return box


def _plain_arrow(
    axes: Any, diagram: Diagram, edge: Edge, boxes: list[Any], points: NDArray[np.float64], width: float
) -> None:
    """A bow, so that the ways there and back do not cover each other; its label stands on its top."""
    from matplotlib.patches import FancyArrowPatch

    start, end = points[edge.source], points[edge.target]
    left, right = sorted((start, end), key=lambda point: float(point[0]))
    bend = _BEND if right[1] >= left[1] else -_BEND  # ways up bow upwards, ways down downwards
    back = diagram.columns[edge.target] < diagram.columns[edge.source]
    axes.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            connectionstyle=f"arc3,rad={bend}",
            patchA=boxes[edge.source],
            patchB=boxes[edge.target],
            arrowstyle=f"-|>,head_length={0.3 + width / 30:.2f},head_width={0.12 + width / 60:.2f}",
            mutation_scale=14,
            linewidth=width,
            linestyle=(0, (2, 1)) if back else "-",
            color=mixed(diagram.colour(edge.target), 0.75),
            zorder=1,
        )
    )
    across = np.array([end[1] - start[1], start[0] - end[0]])
    top = (start + end) / 2 - bend / 2 * across
    label = f"{percent(edge.rate)}  {edge.words}"
    held = {"fc": "white", "ec": "none", "alpha": 0.75, "pad": 0.5}
    axes.text(*top, _without_markup(label), size=7, style="italic", ha="center", va="center", zorder=2, bbox=held)


def _plain_foot(axes: Any, caption: list[str], clusters: list[LegendRow], left: float, top: float) -> None:
    """The caption and the legend of the word clusters."""
    for at, line in enumerate(caption):
        axes.text(left, top + _LINE * at, _without_markup(line), size=9, va="center")
    rows = [(*LEGEND_TITLES, "none"), *clusters]
    for at, (*cells, colour) in enumerate(rows):
        y = top + _LINE * (len(caption) + 1 + at)
        axes.plot([left + 0.08], [y], marker="s", markersize=7, color=colour, clip_on=False)
        for stop, cell in zip(_STOPS, cells, strict=True):
            axes.text(left + stop, y, _without_markup(cell), size=9, va="center", weight="normal" if at else "bold")


def _without_markup(text: str) -> str:
    """Without matplotlib's markup for formulas."""
    return text.replace("$", r"\$")
