"""Tables of network and automaton by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.cli.output import print_table, say

if TYPE_CHECKING:
    from wfalens.evaluation import Estimate, GroupReport

_SHOWN_GAPS = 10


def print_groups(report: GroupReport) -> None:
    """Agreement and rates by group, then the widest gaps, the widest first."""
    agreements = [
        [group.name, f"{group.agreement.texts:,}", f"{group.agreement.cr:.3f}", f"{group.agreement.jsd:.3f}"]
        for group in report.groups
    ]
    print_table(f"By {report.column}", ["", "texts", "CR [95 %]", "JSD [95 %]"], agreements)
    columns = ["group", "class", "who", "selected", "true positives", "false positives"]
    rates = [
        [group.name, name, side, *map(_told, vars(each).values())]
        for group in report.groups
        for name in report.positive
        for side, each in ((side, by_class[name]) for side, by_class in group.rates.items())
    ]
    print_table(f"How often a class is chosen, by {report.column} [95 %]", columns, rates)
    if not report.has_labels:
        say("without labels there are no true- and false-positive rates")
    gaps = [
        [
            gap.measure + ("" if gap.side is None else f", {gap.side}, {gap.class_name}"),
            gap.high,
            gap.low,
            f"{gap.difference:.3f}",
            "" if gap.is_clear else "may be chance",
        ]
        for gap in report.gaps[:_SHOWN_GAPS]
    ]
    if gaps:
        print_table(f"Widest gaps between groups of {report.column}", ["", "highest", "lowest", "gap [95 %]", ""], gaps)
    small = len(report.groups) - report.compared
    if small:
        say(f"{small} of {len(report.groups)} groups have fewer than {report.least_texts} texts and are not compared")


def _told(value: Estimate | None) -> str:
    return "–" if value is None else f"{value:.3f}"
