"""What a readable automaton does, for the page: sentences, and the diagram as an image that nothing is loaded for."""

from __future__ import annotations

import base64
from typing import Any

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.story import describe
from wfalens.export.diagram_files import diagram_of, draw_diagram


def reading(wfa: WFA) -> dict[str, Any] | None:
    """The story and the diagram, whose caption stands below it; None for automata that cannot be read on a page.

    What cannot be told or drawn carries the reason instead.
    """
    if not isinstance(wfa, StochasticWFA) or wfa.names is None:
        return None
    try:
        told = [{"about": each.about, "text": each.text} for each in describe(wfa).sentences]
    except InputError as error:
        return {"story": [], "error": str(error)}
    try:
        diagram = diagram_of(wfa)
        image = base64.b64encode(draw_diagram(diagram, "svg")).decode()
    except InputError as error:
        return {"story": told, "error": str(error)}
    return {"story": told, "diagram": f"data:image/svg+xml;base64,{image}", "caption": diagram.caption}
