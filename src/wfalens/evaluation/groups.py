"""Network and automaton by group: agreement, selection rate, true- and false-positive rate, and the largest gaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.evaluation.comparison import Agreement, Comparison, Estimate, agreement, wilson
from wfalens.results import Result, plain
from wfalens.validation import check_choice

RATES = ("selection rate", "true-positive rate", "false-positive rate")
_MOST_GROUPS = 100
_SHOWN = 5  # groups and gaps in the printed form
_LEAST_TEXTS = 10  # of a group, and behind a rate, that is compared with others


@dataclass(frozen=True)
class GroupRates:
    """How often a class is chosen: in all texts, in those that are of it, and in those that are not."""

    selected: Estimate
    true_positive: Estimate | None  # None: no labels, or no such text
    false_positive: Estimate | None


@dataclass(frozen=True)
class Group:
    """The texts of one group; rates by the side that chooses and by class."""

    name: str
    agreement: Agreement
    rates: dict[str, dict[str, GroupRates]]  # side -> class -> rates
    labelled: dict[str, int] | None = None  # class -> texts of the group that are of it; None: no labels


@dataclass(frozen=True)
class Gap:
    """The difference of a measure between two groups, with its 95 % interval (Newcombe's, from those of the groups)."""

    measure: str
    side: str | None  # whose rate it is; None: of the agreement of both
    class_name: str | None
    high: str
    low: str
    difference: Estimate

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes 0."""
        return self.difference.low > 0

    def __str__(self) -> str:
        whose = "" if self.side is None else f" of {self.class_name!r} by the {self.side}"
        return f"{self.measure}{whose}: {self.high} over {self.low} by {self.difference:.3f}"


@dataclass(frozen=True, repr=False)
class GroupReport(Result):
    """Agreement and rates of every group, and for each measure the widest gap, the widest of all first."""

    column: str
    positive: tuple[str, ...]  # the classes whose rates are reported
    groups: tuple[Group, ...]  # the largest first
    gaps: tuple[Gap, ...]
    has_labels: bool
    least_texts: int = _LEAST_TEXTS  # smaller groups, and rates of fewer texts, are not compared

    @property
    def compared(self) -> int:
        """Groups that are large enough to be compared."""
        return sum(group.agreement.texts >= self.least_texts for group in self.groups)

    def to_dict(self) -> dict[str, Any]:
        gaps = [plain(gap) | {"clear": gap.is_clear} for gap in self.gaps]
        return super().to_dict() | {"gaps": gaps, "compared": self.compared}

    @property
    def title(self) -> str:
        return f"Network and automaton by {self.column}"

    def summary(self) -> str:
        """Agreement of the largest groups, and the widest gaps."""
        shown = [f"{group.name}: {group.agreement}" for group in self.groups[:_SHOWN]]
        return "\n".join([self.title, *shown, *map(str, self.gaps[:_SHOWN])])

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per group, side and class."""
        for group in self.groups:
            shared = {"group": group.name, "texts": group.agreement.texts}
            shared |= {"cr": group.agreement.cr.value, "jsd": group.agreement.jsd.value}
            for side, by_class in group.rates.items():
                for name, rates in by_class.items():
                    values = {field: None if each is None else each.value for field, each in vars(rates).items()}
                    yield shared | {"side": side, "class": name} | values


def compare_groups(
    comparison: Comparison,
    groups: Sequence[str],
    class_names: Sequence[str],
    rng: np.random.Generator,
    *,
    column: str = "group",
    positive: str | None = None,
) -> GroupReport:
    """Compare groups of texts. groups: one name for each text

    positive    the class whose rates are reported (default: of two classes the second, else every class)
    """
    check_groups(groups, len(comparison))
    positives = positive_classes(class_names, positive)
    names, number, sizes = np.unique(
        np.asarray(groups, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    if len(names) > _MOST_GROUPS:
        raise InputError(
            f"{column} has {len(names):,} different values; groups are compared up to {_MOST_GROUPS}: name a column "
            "with fewer, or put its values into ranges",
            code="groups",
        )
    order = np.argsort(-sizes, kind="stable")
    found = tuple(_group(str(names[at]), comparison, number == at, positives, class_names, rng) for at in order)
    return GroupReport(column, positives, found, tuple(_gaps(found)), comparison.truth is not None)


def check_groups(groups: Sequence[str], texts: int) -> None:
    """Refuse groups that are not one for each text."""
    if isinstance(groups, str) or len(groups) != texts:
        raise InputError(f"there are {len(groups):,} groups for {texts:,} texts; give one for each text", code="groups")


def positive_classes(class_names: Sequence[str], positive: str | None) -> tuple[str, ...]:
    """The classes whose rates are reported."""
    if positive is None:
        return (class_names[1],) if len(class_names) == 2 else tuple(class_names)
    check_choice("class", positive, class_names)
    return (positive,)


def _group(
    name: str,
    comparison: Comparison,
    members: NDArray[np.bool_],
    positives: Sequence[str],
    class_names: Sequence[str],
    rng: np.random.Generator,
) -> Group:
    truth = None if comparison.truth is None else comparison.truth[members]
    numbers = {each: class_names.index(each) for each in positives}
    sides = {"network": comparison.label[members], "automaton": comparison.predicted[members]}
    rates = {
        side: {name: _rates(chosen == number, truth, number) for name, number in numbers.items()}
        for side, chosen in sides.items()
    }
    labelled = None if truth is None else {name: int(np.sum(truth == number)) for name, number in numbers.items()}
    return Group(name, agreement(comparison.agrees[members], comparison.divergence[members], rng), rates, labelled)


def _rates(chosen: NDArray[np.bool_], truth: NDArray[np.int32] | None, label: int) -> GroupRates:
    if truth is None:
        return GroupRates(_share(chosen), None, None)
    of_it, others = chosen[truth == label], chosen[truth != label]
    return GroupRates(_share(chosen), _share(of_it) if len(of_it) else None, _share(others) if len(others) else None)


def _share(flags: NDArray[np.bool_]) -> Estimate:
    return wilson(int(flags.sum()), len(flags))


def _gaps(groups: Sequence[Group]) -> list[Gap]:
    """For each measure the widest gap, the widest of all first."""
    compared = [group for group in groups if group.agreement.texts >= _LEAST_TEXTS]
    measured: dict[tuple[str, str | None, str | None], list[tuple[str, Estimate]]] = {}
    for group in compared:
        for key, value in _measures(group):
            measured.setdefault(key, []).append((group.name, value))
    widest = [_widest(key, values) for key, values in measured.items() if len(values) > 1]
    return sorted(widest, key=lambda gap: -gap.difference.value)


def _measures(group: Group) -> Iterator[tuple[tuple[str, str | None, str | None], Estimate]]:
    yield ("CR", None, None), group.agreement.cr
    yield ("JSD", None, None), group.agreement.jsd
    for side, by_class in group.rates.items():
        for name, rates in by_class.items():
            of_it = 0 if group.labelled is None else group.labelled[name]
            behind = (group.agreement.texts, of_it, group.agreement.texts - of_it)
            for measure, value, texts in zip(RATES, vars(rates).values(), behind, strict=True):
                if value is not None and texts >= _LEAST_TEXTS:
                    yield (measure, side, name), value


def _widest(key: tuple[str, str | None, str | None], values: Sequence[tuple[str, Estimate]]) -> Gap:
    high, low = max(
        ((one, other) if one[1].value >= other[1].value else (other, one) for one, other in combinations(values, 2)),
        key=lambda pair: pair[0][1].value - pair[1][1].value,
    )
    return Gap(*key, high[0], low[0], difference(high[1], low[1]))


def difference(high: Estimate, low: Estimate) -> Estimate:
    """One value minus another of other texts, with the interval that theirs imply (Newcombe 1998, method 10)."""
    gap = high.value - low.value
    return Estimate(
        gap,
        gap - math.hypot(high.value - high.low, low.high - low.value),
        gap + math.hypot(high.high - high.value, low.value - low.low),
    )
