"""Questions about automata: what changed, what a text withstands, what words can do, which language was learned."""

from wfalens.verification.answers import Answer, Witness, check, check_property
from wfalens.verification.certificate import Certificate, certify
from wfalens.verification.changes import StateMatch, TextChanges, WordChanges
from wfalens.verification.diff import compare
from wfalens.verification.difference import Difference
from wfalens.verification.languages import determinise
from wfalens.verification.machines import Machine, minimal, minimal_but_for_the_empty_text, shortest_difference
from wfalens.verification.questions import QUESTIONS, Question, question
from wfalens.verification.robustness import Robustness, certify_texts
from wfalens.verification.substitutes import Substitutes

__all__ = [
    "QUESTIONS",
    "Answer",
    "Certificate",
    "Difference",
    "Machine",
    "Question",
    "Robustness",
    "StateMatch",
    "Substitutes",
    "TextChanges",
    "Witness",
    "WordChanges",
    "certify",
    "certify_texts",
    "check",
    "check_property",
    "compare",
    "determinise",
    "minimal",
    "minimal_but_for_the_empty_text",
    "question",
    "shortest_difference",
]
