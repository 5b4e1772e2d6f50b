"""The algorithm, one step per module: traces, abstraction, transitions, augmentation, probing, fitting."""

from wfalens.errors import naming_extras

with naming_extras():
    from wfalens.extraction.completion.augmentation import Augmentation
    from wfalens.extraction.completion.fitting import Fitting
    from wfalens.extraction.counts.transitions import TransitionCounts, count_transitions
    from wfalens.extraction.extractor import Extractor
    from wfalens.extraction.linear.linear_options import Distillation
    from wfalens.extraction.readable.readable_options import Sharing
    from wfalens.extraction.refinement.refine import Refinement, refine
    from wfalens.extraction.states.abstraction import Abstraction, States
    from wfalens.extraction.states.views import PrefixOutputs, View

__all__ = [
    "Abstraction",
    "Augmentation",
    "Distillation",
    "Extractor",
    "Fitting",
    "PrefixOutputs",
    "Refinement",
    "Sharing",
    "States",
    "TransitionCounts",
    "View",
    "count_transitions",
    "refine",
]
