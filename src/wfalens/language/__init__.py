"""Language models and their automata as distributions over strings."""

from wfalens.language.probability import Language, log_probability, perplexity
from wfalens.language.strings import most_likely, sample
from wfalens.models.contract import is_language_model

__all__ = [
    "Language",
    "is_language_model",
    "log_probability",
    "most_likely",
    "perplexity",
    "sample",
]
