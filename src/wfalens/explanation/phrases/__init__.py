"""Words and phrases that decide by themselves: effects from the automaton, precision from texts."""

from wfalens.explanation.phrases.deciding import deciding_phrases
from wfalens.explanation.phrases.phrase_result import DecidingPhrases

__all__ = ["DecidingPhrases", "deciding_phrases"]
