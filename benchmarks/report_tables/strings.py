"""Tables of languages, strings and machines."""

from __future__ import annotations

from report_tables.writing import Figures, markdown, number, rate, table


@table("taysir-binary", "taysir")
def taysir_binary(figures: Figures) -> str:
    rows = []
    for name, one in figures.items():
        if "error_test" not in one:
            continue
        network = name.replace("_", ".")
        errors = [_error(one[f"error_{words}"]) for words in ("test", "fresh", "edited")]
        rows.append(
            [f"{network}, {one['way']}", number(one["states"]), number(one["bytes"]), _few(one["seconds"]), *errors]
        )
        if "winner_states" in one:
            theirs = [_error(one[f"winner_error_{words}"]) for words in ("test", "fresh", "edited")]
            rows.append([f"{network}, winner", number(one["winner_states"]), "", "", *theirs])
    return markdown(["network", "states", "bytes", "processor s", "test", "fresh", "edited"], rows)


@table("taysir-language", "taysir")
def taysir_language(figures: Figures) -> str:
    rows = []
    for name, one in figures.items():
        if "mse_test" not in one:
            continue
        rival, divergence = min(one["kl_stand_ins"].items(), key=lambda each: each[1])
        winner = f" (winner {one['winner_states']:,})" if "winner_states" in one else ""
        rows.append(
            [
                name.replace("_", "."),
                f"{one['states']:,}{winner}",
                number(one["bytes"] / 1e6, 1),
                number(one["seconds"]),
                _tiny(one["mse_test"]),
                _tiny(one.get("winner_mse_test")),
                _tiny(one["mse_short"]),
                _tiny(one.get("winner_mse_short")),
                rate(one["kl"], 4),
                f"{rival} {rate(divergence, 4)}",
            ]
        )
    columns = ["network", "states", "MB", "processor s", "MSE test", "winner", "MSE short", "winner", "KL"]
    return markdown([*columns, "best baseline"], rows)


def _error(value: float) -> str:
    return f"{value:.2g}".replace("0.", ".", 1)


def _few(seconds: float) -> str:
    return number(seconds, 1 if seconds < 1 else 0)


def _tiny(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}".replace("e-0", "e-")


@table("speaking", "speaking")
def speaking(figures: Figures) -> str:
    rows = [
        [
            who,
            number(one.get("states")),
            number(one["perplexity"], 2),
            rate(one.get("kl"), 4),
            rate(one.get("agreement")),
            rate(one.get("ndcg")),
        ]
        for who, one in figures.items()
        if isinstance(one, dict) and "perplexity" in one
    ]
    return markdown(["", "states", "perplexity", "KL", "agreement", "NDCG"], rows)


@table("refining", "refining")
def refining(figures: Figures) -> str:
    """Where each course begins and ends; the page of all benchmarks has what lies between."""
    rows = [
        [name, number(one["queries"]), number(one.get("states"))]
        + [rate(one[f"{way}_{words}"]) for words in ("fresh", "edited") for way in ("asking", "random")]
        for name, found in figures.items()
        for one in (found["course"][0], found["course"][-1])
    ]
    columns = ["network", "texts asked", "states", "fresh, asking", "fresh, random", "edited, asking", "edited, random"]
    return markdown(columns, rows)
