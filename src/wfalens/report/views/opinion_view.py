"""How the network reads, as a picture; what was found about it; and its readable automaton as a diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wfalens.explanation.opinion_line import opinion_lines
from wfalens.export.diagram import diagram_of
from wfalens.export.opinion_drawing import draw_opinions
from wfalens.models.inference import asks_every_prefix
from wfalens.report.study import Study, or_error


def opinion(study: Study, classes: Sequence[str] | None = None) -> dict[str, Any]:
    """The opinion lines with their pictures, wide and narrow; of many classes those with most texts, or the given."""
    found = opinion_lines(study.classifier, study.texts, classes, seed=study.seed)
    claims = or_error(findings, study).get("findings", ())  # why there are none is said by that view
    wide, narrow = (draw_opinions(found, claims, narrow=form).to_svg(own_style=False) for form in (False, True))
    return {**found.to_dict(), "title": found.title, "wide": wide, "narrow": narrow}


def findings(study: Study) -> dict[str, Any]:
    """Short claims about the network, the most useful first."""
    return study.findings.to_dict()


def states(study: Study) -> dict[str, Any]:
    """The readable automaton: its states by what the network says there, its moves and word clusters."""
    asked = study.model is not None and study.corpus is not None and not asks_every_prefix(study.model)
    texts = study.texts.subset(study.sample) if asked else None
    found = diagram_of(study.wfa, study.model if asked else None, texts)
    return {**found.to_dict(), "drawing": found.draw().to_svg(own_style=False)}
