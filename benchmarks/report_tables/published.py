"""Tables of networks that others have published."""

from __future__ import annotations

from report_tables.writing import Figures, markdown, number, rate, table

PUBLISHED = {
    "wiki": "`wiki_name_lstm`",
    "census": "`census2010_ln_lstm`",
    "florida": "`fl_all_name_lstm`",
    "dgaintel": "`dgaintel`",
}


@table("published", "published")
def published(figures: Figures) -> str:
    rows = [
        [
            PUBLISHED.get(name, f"`{name}`"),
            f"{one['texts']:,}",
            rate(one["cr"]),
            rate(one["jsd"]),
            rate(one["bag_cr"]),
            _smallest(one),
            f"{one['calls']:,}" if "calls" in one else "",
            number(one.get("cpu_seconds")),
            rate(one.get("goal")),
        ]
        for name, one in figures.items()
    ]
    columns = ["network", "extracted from", "CR", "JSD", "CR of a bag of tokens", "smallest class (texts): CR"]
    return markdown([*columns, "calls", "processor s", "goal"], rows)


def _smallest(one: Figures) -> str:
    if "smallest_cr" not in one:
        return ""
    return f"{one['smallest_class']} ({one['smallest_texts']:,}): {rate(one['smallest_cr'])}"
