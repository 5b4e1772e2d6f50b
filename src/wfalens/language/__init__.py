"""Language models and their automata as distributions over strings."""

from wfalens.language.most_likely import Likely, most_likely
from wfalens.language.ngrams import NGram, best_ngram
from wfalens.language.probability import Language, log_probability, perplexity
from wfalens.language.sampling import Drawn, sample
from wfalens.models.contract import END, is_language_model

__all__ = [
    "END",
    "Drawn",
    "Language",
    "Likely",
    "NGram",
    "best_ngram",
    "is_language_model",
    "log_probability",
    "most_likely",
    "perplexity",
    "sample",
]
