"""Tables of explanations and attacks."""

from __future__ import annotations

from collections.abc import Callable

from report_tables.writing import SETS, Figures, markdown, number, pair, rate, table


@table("shapley-values", "shapley")
def shapley_values(figures: Figures) -> str:
    shown = {
        "pearson": ("Pearson", 3),
        "rmse": ("RMSE", 3),
        "top_word": ("same top word", 2),
        "near_top_word": ("top word within .02 of the LSTM's highest value", 2),
    }
    rows = [
        [told, *(rate(found[kind].get(key), digits) for found in figures.values() for kind in ("fitted", "linear"))]
        for key, (told, digits) in shown.items()
    ]
    return markdown(["against the LSTM's own values", *_by_kind(figures)], rows)


@table("shapley-queries", "shapley")
def shapley_queries(figures: Figures) -> str:
    first = next(iter(figures.values()))
    budgets = list(first["plain"])
    rows = [
        [f"shap {tool}", *(rate(found["shap"][q][tool]["rmse"], 4) for found in figures.values() for q in budgets)]
        for tool in first["shap"][budgets[0]]
    ]
    ways: dict[str, Callable[[Figures], Figures]] = {
        "plain sampling (`wfa=None`)": lambda found: found["plain"],
        "with a fitted automaton": lambda found: found["fitted"]["sampling"],
        "with a linear automaton": lambda found: found["linear"]["sampling"],
    }
    for told, way in ways.items():
        rows.append([told, *(rate(way(found)[q]["rmse"], 4) for found in figures.values() for q in budgets)])
    columns = [f"{SETS[name]}: {q}" if at == 0 else q for name in figures for at, q in enumerate(budgets)]
    return markdown(["RMSE at queries a text", *columns], rows)


@table("shapley-faithful", "shapley")
def shapley_faithful(figures: Figures) -> str:
    return _faithful({name: found["faithfulness"] for name, found in figures.items()})


@table("faithfulness", "faithfulness")
def faithfulness(figures: Figures) -> str:
    return _faithful(figures)


def _faithful(figures: Figures) -> str:
    measures = ("comprehensiveness", "sufficiency")
    rows = [
        [
            method.replace("automaton, additive", "walk"),
            *(rate(found[method][key]) for found in figures.values() for key in measures),
            " / ".join(dict.fromkeys(number(found[method].get("passes")) for found in figures.values())),
        ]
        for method in next(iter(figures.values()))
    ]
    columns = [told for name in figures for told in (f"{SETS[name]}: compr.", "suff.")]
    return markdown(["", *columns, "model passes"], rows)


@table("shapley-time", "shapley")
def shapley_time(figures: Figures) -> str:
    shown = {
        "ms": ("one text (median)", 1),
        "ms_150": ("150 words", 0),
        "s_10000": ("10,000 texts, in seconds", 1),
        "ms_short": ("a text of 6 to 9 words", 1),
        "ms_short_shap": ("the same, one class, by shap's Permutation explainer on the LSTM (120 queries, sampled)", 0),
    }
    rows = [
        [told, *(number(found[kind].get(key), digits) for found in figures.values() for kind in ("fitted", "linear"))]
        for key, (told, digits) in shown.items()
        if any(key in found["fitted"] for found in figures.values())
    ]
    return markdown(["", *_by_kind(figures)], rows)


def _by_kind(figures: Figures) -> list[str]:
    return [told for name in figures for told in (f"{SETS[name]}: fitted", "linear")]


PRINTED = {"glove": ".17 / .22 / .06 / .11", "nearest": ".17 / .22 / .06 / .11", "weak": ".34 / .46 / .11 / .23"}
PRINTED |= {"strong": ".44 / .59 / .15 / .25"}


@table("attack", "attack")
def attack(figures: Figures) -> str:
    rows = []
    for recipe in next(iter(figures.values())):
        row = [f"{recipe} (paper: {PRINTED[recipe]})" if recipe in PRINTED else recipe]
        for found in figures.values():
            for k in ("1", "2"):
                one = found[recipe][k]
                row += [pair(one["asr_all"], one["asr_correct"]), _queries(one["queries"])]
        rows.append(row)
    columns = [told for name in figures for k in (1, 2) for told in (f"{SETS[name]}, k = {k}", "queries")]
    return markdown(["recipe", *columns], rows)


def _queries(value: float) -> str:
    return f"{value:.2g}" if value < 100 else number(value)


RANKINGS = {
    "influence": "positions by influence, largest d_T (strong)",
    "positions": "positions by Shapley value, largest d_T",
    "both": "positions by Shapley value, then the automaton's output",
    "words": "replacements by the Shapley value of the new word",
    "output": "replacements by the automaton's output (guided)",
}


@table("attack-ranking", "attack_ranking")
def attack_ranking(figures: Figures) -> str:
    rows = []
    for key, told in RANKINGS.items():
        row = [told]
        for found in figures.values():
            for k in (1, 2):
                one, five = (found.get(f"{key}, k = {k}, tries = {tries}", {}).get("asr_correct") for tries in (1, 5))
                row.append(pair(one, five) or "–")
        rows.append(row)
    return markdown(["ranking", *(f"{SETS[name]}, k = {k}" for name in figures for k in (1, 2))], rows)
