"""What the report and the explorer show, as plain data: one module per view."""

from wfalens.report.embedded_runtime import pocket
from wfalens.report.study import Study, short
from wfalens.report.views.attacks_view import attacks
from wfalens.report.views.attribution_view import why
from wfalens.report.views.comparison_view import comparison
from wfalens.report.views.contrast_view import contrast, swaps
from wfalens.report.views.counterfactual_view import flips
from wfalens.report.views.map_building import state_map
from wfalens.report.views.overview import fidelity, overview
from wfalens.report.views.sentences_view import sentences
from wfalens.report.views.statemap import StateMap
from wfalens.report.views.texts_view import texts
from wfalens.report.views.trace_view import play
from wfalens.report.views.word_map_view import word_map
from wfalens.report.views.words_view import WordTable, word_page, word_pages

__all__ = [
    "StateMap",
    "Study",
    "WordTable",
    "attacks",
    "comparison",
    "contrast",
    "fidelity",
    "flips",
    "overview",
    "play",
    "pocket",
    "sentences",
    "short",
    "state_map",
    "swaps",
    "texts",
    "why",
    "word_map",
    "word_page",
    "word_pages",
]
