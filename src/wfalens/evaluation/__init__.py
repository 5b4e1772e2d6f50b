"""How faithful an automaton is to its model."""

from wfalens.divergence import jensen_shannon
from wfalens.evaluation.agreement import Agreement, Estimate, agreement
from wfalens.evaluation.explanations import ExplanationScores, evaluate_explanations
from wfalens.evaluation.fidelity import Fidelity
from wfalens.evaluation.groups import Gap, Group, GroupReport, Rates
from wfalens.evaluation.language_models import Likeness, StringFidelity, measure_strings
from wfalens.evaluation.measure_fidelity import measure_fidelity
from wfalens.evaluation.selective import Decile, Selection, SelectiveFidelity

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
    "agreement",
    "evaluate_explanations",
    "jensen_shannon",
    "measure_fidelity",
    "measure_strings",
]
