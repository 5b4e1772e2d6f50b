"""Questions about automata: what changed between two, what a text withstands, what words can do."""

from wfalens.verification.changes import StateMatch, TextChanges, WordChanges
from wfalens.verification.diff import compare
from wfalens.verification.difference import Difference

__all__ = ["Difference", "StateMatch", "TextChanges", "WordChanges", "compare"]
