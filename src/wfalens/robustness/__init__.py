"""Questions about automata: what changed, what a text withstands, what words can do, which language was learned."""

from wfalens.robustness.certify.certificate import certify, certify_texts
from wfalens.robustness.certify.certify_model import CertifyOptions, certify_model
from wfalens.robustness.certify.edits import Edits, Substitutes, read_lists
from wfalens.robustness.certify.enumerated_certificates import certify_edits, certify_network
from wfalens.robustness.dfa import Machine, minimal, minimal_but_for_the_empty_text, read_machine, shortest_difference
from wfalens.robustness.dfa_learning import determinise, learn_machine, measure_machine
from wfalens.robustness.difference import compare
from wfalens.robustness.model_check import Question, check, check_property

__all__ = [
    "CertifyOptions",
    "Edits",
    "Machine",
    "Question",
    "Substitutes",
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
