"""How faithful an automaton is to its model."""

from wfalens.divergence import jensen_shannon
from wfalens.evaluation.agreement import Agreement, Estimate, agreement
from wfalens.evaluation.fidelity import Fidelity, measure_fidelity

__all__ = ["Agreement", "Estimate", "Fidelity", "agreement", "jensen_shannon", "measure_fidelity"]
