"""The diagram of a readable automaton as DOT, and drawn by Graphviz where that is installed."""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from html import escape

import numpy as np

from wfalens.errors import InputError
from wfalens.export.diagram import KIND_TITLES, Diagram, Edge, Kind, self_contained
from wfalens.messages import percent
from wfalens.palette import mixed
from wfalens.validation import check_choice

GRAPHVIZ_FORMATS = ("svg", "pdf", "png")
_THINNEST, _WIDEST = 0.6, 7.0
_CAPTION_WIDTH = 110  # characters in a line
DIRECTIONS = {"right": "LR", "down": "TB"}
_MANY_KINDS = 16  # of words: more stand in two columns
_SECONDS = 120.0
_HEAD = """digraph automaton {
  nodesep=0.3; ranksep=0.4; outputorder=edgesfirst; fontname="sans-serif"; labelloc=b; labeljust=l;
  bgcolor=white; pad=0.2;
  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=13, color="#444444", margin="0.12,0.06"];
  edge [fontname="sans-serif", fontsize=10];"""


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
        raise InputError("Graphviz is not installed: its program dot is not found")
    if ending not in GRAPHVIZ_FORMATS:
        raise InputError(f"Graphviz is asked for {', '.join(GRAPHVIZ_FORMATS)}, not {ending!r}")
    resolution = ["-Gdpi=110"] if ending == "png" else []
    try:
        done = subprocess.run(  # noqa: S603 - the program is the installed one, its input is our own DOT
            [program, f"-T{ending}", *resolution], input=dot.encode(), capture_output=True, timeout=_SECONDS, check=True
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"Graphviz did not finish within {_SECONDS:g} seconds; draw fewer arrows") from None
    except (subprocess.CalledProcessError, OSError) as error:
        raise InputError(f"Graphviz failed: {_reason(error)}") from None
    return self_contained(done.stdout) if ending == "svg" else done.stdout


def _reason(error: Exception) -> str:
    said = error.stderr.decode(errors="replace").strip() if isinstance(error, subprocess.CalledProcessError) else ""
    return said or str(error)


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
    kinds = diagram.legend()
    half = (len(kinds) + 1) // 2 if len(kinds) > _MANY_KINDS else len(kinds)
    parts = [_legend(each) for each in (kinds[:half], kinds[half:]) if each]
    cells = "".join(f'<TD VALIGN="TOP" ALIGN="LEFT">{part}</TD>' for part in parts)
    return (
        '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="2"><TR>'
        f'<TD COLSPAN="{len(parts)}" ALIGN="LEFT" BALIGN="LEFT">{caption}</TD></TR><TR>{cells}</TR></TABLE>'
    )


def _legend(kinds: list[Kind]) -> str:
    head = "".join(f'<TD ALIGN="LEFT"><B>{each}</B></TD>' for each in (" ", *KIND_TITLES))
    rows = "".join(
        f'<TR><TD FIXEDSIZE="TRUE" WIDTH="16" HEIGHT="16" BGCOLOR="{kind.colour}"></TD>'
        f'<TD ALIGN="LEFT">{_safe(kind.words)}</TD><TD ALIGN="LEFT">{_safe(kind.effect)}</TD>'
        f'<TD ALIGN="RIGHT">{_safe(kind.moved)}</TD><TD ALIGN="RIGHT">{_safe(kind.share)}</TD></TR>'
        for kind in kinds
    )
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="1" CELLPADDING="4"><TR>{head}</TR>{rows}</TABLE>'


def _safe(text: str) -> str:
    """Text within an HTML-like label; Graphviz does not accept an empty one in bold."""
    return escape(text).replace("&#x27;", "&#39;") or " "
