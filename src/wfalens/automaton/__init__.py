"""The result: the automaton, its kernels and its file."""

from wfalens.automaton.completion import COMPLETIONS, Empirical, Fitted, Null, Probe, Shared, Uniform
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.walk import ROW_KINDS, Walk
from wfalens.automaton.wfa import UNDECIDED, WFA

__all__ = [
    "COMPLETIONS",
    "ROW_KINDS",
    "UNDECIDED",
    "WFA",
    "Empirical",
    "Fitted",
    "LinearWFA",
    "Null",
    "Probe",
    "Shared",
    "StochasticWFA",
    "Uniform",
    "Walk",
]
