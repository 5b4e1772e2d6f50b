"""The diagram of a readable automaton in any format."""

from __future__ import annotations

from wfalens.automaton.wfa import WFA
from wfalens.bounds import check_choice
from wfalens.explanation.moves import moves
from wfalens.export.diagram import ENOUGH, MOST_EDGES, Diagram
from wfalens.export.diagram_dot import GRAPHVIZ_FORMATS, drawn_by_graphviz, has_graphviz, to_diagram_dot
from wfalens.export.diagram_plain import drawn_plainly

DIAGRAM_FORMATS = (*GRAPHVIZ_FORMATS, "dot")


def diagram_of(wfa: WFA, most_edges: int = MOST_EDGES, enough: float = ENOUGH) -> Diagram:
    """What is drawn of a readable automaton: as few arrows as carry enough of the moves."""
    return Diagram(moves(wfa), most_edges, enough)


def draw_diagram(diagram: Diagram, ending: str, direction: str = "right") -> bytes:
    """The file. Graphviz places things where it is installed, else they stand in plain columns from left to right."""
    check_choice("format", ending, DIAGRAM_FORMATS)
    dot = to_diagram_dot(diagram, direction)
    if ending == "dot":
        return dot.encode()
    return drawn_by_graphviz(dot, ending) if has_graphviz() else drawn_plainly(diagram, ending)
