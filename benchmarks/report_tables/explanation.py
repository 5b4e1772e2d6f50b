"""Tables of explanations and attacks."""

from __future__ import annotations

from report_tables.writing import SETS, Figures, markdown, number, pair, rate, table


@table("shapley-queries", "shapley")
def shapley_queries(figures: Figures) -> str:
    """Ours and the best of the others, at each number of queries."""
    budgets = list(next(iter(figures.values()))["rmse"]["ours"])
    rows = []
    for name, found in figures.items():
        others = [errors for method, errors in found["rmse"].items() if not method.startswith("ours")]
        best = {q: min(errors[q] for errors in others) for q in budgets}
        cells = [f"**{rate(found['rmse']['ours'][q], 4)}** / {rate(best[q], 4)}" for q in budgets]
        rows.append([_model(name), rate(found["automaton"], 4), *cells])
    return markdown(["ours / best other", "no query", *(f"{q} queries" for q in budgets)], rows)


@table("shapley-goals", "shapley")
def shapley_goals(figures: Figures) -> str:
    budgets = ("32", "64", "128")
    rows = [
        [
            _model(name),
            f"{found['ratio']:.2f}",
            f"{'≥ ' if found['queries'] >= 256 else ''}{found['queries']:.0f}",
            *(rate(found["coverage"].get(q), 3) for q in budgets),
        ]
        for name, found in figures.items()
    ]
    columns = ["", "our error at 32 queries, over the best other's", "queries that the best other needs for it"]
    return markdown([*columns, *(f"95 % intervals hold at {q}" for q in budgets)], rows)


@table("shapley-scores", "shapley")
def shapley_scores(figures: Figures) -> str:
    scored = {name: found["scores"]["methods"] for name, found in figures.items() if "scores" in found}
    columns = [(name, key) for name, methods in scored.items() for key in methods["ours"]]
    rows = [
        [method, *(rate(scored[name][method][key], 3) for name, key in columns)]
        for method in next(iter(scored.values()), {})
    ]
    return markdown(["", *(f"{_model(name)}: {SCORES[key]}" for name, key in columns)], rows)


SCORES = {"comprehensiveness": "compr. ↑", "sufficiency": "suff. ↓", "auprc": "AUPRC ↑", "token_f1": "token F1 ↑"}


@table("findings", "findings")
def findings(figures: Figures) -> str:
    networks, found = figures["networks"], figures["found"]
    facts = list(next(iter(found.values())))
    rows = [
        [sort, *(f"{made[fact]} of {networks}" if made[fact] else "–" for fact in facts)]
        for sort, made in found.items()
    ]
    return markdown(["rule of the training texts", *(fact.replace("_", " ") for fact in facts)], rows)


def _model(name: str) -> str:
    """`tagmynews-lstm-0` as people read it."""
    data, kind, seed = name.split("-")
    called = {"lstm": f"LSTM {int(seed) + 1}", "tfidf": "TF-IDF"}.get(kind, kind)
    return f"{SETS[data]}, {called}"


@table("faithfulness", "faithfulness")
def faithfulness(figures: Figures) -> str:
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
