"""Extraction of automata from models: one door, `extract`, and the options of each method."""

from wfalens.errors import naming_extras

with naming_extras():
    from wfalens.extraction.completion.augmentation import Augmentation as Augmentation
    from wfalens.extraction.extract import extract as extract
    from wfalens.extraction.linear.linear_options import Linear as Linear
    from wfalens.extraction.method import METHODS as METHODS
    from wfalens.extraction.method import Method as Method
    from wfalens.extraction.method import Request as Request
    from wfalens.extraction.readable.readable_options import Readable as Readable
    from wfalens.extraction.refinement.refine import Refinement as Refinement
    from wfalens.extraction.refinement.refine import refine as refine
    from wfalens.extraction.states import Abstraction as Abstraction
    from wfalens.extraction.states import PrefixOutputs as PrefixOutputs
    from wfalens.extraction.states import States as States
    from wfalens.extraction.states import View as View
    from wfalens.extraction.stochastic.paper import Paper as Paper
    from wfalens.extraction.stochastic.paper import Stochastic as Stochastic
    from wfalens.extraction.stochastic.paper import completion_method as completion_method
    from wfalens.extraction.transitions import TransitionCounts as TransitionCounts
    from wfalens.extraction.transitions import count_transitions as count_transitions
