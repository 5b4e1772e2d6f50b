"""From a finding to a better network: blamed training texts, suspects, a plan, and training on."""

from wfalens.repair.blame import Blame, blame, errors_of
from wfalens.repair.plan import HOW, Plan, Step, plan_for, relabelled
from wfalens.repair.repairing import Slice, compared, repair
from wfalens.repair.suspects import LabelSuspect, SpuriousWord, label_suspects, spurious_words

__all__ = [
    "HOW",
    "Blame",
    "LabelSuspect",
    "Plan",
    "Slice",
    "SpuriousWord",
    "Step",
    "blame",
    "compared",
    "errors_of",
    "label_suspects",
    "plan_for",
    "relabelled",
    "repair",
    "spurious_words",
]
