"""Questions about automata: what changed between two, what a text withstands, what words can do."""

from wfalens.verification.certificate import Certificate, certify
from wfalens.verification.changes import StateMatch, TextChanges, WordChanges
from wfalens.verification.diff import compare
from wfalens.verification.difference import Difference
from wfalens.verification.robustness import Robustness, certify_texts
from wfalens.verification.substitutes import Substitutes

__all__ = [
    "Certificate",
    "Difference",
    "Robustness",
    "StateMatch",
    "Substitutes",
    "TextChanges",
    "WordChanges",
    "certify",
    "certify_texts",
    "compare",
]
