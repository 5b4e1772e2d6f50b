"""From a finding to a better network: blamed training texts, likely label errors, a plan, and training again."""

from wfalens.evaluation.label_errors import find_label_errors
from wfalens.repair.blame import blame, diagnose, errors_of
from wfalens.repair.repair_model import (
    Plan,
    PlanStep,
    RepairOptions,
    compare_errors,
    plan_for,
    relabelled,
    repair,
    retrain,
)

__all__ = [
    "Plan",
    "PlanStep",
    "RepairOptions",
    "blame",
    "compare_errors",
    "diagnose",
    "errors_of",
    "find_label_errors",
    "plan_for",
    "relabelled",
    "repair",
    "retrain",
]
