"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes."""

from wfalens.robustness.attack.attack_candidates import Candidates, near_candidates
from wfalens.robustness.attack.attack_search import Blind, Fixed, Guided, Search
from wfalens.robustness.attack.draw_texts import draw_texts
from wfalens.robustness.attack.edit_attack import EDIT_RECIPES, run_edit_attack
from wfalens.robustness.attack.outcome import Example, Outcome, Summary
from wfalens.robustness.attack.recipes import RECIPES, AttackContext
from wfalens.robustness.attack.run_attack import run_attack

__all__ = [
    "EDIT_RECIPES",
    "RECIPES",
    "AttackContext",
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
