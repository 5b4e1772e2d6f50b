"""What the report and the live page show, as plain data: one module per view."""

from wfalens.report.views.attacks_view import attacks
from wfalens.report.views.comparison_view import comparison
from wfalens.report.views.contrast_view import contrast, swaps
from wfalens.report.views.counterfactual_view import counterfactuals
from wfalens.report.views.overview import fidelity, overview
from wfalens.report.views.state_map import StateMap, state_map
from wfalens.report.views.texts_view import sentences, texts
from wfalens.report.views.trace_view import attribution, trace
from wfalens.report.views.words_view import WordTable, word_map, word_page, word_pages

__all__ = [
    "StateMap",
    "WordTable",
    "attacks",
    "attribution",
    "comparison",
    "contrast",
    "counterfactuals",
    "fidelity",
    "overview",
    "sentences",
    "state_map",
    "swaps",
    "texts",
    "trace",
    "word_map",
    "word_page",
    "word_pages",
]
