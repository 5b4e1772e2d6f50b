"""The algorithm, one step per module: traces, abstraction, transitions, augmentation, probing, extractor."""

from wfalens.extraction.augmentation import Augmentation
from wfalens.extraction.distillation import Distillation
from wfalens.extraction.extractor import Extractor
from wfalens.extraction.fitting import Fitting
from wfalens.extraction.transitions import TransitionCounts, count_transitions

__all__ = ["Augmentation", "Distillation", "Extractor", "Fitting", "TransitionCounts", "count_transitions"]
