"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes."""

from wfalens.attack.attacking import run_attack
from wfalens.attack.candidates import Candidates, near_candidates
from wfalens.attack.drawing import draw_texts
from wfalens.attack.editing import EDIT_RECIPES, run_edit_attack
from wfalens.attack.outcome import Example, Outcome, Summary
from wfalens.attack.recipes import RECIPES, Arsenal
from wfalens.attack.search import Blind, Fixed, Guided, Search

__all__ = [
    "EDIT_RECIPES",
    "RECIPES",
    "Arsenal",
    "Blind",
    "Candidates",
    "Example",
    "Fixed",
    "Guided",
    "Outcome",
    "Search",
    "Summary",
    "draw_texts",
    "near_candidates",
    "run_attack",
    "run_edit_attack",
]
