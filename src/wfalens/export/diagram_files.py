"""The diagram of a readable automaton in any format."""

from __future__ import annotations

from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.explanation.moves import moves, teller_of
from wfalens.export.diagram import ENOUGH, MOST_EDGES, Diagram
from wfalens.export.diagram_dot import GRAPHVIZ_FORMATS, drawn_by_graphviz, has_graphviz, to_diagram_dot
from wfalens.export.diagram_plain import drawn_plainly
from wfalens.messages import percent
from wfalens.validation import check_choice

DIAGRAM_FORMATS = (*GRAPHVIZ_FORMATS, "dot")


def diagram_of(wfa: WFA, most_edges: int = MOST_EDGES, enough: float = ENOUGH) -> Diagram:
    """What is drawn of a readable automaton: as few arrows as carry enough of the moves.

    The caption begins with its size and how faithful it was on texts held out from fitting, if that was recorded.
    """
    table, drawn = moves(wfa), teller_of(wfa).wfa
    size = f"An automaton with {drawn.states} states and {len(table.names.classes)} kinds of words. "
    found = recorded(drawn.provenance)
    faithful = (
        f"It gives the network's class to {percent(found.cr, 1)} of {found.texts:,} held-out texts. " if found else ""
    )
    return Diagram(table, most_edges, enough, size + faithful)


def draw_diagram(diagram: Diagram, ending: str, direction: str = "right") -> bytes:
    """The file. Graphviz places things where it is installed, else they stand in plain columns from left to right."""
    check_choice("format", ending, DIAGRAM_FORMATS)
    dot = to_diagram_dot(diagram, direction)
    if ending == "dot":
        return dot.encode()
    return drawn_by_graphviz(dot, ending) if has_graphviz() else drawn_plainly(diagram, ending)
