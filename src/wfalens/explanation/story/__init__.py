"""What a readable automaton does, in sentences with their figures."""

from wfalens.explanation.story.sentences import describe
from wfalens.explanation.story.story import Sentence, Story

__all__ = ["Sentence", "Story", "describe"]
