"""Tables of network and automaton by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wfalens.cli.legacy.output import print_table, say

if TYPE_CHECKING:
    from wfalens.evaluation import Estimate, GroupReport

_SHOWN_GAPS, _SHOWN_CLASSES = 10, 3


def print_groups(report: GroupReport) -> None:
    """Agreement by group, the widest gaps, the widest first, and the rates behind them."""
    agreements = [
        [group.name, f"{group.agreement.texts:,}", f"{group.agreement.cr:.3f}", f"{group.agreement.jsd:.3f}"]
        for group in report.groups
    ]
    print_table(f"By {report.column}", ["", "texts", "CR [95 %]", "JSD [95 %]"], agreements)
    _print_gaps(report)
    _print_rates(report)


def _print_gaps(report: GroupReport) -> None:
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


def _print_rates(report: GroupReport) -> None:
    """Of many classes, those with the widest gaps."""
    classes = report.positive
    if len(classes) > _SHOWN_CLASSES:
        gapped = dict.fromkeys(gap.class_name for gap in report.gaps if gap.class_name is not None)
        classes = tuple(list(gapped)[:_SHOWN_CLASSES]) or classes[:_SHOWN_CLASSES]
    rates = [
        [group.name, name, side, *map(_told, vars(by_class[name]).values())]
        for name in classes
        for group in report.groups
        for side, by_class in group.rates.items()
    ]
    columns = ["group", "class", "who", "selected", "true positives", "false positives"]
    print_table(f"How often a class is chosen, by {report.column} [95 %]", columns, rates)
    if len(classes) < len(report.positive):
        say(
            f"these are the {len(classes)} of {len(report.positive)} classes with the widest gaps; --positive CLASS "
            "tells another, --json all"
        )
    if not report.has_labels:
        say("without labels there are no true- and false-positive rates")


def _told(value: Estimate | None) -> str:
    return "–" if value is None else f"{value:.3f}"
