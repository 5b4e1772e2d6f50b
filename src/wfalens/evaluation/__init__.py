"""How faithful an automaton is to its model."""

from wfalens.divergence import jensen_shannon
from wfalens.evaluation.agreement import Agreement, Estimate, agreement
from wfalens.evaluation.baselines import BaselineCheck, check_baseline
from wfalens.evaluation.explanations import ExplanationScores, compare_explanations, evaluate_explanations
from wfalens.evaluation.extraction_texts import find_extraction_texts
from wfalens.evaluation.fidelity import Fidelity, measure_fidelity
from wfalens.evaluation.groups import Gap, Group, GroupReport, Rates
from wfalens.evaluation.language_models import LanguageModelFidelity, PrefixAgreement, measure_language_model
from wfalens.evaluation.selective import Decile, Selection, SelectiveFidelity
from wfalens.evaluation.text_trace import TextTrace, trace_text

__all__ = [
    "Agreement",
    "BaselineCheck",
    "Decile",
    "Estimate",
    "ExplanationScores",
    "Fidelity",
    "Gap",
    "Group",
    "GroupReport",
    "LanguageModelFidelity",
    "PrefixAgreement",
    "Rates",
    "Selection",
    "SelectiveFidelity",
    "TextTrace",
    "agreement",
    "check_baseline",
    "compare_explanations",
    "evaluate_explanations",
    "find_extraction_texts",
    "jensen_shannon",
    "measure_fidelity",
    "measure_language_model",
    "trace_text",
]
