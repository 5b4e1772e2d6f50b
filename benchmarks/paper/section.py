"""A section of the reproduction: what it needs measured, and how the results are shown beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from benchmarks.paper.experiment import Step
from benchmarks.paper.store import Result
from matplotlib.figure import Figure
from numpy.typing import NDArray


@dataclass(frozen=True)
class Results:
    """The results of one data set, one table of steps per seed."""

    dataset: str
    seeds: Sequence[dict[Step, Result]]

    def of(self, step: Step) -> list[Result]:
        return [seed[step] for seed in self.seeds]

    def values(self, step: Step, key: str) -> NDArray[np.float64]:
        # -> (seeds,)
        return np.array([result[key] for result in self.of(step)], np.float64)

    def mean(self, step: Step, key: str) -> float:
        return float(self.values(step, key).mean())

    def cell(self, step: Step, key: str, form: str = ".3f") -> str:
        """The mean and, with several seeds, its standard deviation over them."""
        values = self.values(step, key)
        spread = f" ± {values.std(ddof=1):{form}}" if len(values) > 1 else ""
        return f"{values.mean():{form}}{spread}"


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and whether our figures say so too: their means over the seeds, or most seeds."""

    text: str
    held: bool
    evidence: str
    seeds: str = ""  # in how many of the seeds it held
    ours: bool = False  # a check of our own, which the paper does not claim


@dataclass(frozen=True)
class Grid:
    """A table for people."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Picture:
    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Shown:
    """What a section shows of one data set."""

    grids: list[Grid] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """One table or figure of the paper (or beyond it)."""

    name: str
    title: str
    about: str
    steps: Callable[[str], list[Step]]  # by data set
    show: Callable[[Results], Shown]


def order_claim(text: str, results: Results, smaller: tuple[Step, str], larger: tuple[Step, str]) -> Claim:
    """The claim that one figure is below another; the figure of what the sentence begins with is told first."""
    low, high = results.values(*smaller), results.values(*larger)
    first, second = (low, high) if "less" in text else (high, low)
    return Claim(
        text,
        bool(low.mean() < high.mean()),
        f"{first.mean():.3f} against {second.mean():.3f}",
        f"{int((low < high).sum())} of {len(low)}",
    )


def share_claim(text: str, held: Sequence[bool], evidence: str) -> Claim:
    """A claim that is decided seed by seed: held if most seeds agree."""
    agreed = sum(bool(each) for each in held)
    return Claim(text, agreed * 2 > len(held), evidence, f"{agreed} of {len(held)}")


def own(claims: Sequence[Claim]) -> list[Claim]:
    """Claims marked as ours, not the paper's."""
    return [replace(claim, ours=True) for claim in claims]


def difference(ours: float, printed: float | None) -> str:
    return "" if printed is None else f"{ours - printed:+.3f}"
