"""Attacks on the model that the automaton guides, beside their controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from wfalens.report.study import Study
from wfalens.robustness.attack.attack_result import Example, RecipeResult
from wfalens.robustness.attack.recipes import AttackContext
from wfalens.robustness.attack.run_attack import run_attack, run_edit_attack
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import Corpus

_RECIPES = ("strong", "random-word", "random-order", "guided", "random-tries")
_EDIT_RECIPES = ("guided", "random-tries")
_WORDS = 60  # of a text that are shown
_ABOUT = {
    "strong": "as published: the positions that matter most, the word that acts most differently; one try",
    "random-word": "control of strong: the positions that matter most, a random near word; one try",
    "random-order": "control of strong: random positions, the word that acts most differently; one try",
    "guided": "words ranked by the automaton's forward and backward vectors, up to five tries",
    "random-tries": "control of guided: random positions, random near words, up to five tries",
}

_ABOUT_EDITS = {
    "guided": "edits ranked by what the automaton makes of the edited text, up to five tries",
    "random-tries": "control of guided: random edits, up to five tries",
}


def attacks(
    study: Study,
    *,
    texts: int = 400,
    examples: int = 60,
) -> dict[str, Any]:
    """One word is changed in each of some texts (one character, where tokens are characters), by several recipes."""
    corpus = study.texts.sample(texts, study.seed)
    if reads_characters(study.wfa.encoder):
        return _by_edits(study, corpus, examples)
    words = np.unique(study.wfa.encoder.encode(corpus.texts).values)
    context = AttackContext.prepare(study.wfa, study.nearness, only=words)
    outcomes = [
        run_attack(name, 1, context.recipe(name, 1), study.classifier, corpus, seed=study.seed) for name in _RECIPES
    ]
    return {
        "vectors": study.meanings.source,
        "farthest": round(study.nearness.farthest, 3),
        "candidates": len(context.strong.word),
        **_with_examples(corpus, outcomes, _ABOUT, examples, _as_json),
    }


def _by_edits(
    study: Study,
    corpus: Corpus,
    examples: int,
) -> dict[str, Any]:
    """The same by edits of characters, each of which leads to a text."""
    outcomes = [
        run_edit_attack(name, 1, study.wfa, study.classifier, corpus, seed=study.seed) for name in _EDIT_RECIPES
    ]
    return {"vectors": None, **_with_examples(corpus, outcomes, _ABOUT_EDITS, examples, _whole)}


def _with_examples(
    corpus: Corpus,
    outcomes: Sequence[RecipeResult],
    about: Mapping[str, str],
    examples: int,
    as_json: Callable[[Example], dict[str, Any]],
) -> dict[str, Any]:
    return {
        "texts": len(corpus),
        "corpus": corpus.name,
        "recipes": [
            {"recipe": outcome.recipe, "about": about[outcome.recipe], **asdict(outcome.rates)} for outcome in outcomes
        ],
        "examples": [
            {"recipe": outcome.recipe, **as_json(example)}
            for outcome in outcomes
            for example in outcome.successes[:examples]
        ],
        "shown_per_recipe": examples,
    }


def _whole(example: Example) -> dict[str, Any]:
    """A text and what became of it, each as one."""
    before, after = (example.blank.join(words) for words in (example.before, example.after))
    return _as_json(replace(example, before=(before,), after=(after,), changed=(0,)))


def _as_json(example: Example) -> dict[str, Any]:
    first = max(0, min(example.changed) - _WORDS // 2) if len(example.before) > _WORDS else 0
    shown = slice(first, first + _WORDS)
    return {
        "before": list(example.before[shown]),
        "after": list(example.after[shown]),
        "changed": [at - first for at in example.changed if first <= at < first + _WORDS],
        "truth": example.truth,
        "label_before": example.label_before,
        "probability_before": round(example.probability_before, 3),
        "label_after": example.label_after,
        "probability_after": round(example.probability_after, 3),
        "queries": example.queries,
    }
