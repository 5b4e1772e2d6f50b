"""Attacks on the model that the automaton guides, beside their controls."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from wfalens.attack.attacking import run_attack
from wfalens.attack.outcome import SUCCEEDED, Example
from wfalens.attack.recipes import Arsenal
from wfalens.corpus.vectors import WordVectors
from wfalens.inspection.study import Study
from wfalens.progress import SILENT, Progress

_RECIPES = ("random-word", "random-order", "strong", "guided")
_WORDS = 60  # of a text that are shown
_NEAR, _SAMPLED_WORDS = 0.001, 1500
_ABOUT = {
    "random-word": "control: the positions that matter most, a random allowed word",
    "random-order": "control: random positions, the word that acts most differently",
    "strong": "the paper's: the positions that matter most, the word that acts most differently",
    "guided": "words ranked by the automaton's forward and backward vectors, up to five tries",
}


def attacks(study: Study, *, texts: int = 400, examples: int = 60, progress: Progress = SILENT) -> dict[str, Any]:
    """One word is changed in each of some texts; all recipes under the same constraints."""
    corpus = study.texts.sample(texts, study.seed)
    words = np.unique(study.wfa.encoder.encode(corpus.texts).values)
    bound = near_bound(study.meanings, study.seed)
    arsenal = Arsenal.prepare(study.wfa, study.meanings, weak=bound, strong=bound, only=words, progress=progress)
    outcomes = [
        run_attack(name, 1, arsenal.recipe(name, 1), study.classifier, corpus, seed=study.seed, progress=progress)
        for name in _RECIPES
    ]
    return {
        "texts": len(corpus),
        "corpus": corpus.name,
        "vectors": study.meanings.source,
        "bound": round(bound, 5),
        "recipes": [
            {"recipe": outcome.recipe, "about": _ABOUT[outcome.recipe], **asdict(outcome.summary)}
            for outcome in outcomes
        ],
        "examples": [
            {"recipe": outcome.recipe, **_as_json(example)}
            for outcome in outcomes
            for example in [item for item in outcome.examples if item.status == SUCCEEDED][:examples]
        ],
        "shown_per_recipe": examples,
    }


def near_bound(vectors: WordVectors, seed: int) -> float:
    """The d_S below which one in a thousand random pairs of words lies: the scale of vectors differs."""
    chosen = np.random.default_rng(seed).permutation(len(vectors))[:_SAMPLED_WORDS]
    matrix = vectors.matrix[np.sort(chosen)].astype(np.float64)
    squares = np.einsum("ij,ij->i", matrix, matrix)
    gap = (squares[:, None] + squares - 2 * matrix @ matrix.T)[np.triu_indices(len(matrix), 1)] / vectors.width
    return max(float(np.quantile(gap, _NEAR)), float(np.finfo(np.float32).tiny)) if len(gap) else 1.0


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
