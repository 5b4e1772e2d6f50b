"""The network's own Shapley values at 16 to 256 queries a text, beside the estimators of shapiq and shap.

Every model answers all coalitions of some test texts of 8 to 12 words: these games are kept under benchmarks/.cache,
and every method asks them. Figures are for the class that the model chooses, with absent words deleted.

rmse       against enumeration, by method and by queries (the text without words counts as one)
automaton  the same without any query
coverage   how often the 95 % intervals hold the truth, on all games
ratio      our error at 32 queries over the best rival's
scores     of built-in networks: faithfulness of explanations to the network, and of toxic comments plausibility, by
           the spans that people marked (Toxic Spans, comments that the network calls toxic)
queries    that the best rival needs for our error at 32 queries, interpolated; the largest budget is a lower bound
ms         of the regression at so many queries, without the calls of the model
explain    of built-in networks: milliseconds of `wfa.explain` without queries, the median text, the best of three runs

SPEX of shapiq refuses budgets of up to 256 for such texts, so it has no place here. ProxySPEX needs LightGBM and about
a second a text: `--proxyspex` adds it. Where it ends with an error, as with few queries, it has no figure.
"""

from __future__ import annotations

import csv
import json
import time
import timeit
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
from numpy.typing import NDArray

import wfalens as wl
from anymodel import trained
from common import CACHE, arguments, finish, show
from scorers import integrated_gradients_scorer
from wfalens.evaluation.explanations import evaluate_explanations, leave_one_out_scores, marked_words
from wfalens.explanation.attribution import half_widths
from wfalens.explanation.shapley.coalition_regression import estimate_shapley
from wfalens.explanation.shapley.coalitions import all_coalitions, draw_coalitions, enumerated_shapley
from wfalens.explanation.shapley.game import coalition_texts, coalition_weights
from wfalens.explanation.shapley.network_values import network_shapley, residual_variance
from wfalens.models import RNNClassifier, Trainer
from wfalens.models.inference import final_outputs
from wfalens.text import load_dataset
from wfalens.text.datasets.catalogue import DATASETS, data_folder, is_available

GAMES = 200
EXPLAINED = 64  # queries a text, where explanations are scored
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
        Trainer(max_length=known.max_length, seed=seed, epochs=6).train(train).model.save(path)
    return RNNClassifier.load(path)


def automaton_of(which: str, model, train, quick: bool):
    """Extracted once and kept under benchmarks/.cache."""
    path = CACHE / f"shapley-{which}{'-quick' if quick else ''}.wfa"
    if not path.exists():
        method = wl.Linear(epochs=4) if quick else wl.Linear()
        wl.extract(model, train, method, seed=int(which.rsplit("-", 1)[1]), effort="low").save(path)
    return wl.WFA.load(path)


def study_of(options, which: str):
    """The model, its automaton and test texts."""
    name, kind, seed = which.split("-")
    train, test = (load_dataset(name, split, options.data) for split in ("train", "test"))
    train = train.sample(min(len(train), 1500 if options.quick else 12_000), 0)
    model = model_of(kind, name, int(seed), train, options.quick)
    return model, automaton_of(which, model, train, options.quick), test


def games_of(options, which: str) -> tuple[list[Game], float | None]:
    """Asked once and kept under benchmarks/.cache, 200 of them; and the automaton's residual variance."""
    CACHE.mkdir(exist_ok=True)
    games = 5 if options.quick else GAMES
    path = CACHE / f"shapley-{which}-{games}{'-quick' if options.quick else ''}.npz"
    if not path.exists():
        model, wfa, test = study_of(options, which)
        found: dict[str, NDArray[np.float64]] = {}
        for text in (test.texts[at] for at in np.random.default_rng(0).permutation(len(test))):
            shown = model.encode([text])
            if 8 <= len(shown.values) <= 12 and len(found) < 2 * games:
                coalitions = coalition_texts(shown.values, all_coalitions(len(shown.values)), "delete")
                weights = coalition_weights(
                    wfa, model.folded(shown).values, all_coalitions(len(shown.values)), "delete"
                )
                found[f"A{len(found) // 2}"] = wfa.probabilities(weights)
                found[f"R{len(found) // 2}"] = final_outputs(model, coalitions)
        np.savez_compressed(path, **found)
    known = residual_variance(wl.WFA.load(CACHE / f"shapley-{which}{'-quick' if options.quick else ''}.wfa"))
    with np.load(path) as kept:
        return [(kept[f"R{at}"], kept[f"A{at}"]) for at in range(len(kept.files) // 2)], known


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


def proxyspex(players: int, queries: int, ask: Asked) -> NDArray[np.float64]:
    try:
        return by_shapiq("ProxySPEX", players, queries, ask)
    except IndexError:  # too few coalitions for it
        return np.full(players, np.nan)


RIVALS = {
    "shapiq KernelSHAP": partial(by_shapiq, "KernelSHAP", pairing_trick=True),
    "shapiq SVARM": partial(by_shapiq, "SVARM"),
    "shapiq permutation": partial(by_shapiq, "PermutationSamplingSV"),
    "shapiq Owen": partial(by_shapiq, "OwenSamplingSV", n_anchor_points=10),
    "shap Permutation": partial(by_shap, "Permutation"),
    "shap Partition": partial(by_shap, "Partition"),
}


def toxic_spans(options, model, most: int) -> tuple[list[str], list[list[int]]]:
    """Comments of 5 to 40 words with marked words, which the model calls toxic, and what people marked in them."""
    texts, rationales = [], []
    with (data_folder(options.data) / "toxic_spans" / "test.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if len(texts) < most and row["spans"] != "[]" and 5 <= len(model.encoder.tokens(row["text"])) <= 40:
                marked = marked_words(model.encoder, row["text"], json.loads(row["spans"]))
                if (
                    any(marked)
                    and model.class_names[final_outputs(model, model.encoder.encode([row["text"]])).argmax()] == "toxic"
                ):
                    texts.append(row["text"])
                    rationales.append(marked)
    return texts, rationales


def by_lime(model, ids: NDArray[np.int32], label: int) -> NDArray[np.float64]:
    """LIME of captum: a weighted linear model of the output on texts with random words deleted."""
    import torch
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import Lime
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    def ask(rows):
        outputs = final_outputs(model, coalition_texts(ids, rows.numpy() > 0.5, "delete"))
        return torch.from_numpy(outputs[:, label].astype(np.float32))

    kernel = get_exp_kernel_similarity_function("cosine", kernel_width=0.25)
    lime = Lime(ask, interpretable_model=SkLearnRidge(alpha=1.0), similarity_func=kernel)
    torch.manual_seed(0)
    found = lime.attribute(torch.ones(1, len(ids)), n_samples=EXPLAINED, perturbations_per_eval=EXPLAINED)
    return found[0].double().numpy()


def scores_of(options, which: str, most: int) -> dict[str, object]:
    """Faithfulness of explanations to a built-in network, and plausibility where people have marked words."""
    model, wfa, test = study_of(options, which)
    if which.startswith("jigsaw"):
        texts, rationales = toxic_spans(options, model, most)
    else:
        texts, rationales = list(test.sample(most, 1).texts), None

    def on_ids(score):
        def scorer(text):
            ids = model.encoder.encode([text])
            return score(ids.values, int(final_outputs(model, ids).argmax()))

        return scorer

    def kernel_shap(ids, label):
        def ask(rows):
            return final_outputs(model, coalition_texts(ids, rows.astype(bool), "delete"))[:, label]

        return by_shapiq("KernelSHAP", len(ids), EXPLAINED, ask, pairing_trick=True)

    gradients = {
        name: integrated_gradients_scorer(model, steps)
        for name, steps in (("input × gradient", 1), ("integrated gradients", 32))
    }
    rng = np.random.default_rng(0)
    scorers = {
        "automaton alone, no query": lambda text: wfa.explain(text).values,
        "ours": lambda text: network_shapley(model, wfa, text, queries=EXPLAINED).values,
        "leave-one-out": lambda text: leave_one_out_scores(model, text),
        **{name: on_ids(lambda ids, label, score=score: score(ids, label)[0]) for name, score in gradients.items()},
        "LIME": on_ids(partial(by_lime, model)),
        "KernelSHAP": on_ids(kernel_shap),
        "random": lambda text: rng.random(len(model.encoder.tokens(text))),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = evaluate_explanations(scorers, model, texts, rationales=rationales).to_dict()
    kept = ("comprehensiveness", "sufficiency", "auprc", "token_f1")
    table = {name: {key: each[key]["value"] for key in kept if key in each} for name, each in found.items()}
    columns = [key for key in kept if key in table["ours"]]
    show(
        f"{which}: scores on {len(texts)} texts",
        ["method", *columns],
        [[name, *row.values()] for name, row in table.items()],
    )
    explain_ms = median(min(timeit.repeat(partial(wfa.explain, text), number=1, repeat=3)) * 1000 for text in texts)
    print(f"  one text through wfa.explain: {explain_ms:.2f} ms")
    return {"texts": len(texts), "methods": table, "explain": explain_ms}


def measure(games: list[Game], texts: int, budgets: tuple[int, ...], variance: float | None) -> dict[str, object]:
    """All methods on the games of the first texts of one model; intervals on all games."""
    squares: dict[str, dict[int, list[NDArray[np.float64]]]] = {}
    held: dict[int, list[NDArray[np.bool_]]] = {queries: [] for queries in budgets}
    alone, seconds = [], {queries: [] for queries in budgets}
    for number, (model, automaton) in enumerate(games):
        players, label = len(model).bit_length() - 1, int(model[-1].argmax())
        truth, known = enumerated_shapley(model)[:, label], enumerated_shapley(automaton)
        if number < texts:
            alone.append(np.square(known[:, label] - truth))

        def ask(rows, outputs=model[:, label]):
            return outputs[rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))]

        for queries in budgets:
            present = draw_coalitions(players, min(queries, 1 << players), np.random.default_rng(number))
            at, began = present @ (1 << np.arange(players)), time.process_time()
            ours = estimate_shapley(present, (model - automaton)[at], variance)
            seconds[queries].append(time.process_time() - began)
            found = {OURS: (ours.values + known)[:, label]}
            off = np.abs(found[OURS] - truth)
            if ours.samples:
                held[queries].append(off <= half_widths(ours.standard_error[:, label], ours.samples, 0.95) + 1e-7)
            if number >= texts:
                continue
            found[WITHOUT] = estimate_shapley(present, model[at]).values[:, label]
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
    best = {queries: float(np.nanmin([rmse[name][str(queries)] for name in RIVALS])) for queries in budgets}
    return {
        "texts": min(texts, len(games)),
        "games": len(games),
        "rmse": rmse,
        "automaton": float(np.sqrt(np.concatenate(alone).mean())),
        "coverage": {str(queries): float(np.concatenate(parts).mean()) for queries, parts in held.items() if parts},
        "ratio": rmse[OURS]["32"] / best[32],
        "queries": queries_for(rmse[OURS]["32"], best),
        "ms": {str(queries): 1000 * median(times) for queries, times in seconds.items()},
    }


def queries_for(error: float, best: dict[int, float]) -> float:
    """How many queries lead to an error, by straight lines between the measured ones, in logarithms."""
    queries, errors = (np.log(np.array(list(each)))[::-1] for each in (best, best.values()))
    return float(np.exp(np.interp(np.log(error), errors, queries)))


def draw(result: dict[str, dict], path: str) -> None:
    """RMSE against queries, one panel for each model: ours, the automaton alone, and the rivals."""
    import matplotlib.pyplot as plt

    down = -(-len(result) // 3)
    figure, axes = plt.subplots(
        down, 3, figsize=(10, 3.3 * down + 0.5), sharex=True, squeeze=False, layout="constrained"
    )
    for axis, (which, found) in zip(axes.flat, result.items(), strict=False):
        for name, errors in found["rmse"].items():
            ours = name in (OURS, WITHOUT)
            style = {"color": "#d95f02" if name == OURS else "#7570b3", "linewidth": 2.2} if ours else {"linewidth": 1}
            axis.plot([int(q) for q in errors], list(errors.values()), marker=".", label=name, **style)
        axis.axhline(found["automaton"], color="0.4", linestyle=":", label="automaton alone, no query")
        axis.set(
            xscale="log",
            yscale="log",
            ylim=(5e-4, 0.5),
            title=_title(which),
        )
        axis.set_xticks(QUERIES, [str(q) for q in QUERIES])
        axis.minorticks_off()
    for axis in axes.flat[len(result) :]:
        axis.axis("off")
    for axis in axes[-1]:
        axis.set_xlabel("queries a text")
    figure.supylabel("RMSE of the Shapley values")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.savefig(path, metadata={"Date": None} if path.endswith("svg") else None)


def _title(which: str) -> str:
    """`tagmynews-lstm-0` as the tables have it."""
    data, kind, seed = which.split("-")
    data = {"tagmynews": "news titles", "jigsaw_toxic": "toxic comments"}.get(data, data)
    return f"{data}, {f'LSTM {int(seed) + 1}' if kind == 'lstm' else kind}"


def main() -> None:
    def add(parser):
        parser.add_argument("--models", default=",".join(MODELS), help="which, with commas between")
        parser.add_argument("--texts", type=int, default=200, help="texts of each model")
        parser.add_argument("--scores", type=int, default=300, help="texts of which explanations are scored; 0: none")
        parser.add_argument("--proxyspex", action="store_true", help="also ProxySPEX of shapiq, which needs LightGBM")
        parser.add_argument("--figure", help="draw what is stored under benchmarks/results into this file; run nothing")

    options = arguments(__doc__.splitlines()[0], add)
    if options.figure:
        stored = json.loads((CACHE.parent / "results" / "shapley.json").read_text(encoding="utf-8"))
        draw(stored["figures"], options.figure)
        return
    names, texts, budgets = options.models.split(","), options.texts, QUERIES
    if options.proxyspex:
        RIVALS["shapiq ProxySPEX"] = proxyspex
    if options.quick:
        names, texts, budgets = ["newsroom-tfidf-0"], 5, QUERIES[:2]
    result = {}
    for which in names:
        name = which.split("-")[0]
        if not (options.quick or is_available(name, options.data)):
            continue
        games, variance = games_of(options, which)
        result[which] = found = measure(games, texts, budgets, variance)
        rows = [[method, *by_budget.values()] for method, by_budget in found["rmse"].items()]
        show(f"{which}: RMSE on {found['texts']} texts", ["method", *map(str, budgets)], rows)
        print(f"  automaton alone {found['automaton']:.4f}; coverage {found['coverage']}")
        print(f"  at 32 queries {found['ratio']:.2f} × the best rival, which needs {found['queries']:.0f}")
        if options.scores and which.endswith("lstm-0"):
            found["scores"] = scores_of(options, which, options.scores)
    finish(options, result)


if __name__ == "__main__":
    main()
