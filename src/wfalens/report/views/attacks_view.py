"""Attacks on the model that the automaton guides, beside their controls."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from wfalens.evaluation.comparison import wilson
from wfalens.explanation.findings.claims import estimate
from wfalens.report.study import Study
from wfalens.robustness.attack.attack_result import SKIPPED, SUCCEEDED, Example, RecipeResult
from wfalens.robustness.attack.recipes import EDIT_RECIPES, AttackContext
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.text.character_edits import reads_characters

_CHANCE = 0.05
_WORDS = 60  # of a text that are shown
_RECIPES = {
    "guided": "changes ranked by what the automaton makes of the changed text, up to five tries",
    "random-tries": "control of guided: random changes of the same sort, up to five tries",
}


def attacks(study: Study, *, texts: int = 400, examples: int = 60) -> dict[str, Any]:
    """One word is changed in each of some texts (one character, where tokens are characters), by several recipes."""
    corpus, wfa, seed = study.texts.sample(texts, study.seed), study.wfa, study.seed
    candidates: dict[str, Any] = {"vectors": None}
    if reads_characters(wfa.encoder):
        searches = {name: EDIT_RECIPES[name](wfa, 1) for name in _RECIPES}
    else:
        words = np.unique(wfa.encoder.encode(corpus.texts).values)
        context = AttackContext.prepare(wfa, study.nearness, only=words)
        searches = {name: context.recipe(name, 1) for name in _RECIPES}
        candidates = {
            "vectors": study.meanings.source,
            "farthest": round(study.nearness.farthest, 3),
            "candidates": len(context.strong.word),
        }
    originals = Originals.of(study.classifier, corpus)
    outcomes = [run_attack(name, 1, search, originals, seed=seed) for name, search in searches.items()]
    return {
        **candidates,
        "texts": len(corpus),
        "corpus": corpus.name,
        "recipes": [_rated(each, _RECIPES[each.recipe]) for each in outcomes],
        "gain": _gain(*outcomes),
        "examples": [
            {"recipe": each.recipe, **_shown(example)} for each in outcomes for example in each.successes[:examples]
        ],
        "shown_per_recipe": examples,
    }


def _rated(outcome: RecipeResult, about: str) -> dict[str, Any]:
    rates = outcome.rates
    interval = asdict(wilson(rates.succeeded, rates.succeeded + rates.failed)) if rates.tried else None
    return {"recipe": outcome.recipe, "about": about, **asdict(rates), "interval": interval}


def _gain(guided: RecipeResult, control: RecipeResult) -> dict[str, Any] | None:
    """By how much more of the texts that were right the one succeeds than the other; whether that is more than chance
    (McNemar's exact test)."""
    from scipy import stats

    pairs = [
        (first.status == SUCCEEDED, second.status == SUCCEEDED)
        for first, second in zip(guided.examples, control.examples, strict=True)
        if first.status != SKIPPED
    ]
    if len(pairs) < 2:
        return None
    won, lost = np.array(pairs, np.float64).T
    wins, losses = int((won > lost).sum()), int((lost > won).sum())
    shown = wins + losses > 0 and stats.binomtest(wins, wins + losses).pvalue < _CHANCE
    return {**asdict(estimate(won - lost, 1 - _CHANCE)), "shown": bool(shown)}


def _shown(example: Example) -> dict[str, Any]:
    """The words around the change; a text of characters as one."""
    before, after, changed = example.before, example.after, example.changed
    if not example.blank:
        before, after, changed = ("".join(before),), ("".join(after),), (0,)
    first = max(0, min(changed) - _WORDS // 2) if len(before) > _WORDS else 0
    shown = slice(first, first + _WORDS)
    return {
        "before": list(before[shown]),
        "after": list(after[shown]),
        "changed": [at - first for at in changed if first <= at < first + _WORDS],
        "truth": example.truth,
        "label_before": example.label_before,
        "probability_before": round(example.probability_before, 3),
        "label_after": example.label_after,
        "probability_after": round(example.probability_after, 3),
        "queries": example.queries,
        "texts": [example.blank.join(example.before), example.blank.join(example.after)],
    }
