"""The network's own Shapley values at 16 to 256 queries a text, beside the estimators of shapiq and shap.

Every model answers all coalitions of some test texts of 8 to 12 words: these games are kept under benchmarks/.cache,
and every method asks them. Figures are for the class that the model chooses, with absent words deleted.

rmse       against enumeration, by method and by queries (the text without words counts as one)
automaton  the same without any query
coverage   how often the 95 % intervals hold the truth
ratio      our error at 32 queries over the best rival's
queries    that the best rival needs for our error at 32 queries, at least
ms         of one text: the automaton's values, and the regression at 32 and 256 queries without the model's calls
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

import wfalens as wl
from anymodel import trained
from common import CACHE, arguments, finish, show
from wfalens.explanation.attribution import half_widths
from wfalens.explanation.shapley.coalition_regression import (
    all_coalitions,
    draw_coalitions,
    enumerated_shapley,
    estimate_shapley,
)
from wfalens.explanation.shapley.game import coalition_texts, every_coalition_weights
from wfalens.models import RNNClassifier, Trainer
from wfalens.models.inference import final_outputs
from wfalens.text import load_dataset
from wfalens.text.datasets.catalogue import DATASETS, is_available

QUERIES = (16, 32, 64, 128, 256)
MODELS = (
    "tagmynews-lstm-0",
    "tagmynews-lstm-1",
    "jigsaw_toxic-lstm-0",
    "jigsaw_toxic-lstm-1",
    "tagmynews-transformer-0",
    "tagmynews-tfidf-0",
)
OURS, WITHOUT = "ours", "ours without automaton"
Game = tuple[NDArray[np.float64], NDArray[np.float64]]  # outputs of model and automaton for all coalitions: (2^L, C)
Asked = Callable[[NDArray[np.bool_]], NDArray[np.float64]]  # coalitions (N, L) -> the probability of a class (N,)


def model_of(kind: str, name: str, seed: int, train, quick: bool):
    """Trained once and kept under benchmarks/.cache."""
    if kind != "lstm":
        return wl.wrap(trained(kind, name, train, quick), texts=train, classes=train.class_names, reads="text")
    path = CACHE / f"shapley-{name}-{seed}{'-quick' if quick else ''}.rnn"
    if not path.exists():
        known = DATASETS[name]
        Trainer(max_length=known.max_length, tokenizer=known.tokenizer, seed=seed, epochs=6).train(train).model.save(
            path
        )
    return RNNClassifier.load(path)


def automaton_of(which: str, model, train, quick: bool):
    """Extracted once and kept under benchmarks/.cache."""
    path = CACHE / f"shapley-{which}{'-quick' if quick else ''}.wfa"
    if not path.exists():
        method = wl.Linear(epochs=4) if quick else wl.Linear()
        wl.extract(model, train, method, seed=int(which.rsplit("-", 1)[1]), effort="low").save(path)
    return wl.WFA.load(path)


def games_of(options, which: str, texts: int) -> list[Game]:
    """Asked once and kept under benchmarks/.cache."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"shapley-{which}-{texts}{'-quick' if options.quick else ''}.npz"
    if not path.exists():
        name, kind, seed = which.split("-")
        train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
        train = train.sample(min(len(train), 1500 if options.quick else 12_000), 0)
        model = model_of(kind, name, int(seed), train, options.quick)
        wfa = automaton_of(which, model, train, options.quick)
        found: dict[str, NDArray[np.float64]] = {}
        for text in (test.texts[at] for at in np.random.default_rng(0).permutation(len(test))):
            shown = model.encode([text])
            if 8 <= len(shown.values) <= 12 and len(found) < 2 * texts:
                coalitions = coalition_texts(shown.values, all_coalitions(len(shown.values)), "delete")
                weights = every_coalition_weights(wfa, model.folded(shown).values, "delete")
                found[f"A{len(found) // 2}"] = wfa.probabilities(weights)
                found[f"R{len(found) // 2}"] = final_outputs(model, coalitions)
        np.savez_compressed(path, **found)
    with np.load(path) as kept:
        return [(kept[f"R{at}"], kept[f"A{at}"]) for at in range(len(kept.files) // 2)]


def by_shapiq(name: str, players: int, queries: int, ask: Asked, **options) -> NDArray[np.float64]:
    import shapiq

    approximator = getattr(shapiq.approximator, name)(n=players, random_state=0, **options)
    return approximator.approximate(queries, lambda rows: ask(np.atleast_2d(rows))).get_n_order_values(1)


def by_shap(name: str, players: int, queries: int, ask: Asked) -> NDArray[np.float64]:
    import shap

    one, nothing = np.ones((1, players)), np.zeros((1, players))
    if name == "Partition":  # words that stand together are clustered, as in its masker of texts
        links = [[at + players - 1 if at else 0, at + 1, at + 1, at + 2] for at in range(players - 1)]
        masker = shap.maskers.Partition(nothing, clustering=np.array(links, float))
        explainer = shap.explainers.Partition(lambda rows: ask(rows > 0.5), masker)
    else:
        explainer = shap.explainers.Permutation(lambda rows: ask(rows > 0.5), shap.maskers.Independent(nothing), seed=0)
    return explainer(one, max_evals=max(queries, 2 * players + 1), silent=True).values[0]


RIVALS = {
    "shapiq KernelSHAP": partial(by_shapiq, "KernelSHAP", pairing_trick=True),
    "shapiq SVARM": partial(by_shapiq, "SVARM"),
    "shapiq permutation": partial(by_shapiq, "PermutationSamplingSV"),
    "shapiq Owen": partial(by_shapiq, "OwenSamplingSV", n_anchor_points=10),
    "shap Permutation": partial(by_shap, "Permutation"),
    "shap Partition": partial(by_shap, "Partition"),
}


def measure(games: list[Game], budgets: tuple[int, ...]) -> dict[str, object]:
    """All methods on the games of one model."""
    squares: dict[str, dict[int, list[NDArray[np.float64]]]] = {}
    held: dict[int, list[NDArray[np.bool_]]] = {queries: [] for queries in budgets}
    alone, seconds = [], {queries: [] for queries in budgets}
    for number, (model, automaton) in enumerate(games):
        players, label = len(model).bit_length() - 1, int(model[-1].argmax())
        truth, known = enumerated_shapley(model)[:, label], enumerated_shapley(automaton)
        alone.append(np.square(known[:, label] - truth))

        def ask(rows, outputs=model[:, label]):
            return outputs[rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))]

        for queries in budgets:
            present = draw_coalitions(players, min(queries, 1 << players), np.random.default_rng(number))
            at, began = present @ (1 << np.arange(players)), time.process_time()
            ours = estimate_shapley(present, (model - automaton)[at])
            seconds[queries].append(time.process_time() - began)
            found = {
                OURS: (ours.values + known)[:, label],
                WITHOUT: estimate_shapley(present, model[at]).values[:, label],
            }
            off = np.abs(found[OURS] - truth)
            if ours.samples:
                held[queries].append(off <= half_widths(ours.standard_error[:, label], ours.samples, 0.95) + 1e-7)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, rival in RIVALS.items():
                    found[name] = rival(players, queries, ask)
            for name, values in found.items():
                squares.setdefault(name, {}).setdefault(queries, []).append(np.square(values - truth))
    rmse = {
        name: {str(queries): float(np.sqrt(np.concatenate(parts).mean())) for queries, parts in by_budget.items()}
        for name, by_budget in squares.items()
    }
    best = {queries: min(rmse[name][str(queries)] for name in RIVALS) for queries in budgets}
    return {
        "texts": len(games),
        "rmse": rmse,
        "automaton": float(np.sqrt(np.concatenate(alone).mean())),
        "coverage": {str(queries): float(np.concatenate(parts).mean()) for queries, parts in held.items() if parts},
        "ratio": rmse[OURS]["32"] / best[32],
        "queries": next((queries for queries in budgets if best[queries] <= rmse[OURS]["32"]), 2 * budgets[-1]),
        "ms": {str(queries): 1000 * median(times) for queries, times in seconds.items()},
    }


def main() -> None:
    def add(parser):
        parser.add_argument("--models", default=",".join(MODELS), help="which, with commas between")
        parser.add_argument("--texts", type=int, default=200, help="texts of each model")

    options = arguments(__doc__.splitlines()[0], add)
    names, texts, budgets = options.models.split(","), options.texts, QUERIES
    if options.quick:
        names, texts, budgets = ["newsroom-tfidf-0"], 5, QUERIES[:2]
    result = {}
    for which in names:
        name = which.split("-")[0]
        if not (options.quick or is_available(name, options.data)):
            continue
        result[which] = found = measure(games_of(options, which, texts), budgets)
        rows = [[method, *by_budget.values()] for method, by_budget in found["rmse"].items()]
        show(f"{which}: RMSE on {found['texts']} texts", ["method", *map(str, budgets)], rows)
        print(f"  automaton alone {found['automaton']:.4f}; coverage {found['coverage']}")
        print(f"  at 32 queries {found['ratio']:.2f} × the best rival, which needs at least {found['queries']}")
    finish(options, result)


if __name__ == "__main__":
    main()
