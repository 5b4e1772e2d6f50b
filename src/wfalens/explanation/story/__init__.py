"""What a readable automaton does, in sentences with their figures."""

from wfalens.explanation.story.result import Sentence, Story
from wfalens.explanation.story.telling import describe

__all__ = ["Sentence", "Story", "describe"]
