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
    """The story and the diagram, whose caption stands below it; None for automata that cannot be read on a page."""
    if not isinstance(wfa, StochasticWFA) or wfa.names is None:
        return None
    try:
        story, diagram = describe(wfa), diagram_of(wfa)
        image = base64.b64encode(draw_diagram(diagram, "svg")).decode()
    except InputError as error:
        return {"error": str(error)}
    told = [{"about": each.about, "text": each.text} for each in story.sentences]
    return {"story": told, "diagram": f"data:image/svg+xml;base64,{image}", "caption": diagram.caption}
