"""Tables of readable automata beside what one might read instead."""

from __future__ import annotations

from report_tables.writing import SETS, Figures, markdown, number, pair, rate, table

SIZES = {"tiny": "9 states × 12 clusters", "page": "13 × 32", "poster": "25 × 64"}
READ_INSTEAD = {
    "tiny": "readable, 9 × 12",
    "page": "readable, 13 × 32",
    "poster": "readable, 25 × 64",
    "bag": "logistic regression on all words",
    "sparse": "sparse logistic regression on words, pairs and triples",
    "phrases": "deciding phrases that vote",
    "rules": "rules from boosted trees (RuleFit's recipe)",
    "tree": "decision tree with 400 leaves",
}


@table("readable", "readable")
def readable(figures: Figures) -> str:
    rows = [
        [
            SETS[name] + (": CR / JSD" if at == 0 else ""),
            *(pair(found.get(size, {}).get("cr"), found.get(size, {}).get("jsd")) or "–" for size in SIZES),
        ]
        for at, (name, found) in enumerate(figures.items())
    ]
    seconds = [[found[size].get("cpu_seconds") for found in figures.values() if size in found] for size in SIZES]
    if all(None not in each for each in seconds):
        rows.append(["processor seconds", *(f"{min(each):.0f}–{max(each):.0f}" for each in seconds)])
    return markdown(["", *SIZES.values()], rows)


@table("readable-rivals", "readable")
def readable_rivals(figures: Figures) -> str:
    """What one might read instead: automata and rivals of all sets."""
    rows = [
        [told, *(_read(found.get(method)) for found in figures.values())]
        for method, told in READ_INSTEAD.items()
        if any(method in found for found in figures.values())
    ]
    return markdown(["CR / JSD / numbers to read", *(SETS[name] for name in figures)], rows)


def _read(row: Figures | None) -> str:
    if row is None:
        return "–"
    return " / ".join([rate(row["cr"]), rate(row.get("jsd")) or "–", number(row.get("numbers")) or "–"])
