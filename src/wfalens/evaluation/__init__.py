"""How faithful an automaton is to its model."""

from wfalens.divergence import jensen_shannon
from wfalens.evaluation.agreement import Agreement, Estimate, agreement
from wfalens.evaluation.explanations import ExplanationScores, evaluate_explanations
from wfalens.evaluation.extraction_texts import find_extraction_texts
from wfalens.evaluation.fidelity import Fidelity
from wfalens.evaluation.groups import Gap, Group, GroupReport, Rates
from wfalens.evaluation.language_models import Likeness, StringFidelity, measure_strings
from wfalens.evaluation.measure_fidelity import measure_fidelity
from wfalens.evaluation.selective import Decile, Selection, SelectiveFidelity
from wfalens.evaluation.text_trace import TextTrace, trace_text

__all__ = [
    "Agreement",
    "Decile",
    "Estimate",
    "ExplanationScores",
    "Fidelity",
    "Gap",
    "Group",
    "GroupReport",
    "Likeness",
    "Rates",
    "Selection",
    "SelectiveFidelity",
    "StringFidelity",
    "TextTrace",
    "agreement",
    "evaluate_explanations",
    "find_extraction_texts",
    "jensen_shannon",
    "measure_fidelity",
    "measure_strings",
    "trace_text",
]
