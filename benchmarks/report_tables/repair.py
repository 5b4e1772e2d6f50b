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
    columns = {
        "ours": "ours",
        "max_probability": "largest probability",
        "energy": "energy",
        "bag_of_words": "bag of words",
        "alarms at 1 %": "alarms at 1 %",
    }
    rows = [[name, *(rate(each[column]) for column in columns)] for name, each in _foreign(figures)]
    return markdown(["usual: foreign texts", *columns.values()], rows)


@table("stream", "detection")
def stream(figures: Figures) -> str:
    pairs = _foreign(figures)
    rows = [
        [name, *("not in 3,000" if wait is None else number(wait) for wait in each["delays"].values())]
        for name, each in pairs
    ]
    return markdown(["usual: foreign texts", *pairs[0][1]["delays"]], rows)


def _foreign(figures: Figures) -> list[tuple[str, Figures]]:
    return [(name, each) for name, each in figures["novelty"].items() if "ours" in each]
