"""Questions about automata: what changed, what a text withstands, what words can do, which language was learned."""

from wfalens.robustness.certify.certificate import Certificate, Robustness, certify, certify_texts
from wfalens.robustness.certify.certify_model import CertifyOptions, certify_model
from wfalens.robustness.certify.character_certificates import EditCertificate, EditRobustness, certify_edits
from wfalens.robustness.certify.edits import Edits, Substitutes, read_lists
from wfalens.robustness.certify.network_certificates import NetworkCertificate, NetworkRobustness, certify_network
from wfalens.robustness.compare.changes import StateMatch, TextChanges, WordChanges
from wfalens.robustness.compare.compare import compare
from wfalens.robustness.compare.difference import Difference
from wfalens.robustness.dfa.learning import LearnedMachine, determinise, learn_machine, measure_machine
from wfalens.robustness.dfa.machines import (
    Machine,
    minimal,
    minimal_but_for_the_empty_text,
    read_machine,
    shortest_difference,
)
from wfalens.robustness.model_checking.model_check import (
    QUESTIONS,
    Answer,
    PropertyAnswer,
    Question,
    Witness,
    check,
    check_property,
)

__all__ = [
    "QUESTIONS",
    "Answer",
    "Certificate",
    "CertifyOptions",
    "Difference",
    "EditCertificate",
    "EditRobustness",
    "Edits",
    "LearnedMachine",
    "Machine",
    "NetworkCertificate",
    "NetworkRobustness",
    "PropertyAnswer",
    "Question",
    "Robustness",
    "StateMatch",
    "Substitutes",
    "TextChanges",
    "Witness",
    "WordChanges",
    "certify",
    "certify_edits",
    "certify_model",
    "certify_network",
    "certify_texts",
    "check",
    "check_property",
    "compare",
    "determinise",
    "learn_machine",
    "measure_machine",
    "minimal",
    "minimal_but_for_the_empty_text",
    "read_lists",
    "read_machine",
    "shortest_difference",
]
