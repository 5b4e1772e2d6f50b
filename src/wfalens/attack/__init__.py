"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes."""

from wfalens.attack.attacking import run_attack
from wfalens.attack.candidates import Candidates, allowed_candidates, nearest_candidates
from wfalens.attack.drawing import draw_texts
from wfalens.attack.outcome import Example, Outcome, Summary
from wfalens.attack.recipes import RECIPES, Arsenal
from wfalens.attack.search import Fixed, Guided, Search

__all__ = [
    "RECIPES",
    "Arsenal",
    "Candidates",
    "Example",
    "Fixed",
    "Guided",
    "Outcome",
    "Search",
    "Summary",
    "allowed_candidates",
    "draw_texts",
    "nearest_candidates",
    "run_attack",
]
