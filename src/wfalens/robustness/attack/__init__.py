"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes."""

from wfalens.robustness.attack.recipes import (
    EDIT_RECIPES,
    RECIPES,
    AttackContext,
    AttackOptions,
    Candidates,
    near_candidates,
)
from wfalens.robustness.attack.run_attack import DEFAULT_RECIPES, attack, draw_texts, run_attack

__all__ = [
    "DEFAULT_RECIPES",
    "EDIT_RECIPES",
    "RECIPES",
    "AttackContext",
    "AttackOptions",
    "Candidates",
    "attack",
    "draw_texts",
    "near_candidates",
    "run_attack",
]
