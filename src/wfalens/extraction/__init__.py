"""Extraction of automata from models: one door, `extract`, and the options of each method."""

from wfalens.errors import naming_extras

with naming_extras():
    from wfalens.extraction.completion.augmentation import Augmentation
    from wfalens.extraction.extract import extract
    from wfalens.extraction.linear.linear_options import Linear
    from wfalens.extraction.method import METHODS, Method, Request
    from wfalens.extraction.readable.readable_options import Readable
    from wfalens.extraction.refinement.refine import Refinement, refine
    from wfalens.extraction.states import Abstraction, PrefixOutputs, States, View
    from wfalens.extraction.stochastic.paper import Paper, Stochastic, completion_method
    from wfalens.extraction.transitions import TransitionCounts, count_transitions

__all__ = [
    "METHODS",
    "Abstraction",
    "Augmentation",
    "Linear",
    "Method",
    "Paper",
    "PrefixOutputs",
    "Readable",
    "Refinement",
    "Request",
    "States",
    "Stochastic",
    "TransitionCounts",
    "View",
    "completion_method",
    "count_transitions",
    "extract",
    "refine",
]
