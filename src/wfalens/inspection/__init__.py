"""What the report and the explorer show, as plain data: one module per view."""

from wfalens.inspection.attacks import attacks
from wfalens.inspection.comparison import comparison
from wfalens.inspection.flips import flips
from wfalens.inspection.map_building import state_map
from wfalens.inspection.overview import fidelity, overview
from wfalens.inspection.play import play
from wfalens.inspection.pocket import pocket
from wfalens.inspection.sentences import sentences
from wfalens.inspection.statemap import StateMap
from wfalens.inspection.study import Study, short
from wfalens.inspection.texts import texts
from wfalens.inspection.why import why
from wfalens.inspection.word_pairs import contrast, swaps
from wfalens.inspection.wordmap import word_map
from wfalens.inspection.words import WordTable, word_page, word_pages

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
