"""What the report and the live page show, as plain data: one module per view."""

from collections.abc import Callable
from typing import Any

from wfalens.report.views.attacks_view import attacks
from wfalens.report.views.comparison_view import comparison
from wfalens.report.views.counterfactual_view import counterfactuals
from wfalens.report.views.opinion_view import findings, opinion, states
from wfalens.report.views.overview import fidelity, overview
from wfalens.report.views.texts_view import sentences, texts
from wfalens.report.views.trace_view import attribution, trace
from wfalens.report.views.words_view import WordTable, measured, word_page, word_pages

__all__ = [
    "JOBS",
    "WordTable",
    "attacks",
    "attribution",
    "comparison",
    "counterfactuals",
    "fidelity",
    "findings",
    "measured",
    "opinion",
    "overview",
    "sentences",
    "states",
    "texts",
    "trace",
    "word_page",
    "word_pages",
]

# what takes seconds: made in the background for the live page
JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    view.__name__: view for view in (opinion, findings, fidelity, sentences, states, texts, attacks, comparison)
}
