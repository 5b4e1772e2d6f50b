"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes."""

from wfalens.robustness.attack.attack_candidates import Candidates, near_candidates
from wfalens.robustness.attack.attack_model import DEFAULT_RECIPES, attack, draw_texts
from wfalens.robustness.attack.attack_result import AttackRates, AttackResult, Example, RecipeResult
from wfalens.robustness.attack.recipes import RECIPES, AttackContext, AttackOptions, Blind, Fixed, Guided, Search
from wfalens.robustness.attack.run_attack import EDIT_RECIPES, run_edit_attack
from wfalens.robustness.attack.run_attack import run_attack as run_attack

__all__ = [
    "DEFAULT_RECIPES",
    "EDIT_RECIPES",
    "RECIPES",
    "AttackContext",
    "AttackOptions",
    "AttackRates",
    "AttackResult",
    "Blind",
    "Candidates",
    "Example",
    "Fixed",
    "Guided",
    "RecipeResult",
    "Search",
    "attack",
    "draw_texts",
    "near_candidates",
    "run_attack",
    "run_edit_attack",
]
