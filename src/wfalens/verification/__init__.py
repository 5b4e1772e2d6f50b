"""Questions about automata: what changed, what a text withstands, what words can do, which language was learned."""

from wfalens.verification.answers import Answer, Witness, check, check_property
from wfalens.verification.certificate import Certificate, certify
from wfalens.verification.changes import StateMatch, TextChanges, WordChanges
from wfalens.verification.character_edits import EditCertificate, EditRobustness, certify_edits
from wfalens.verification.diff import compare
from wfalens.verification.difference import Difference
from wfalens.verification.edits import Edits
from wfalens.verification.languages import determinise
from wfalens.verification.learning import LearnedMachine, learn_machine
from wfalens.verification.machine_files import read_machine, write_machine
from wfalens.verification.machines import Machine, minimal, minimal_but_for_the_empty_text, shortest_difference
from wfalens.verification.network import NetworkCertificate, NetworkRobustness, certify_network
from wfalens.verification.questions import QUESTIONS, Question, question
from wfalens.verification.robustness import Robustness, certify_texts
from wfalens.verification.smoothing import Smoothed, smooth
from wfalens.verification.substitutes import Substitutes, read_lists

__all__ = [
    "QUESTIONS",
    "Answer",
    "Certificate",
    "Difference",
    "EditCertificate",
    "EditRobustness",
    "Edits",
    "LearnedMachine",
    "Machine",
    "NetworkCertificate",
    "NetworkRobustness",
    "Question",
    "Robustness",
    "Smoothed",
    "StateMatch",
    "Substitutes",
    "TextChanges",
    "Witness",
    "WordChanges",
    "certify",
    "certify_edits",
    "certify_network",
    "certify_texts",
    "check",
    "check_property",
    "compare",
    "determinise",
    "learn_machine",
    "minimal",
    "minimal_but_for_the_empty_text",
    "question",
    "read_lists",
    "read_machine",
    "shortest_difference",
    "smooth",
    "write_machine",
]
