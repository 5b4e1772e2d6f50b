"""Language models and their automata as distributions over strings."""

from wfalens.models.next_symbol import END, tells_next_symbol
from wfalens.strings.language import Language, log_probability, perplexity
from wfalens.strings.likely import Likely, most_likely
from wfalens.strings.sampling import Drawn, sample
from wfalens.strings.standins import NGram, best_ngram

__all__ = [
    "END",
    "Drawn",
    "Language",
    "Likely",
    "NGram",
    "best_ngram",
    "log_probability",
    "most_likely",
    "perplexity",
    "sample",
    "tells_next_symbol",
]
