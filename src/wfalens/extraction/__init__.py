"""The algorithm, one step per module: traces, abstraction, transitions, augmentation, probing, fitting."""

from wfalens.extraction.abstraction import Abstraction, States
from wfalens.extraction.augmentation import Augmentation
from wfalens.extraction.distillation import Distillation
from wfalens.extraction.extractor import Extractor
from wfalens.extraction.fitting import Fitting
from wfalens.extraction.transitions import TransitionCounts, count_transitions
from wfalens.extraction.views import Seen, View

__all__ = [
    "Abstraction",
    "Augmentation",
    "Distillation",
    "Extractor",
    "Fitting",
    "Seen",
    "States",
    "TransitionCounts",
    "View",
    "count_transitions",
]
