"""Pretraining and adversarial examples."""

from __future__ import annotations

import numpy as np
from benchmarks.paper.experiment import Step
from benchmarks.paper.paper import printed
from benchmarks.paper.pretraining import Curve, Pretraining, pretraining_curves
from benchmarks.paper.section import (
    Claim,
    Grid,
    Picture,
    Results,
    Section,
    Shown,
    difference,
    order_claim,
    own,
    share_claim,
)
from numpy.typing import NDArray

_ACTING, _MEANING, _RANDOM = "transition embeddings", "word vectors", "random"
_STARTS = (_ACTING, _MEANING, _RANDOM)
_PAPERS, _OURS = ("nearest", "weak", "strong"), ("guided",)
_CONTROLS = ("random-order", "random-word", "random-tries")
_NAMES = {"nearest": "glove"}  # as the paper calls it
_AUTOMATA = ("paper's", "probed")
_KS = (1, 2)


def _start_step(start: str) -> Step:
    return Step.of("pretraining", start=start)


def _table(results: Results, start: str, what: str) -> NDArray[np.float64]:
    # -> (seeds, epochs)
    return np.array([item[what] for item in results.of(_start_step(start))])


def _pretraining(results: Results) -> Shown:
    curves = tuple(Curve(start, *(_table(results, start, what) for what in ("loss", "accuracy"))) for start in _STARTS)
    epochs = curves[0].accuracy.shape[1]
    shown = sorted({0, 1, 2, epochs // 2, epochs - 1} & set(range(epochs)))
    rows = [[curve.start, *(f"{curve.accuracy[:, at].mean():.3f}" for at in shown)] for curve in curves]
    grid = Grid("Test accuracy by epoch", ["start", *(f"epoch {at + 1}" for at in shown)], rows)
    acting, meaning, chance = curves
    claims = []
    for other in (meaning, chance):
        name = f"transition embeddings start ahead of {other.start}"
        claims.append(
            Claim(
                f"{name}: accuracy after the first epoch",
                bool(acting.accuracy[:, 0].mean() > other.accuracy[:, 0].mean()),
                f"{acting.accuracy[:, 0].mean():.3f} against {other.accuracy[:, 0].mean():.3f}",
                f"{int((acting.accuracy[:, 0] > other.accuracy[:, 0]).sum())} of {len(acting.accuracy)}",
            )
        )
        held = [bool(mine.mean() < theirs.mean()) for mine, theirs in zip(acting.loss, other.loss, strict=True)]
        evidence = f"{acting.loss.mean():.3f} against {other.loss.mean():.3f}"
        claims.append(
            share_claim(f"… and stay ahead: mean loss over all epochs, against {other.start}", held, evidence)
        )
    figure = pretraining_curves(Pretraining(curves))
    caption = f"Test loss and accuracy by epoch from three initial embeddings on {results.dataset}"
    return Shown([grid], [Picture(f"pretraining-{results.dataset}", caption, figure)], claims)


def _attack_step(automaton: str, recipe: str, k: int) -> Step:
    return Step.of("attack", automaton=automaton, recipe=recipe, k=k)


def _attack_steps(_dataset: str = "") -> list[Step]:
    return [
        _attack_step(automaton, recipe, k)
        for automaton in _AUTOMATA
        for recipe in (*_PAPERS, *_CONTROLS, *_OURS)
        for k in _KS
    ]


def _attacks(results: Results) -> Shown:
    grids = []
    known = printed(results.dataset).attacks
    for automaton in _AUTOMATA:
        rows = []
        for recipe in (*_PAPERS, *_CONTROLS, *_OURS):
            row = [_NAMES.get(recipe, recipe) + (" (control)" if recipe in _CONTROLS else "")]
            for k in _KS:
                step, theirs = _attack_step(automaton, recipe, k), known.get((recipe, k))
                row += [
                    "" if theirs is None else f"{theirs:.2f}",
                    results.cell(step, "asr_correct"),
                    f"{results.mean(step, 'asr_all'):.3f}",
                    difference(results.mean(step, "asr_correct"), theirs),
                    f"{results.mean(step, 'words_changed'):.0%}",
                    f"{results.mean(step, 'queries'):.1f}",
                ]
            rows.append(row)
        columns = ["recipe"]
        for k in _KS:
            columns += [f"k = {k}: paper", "of correct", "of all", "difference", "words changed", "queries"]
        grids.append(Grid(f"Attack success through the {automaton} automaton", columns, rows))
    return Shown(grids, claims=_attack_claims(results))


def _attack_claims(results: Results) -> list[Claim]:
    def more_often(text: str, smaller: Step, larger: Step) -> Claim:
        return order_claim(text, results, (smaller, "asr_correct"), (larger, "asr_correct"))

    claims = []
    for k in _KS:
        glove, weak, strong, control = (_attack_step("paper's", recipe, k) for recipe in (*_PAPERS, "random-word"))
        claims.append(more_often(f"k = {k}: weak pairs succeed more often than GloVe", glove, weak))
        claims.append(more_often(f"k = {k}: strong pairs more often than weak ones", weak, strong))
        claims += own([more_often(f"k = {k}: strong pairs more often than a random allowed word", control, strong)])
    one, two = (_attack_step("paper's", "strong", k) for k in _KS)
    return [*claims, more_often("two words succeed more often than one", one, two)]


APPLICATION_SECTIONS = [
    Section(
        "pretraining",
        "Pretraining",
        "The same LSTM from transition embeddings, word vectors and random ones (paper, figure on pretraining).",
        lambda _dataset: [_start_step(start) for start in _STARTS],
        _pretraining,
    ),
    Section(
        "attacks",
        "Adversarial examples",
        "Success of k replaced words: of the texts classified correctly, and of all (paper, table on attacks).",
        _attack_steps,
        _attacks,
    ),
]
