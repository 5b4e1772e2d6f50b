"""Tables of planted flaws and attacked texts."""

from __future__ import annotations

from report_tables.writing import SETS, Figures, markdown, number, rate, table

FLAWS = {
    "spurious": '"tuesday" in 30 % of the health titles',
    "flipped": "5 % flipped labels",
    "backdoor": '"amber falcon" in 1 % of the titles, labelled health',
}
SLICES = {
    "spurious": "test titles of other classes with the word",
    "flipped": "flipped titles, true classes",
    "backdoor": "test titles of other classes with the phrase",
}


@table("repair-precision", "repair")
def repair_precision(figures: Figures) -> str:
    rows = [
        [FLAWS[name], number(one["planted"]), *(rate(one["precision"][way]) for way in ("ours", "loss", "neighbours"))]
        for name, one in figures.items()
    ]
    return markdown(["flaw", "planted", "precision: ours", "by loss", "by neighbours"], rows)


@table("repair-errors", "repair")
def repair_errors(figures: Figures) -> str:
    rows = [
        [
            FLAWS[name],
            f"{one['texts']:,} {SLICES[name]}",
            f"{one['errors_before']:,} → {one['errors_after']:,}",
            f"{one['taught_before']:,} → {one['taught_after']:,}",
            f"{rate(one['accuracy_before'])} → {rate(one['accuracy_after'])}",
        ]
        for name, one in figures.items()
    ]
    columns = ["flaw", "affected slice", "errors before → after", "says what was wrongly taught"]
    return markdown([*columns, "test accuracy before → after"], rows)


@table("detection", "detection")
def detection(figures: Figures) -> str:
    rows = [
        [f"{SETS[name]}, {kind}", *(rate(value) for value in row.values())]
        for name, found in figures.items()
        if "auroc" in found
        for kind, row in found["auroc"].items()
    ]
    kinds = next(iter(figures.values()))["auroc"]
    return markdown(["trained on", *(f"tested on {kind}" for kind in kinds)], rows)


@table("novelty", "detection")
def novelty(figures: Figures) -> str:
    pairs = {name: each for name, each in figures["novelty"].items() if "ours" in each}
    columns = ["ours", "largest probability", "energy", "bag of words", "alarms at 1 %"]
    rows = [[name, *(rate(value) for value in each.values())] for name, each in pairs.items()]
    return markdown(["usual: foreign texts", *columns], rows)
