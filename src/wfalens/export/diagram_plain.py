"""The diagram of a readable automaton where Graphviz is not installed: columns of boxes, drawn by matplotlib."""

from __future__ import annotations

import textwrap
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.export.diagram import KIND_TITLES, Diagram, Edge, Kind, rows_by_class, self_contained
from wfalens.messages import percent
from wfalens.palette import mixed

_WIDTH, _HEIGHT = 2.0, 0.72  # of a box; everything is in inches
_COLUMN, _ROW = 4.0, 1.5  # between the middles of boxes
_LINE = 0.21
_WIDEST, _BEND = 6.0, 0.16
_CAPTION_WIDTH = 110  # characters
_STOPS = (0.25, 4.5, 7.2, 8.1)  # where the columns of the legend begin


def drawn_plainly(diagram: Diagram, ending: str) -> bytes:
    """The drawing as svg, pdf or png; the same diagram gives the same bytes."""
    import matplotlib as mpl

    blob = BytesIO()
    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    with mpl.rc_context({"svg.hashsalt": "wfalens", "svg.fonttype": "none"}):
        _figure(diagram).savefig(blob, format=ending, dpi=110, metadata=stamp)
    return self_contained(blob.getvalue()) if ending == "svg" else blob.getvalue()


def middles(diagram: Diagram) -> NDArray[np.float64]:
    """Where the boxes stand: columns by how sure they are, rows by class, none upon another; (n, 2)"""
    rows = rows_by_class(diagram.table.centres, diagram.columns)
    return np.column_stack([_COLUMN * diagram.columns, _ROW * rows])


def _figure(diagram: Diagram) -> Any:
    from matplotlib.figure import Figure

    points = middles(diagram)
    caption, kinds = textwrap.wrap(diagram.caption, _CAPTION_WIDTH), diagram.legend()
    foot = _LINE * (len(caption) + len(kinds) + 3)
    margin = np.array([_WIDTH, _HEIGHT])
    low, high = points.min(0) - margin, points.max(0) + margin
    high[0] = max(high[0], low[0] + 9.5)  # room for the caption
    figure = Figure(figsize=(high[0] - low[0], high[1] - low[1] + foot))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(low[0], high[0]), ylim=(high[1] + foot, low[1]))
    axes.set_axis_off()
    boxes = [_box(axes, diagram, state, point) for state, point in enumerate(points)]
    widest = max((edge.share for edge in diagram.edges), default=1.0)
    for edge in diagram.edges:
        _arrow(axes, diagram, edge, boxes, points, 0.6 + _WIDEST * float(np.sqrt(edge.share / widest)))
    _foot(axes, caption, kinds, low[0] + 0.3, high[1])
    return figure


def _box(axes: Any, diagram: Diagram, state: int, point: NDArray[np.float64]) -> Any:
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
        axes.text(point[0], y, _plain(line), ha="center", va="center", zorder=4, **bold)
    return box


def _arrow(
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
    axes.text(*top, _plain(label), size=7, style="italic", ha="center", va="center", zorder=2, bbox=held)


def _foot(axes: Any, caption: list[str], kinds: list[Kind], left: float, top: float) -> None:
    """The caption and the legend of the kinds of words."""
    for at, line in enumerate(caption):
        axes.text(left, top + _LINE * at, _plain(line), size=9, va="center")
    rows = [(*KIND_TITLES, "none"), *kinds]
    for at, (*cells, colour) in enumerate(rows):
        y = top + _LINE * (len(caption) + 1 + at)
        axes.plot([left + 0.08], [y], marker="s", markersize=7, color=colour, clip_on=False)
        for stop, cell in zip(_STOPS, cells, strict=True):
            axes.text(left + stop, y, _plain(cell), size=9, va="center", weight="normal" if at else "bold")


def _plain(text: str) -> str:
    """Without matplotlib's markup for formulas."""
    return text.replace("$", r"\$")
