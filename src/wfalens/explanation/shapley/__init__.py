"""Shapley values: exact ones of automata, and those of networks with the automaton as control variate."""

from wfalens.explanation.shapley.game import ABSENCES
from wfalens.explanation.shapley.network_values import network_shapley
from wfalens.explanation.shapley.shapley_values import Interactions, banzhaf, interactions, shapley, shapley_each

__all__ = [
    "ABSENCES",
    "Interactions",
    "banzhaf",
    "interactions",
    "network_shapley",
    "shapley",
    "shapley_each",
]
