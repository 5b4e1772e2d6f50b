"""From a finding to a better network: blamed training texts, likely label errors, a plan, and training again."""

from wfalens.repair.blame import (
    Blame,
    Diagnosis,
    LabelSuspect,
    SpuriousWord,
    blame,
    diagnose,
    errors_of,
    label_suspects,
    spurious_words,
)
from wfalens.repair.plan import HOW, Plan, Step, plan_for, relabelled
from wfalens.repair.repair_model import (
    RepairOptions,
    RepairResult,
    SliceChange,
    compare_errors,
    plan_repair,
    repair,
    retrain,
)

__all__ = [
    "HOW",
    "Blame",
    "Diagnosis",
    "LabelSuspect",
    "Plan",
    "RepairOptions",
    "RepairResult",
    "SliceChange",
    "SpuriousWord",
    "Step",
    "blame",
    "compare_errors",
    "diagnose",
    "errors_of",
    "label_suspects",
    "plan_for",
    "plan_repair",
    "relabelled",
    "repair",
    "retrain",
    "spurious_words",
]
