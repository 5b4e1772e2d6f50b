"""Shapley values: exact ones of automata, and those of networks by regression on the automaton's residual."""

from wfalens.explanation.shapley.game import ABSENCES
from wfalens.explanation.shapley.network_values import network_shapley
from wfalens.explanation.shapley.shapley_values import banzhaf, shapley, shapley_each
from wfalens.explanation.shapley.word_sets import Interactions, interactions, n_shapley

__all__ = [
    "ABSENCES",
    "Interactions",
    "banzhaf",
    "interactions",
    "n_shapley",
    "network_shapley",
    "shapley",
    "shapley_each",
]
