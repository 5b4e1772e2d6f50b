"""Tables of how faithful automata are."""

from __future__ import annotations

from report_tables.writing import CLASSES, SETS, Figures, markdown, number, pair, rate, table, wilson


@table("fidelity", "fidelity")
def fidelity(figures: Figures) -> str:
    """What `extract` delivers by default, for the first page that a reader sees."""
    rows = []
    for name, kinds in figures.items():
        auto = kinds["auto"]
        interval = f" {wilson(auto['cr'], round(auto['texts']))}" if auto.get("texts") else ""
        rows.append(
            [
                f"{SETS[name]}, {CLASSES.get(name, 2)} classes",
                f"**{rate(auto['cr'])}**{interval}",
                rate(auto["jsd"], 4),
                rate(kinds.get("readable", {}).get("cr")),
                rate(kinds.get("bag", {}).get("cr")),
                number(auto.get("cpu_seconds")),
            ]
        )
    return markdown(
        ["", "CR of the automaton", "JSD", "CR of its readable automaton", "CR of a bag of words", "processor s"], rows
    )


@table("fidelity-default", "fidelity")
def fidelity_default(figures: Figures) -> str:
    """The same with all that is known of it."""
    rows = []
    for name, kinds in figures.items():
        auto, readable, paper = kinds["auto"], kinds.get("readable", {}), kinds.get("paper", {})
        rows.append(
            [
                SETS[name],
                str(auto.get("chosen", "")),
                number(auto.get("lstms")),
                rate(auto["cr"]),
                rate(auto["jsd"], 4),
                pair(auto.get("cr80"), auto.get("cr90")),
                pair(readable.get("cr"), readable.get("jsd")),
                rate(kinds.get("bag", {}).get("cr")),
                pair(paper.get("cr"), paper.get("jsd")),
                number(auto.get("cpu_seconds")),
            ]
        )
    columns = [
        "",
        "chosen",
        "LSTMs",
        "CR",
        "JSD",
        "CR on the surest 80 / 90 %",
        "readable automaton: CR / JSD",
        "bag of words",
    ]
    return markdown([*columns, "paper's method: CR / JSD", "processor s"], rows)


@table("anytime", "anytime")
def anytime(figures: Figures) -> str:
    """What growing limits of time buy, kind by kind."""
    rows = [
        [
            kind,
            "none" if each["whole"] else f"{number(each['limit'])} s",
            number(each["cpu_seconds"]),
            rate(each["cr"]),
            rate(each["jsd"], 4),
        ]
        for kind, points in figures.items()
        for each in points
    ]
    return markdown(["", "limit", "processor s", "CR", "JSD"], rows)


NAMES = {"transformer": "bidirectional transformer", "bigru": "BiGRU", "cnn": "CNN", "tfidf": "TF-IDF pipeline"}
CALLS = ("3", "10", "40", "60", "all")


@table("anymodel", "anymodel")
def anymodel(figures: Figures) -> str:
    """CR by calls a text, beside all prefixes, and what ten calls take of their processor time."""
    rows: dict[str, dict[str, Figures]] = {}
    for key, each in figures.items():
        name, kind, calls = key.split(".")
        rows.setdefault(f"{SETS[name]}, {NAMES[kind]}", {})[calls] = each
    lines = []
    for name, points in rows.items():
        every, ten = points.get("all"), points.get("10")
        share = ten["cpu_seconds"] / every["cpu_seconds"] if every and ten else None
        bag = next(iter(points.values()))["bag_cr"]
        crs = [rate(points[calls]["cr"], 4) if calls in points else "" for calls in CALLS]
        lines.append([name, *crs, rate(bag, 4), "" if share is None else f"{100 * share:.0f} %"])
    asked = [*(f"{calls} calls" for calls in CALLS[:-1]), "all prefixes"]
    columns = ["", *asked, "bag of words", "time of 10 calls"]
    return markdown(columns, lines)
