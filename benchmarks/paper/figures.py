"""Figures that only the paper's experiments need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.report.plots import COLOURS, cycle, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """Values over a parameter, one row per seed."""

    at: Sequence[float]
    values: NDArray[np.float64]  # (seeds, points)


def parameter_sweep(parameter: str, curves: Mapping[str, Mapping[str, Curve]], baseline: Mapping[str, float]) -> Figure:
    """CR and JSD over a parameter, one line per automaton; `baseline` is drawn dotted."""
    figure = new_figure(9, 3.6)
    for number, (what, lines) in enumerate(curves.items(), 1):
        axes = figure.add_subplot(1, len(curves), number)
        for (name, curve), colour in zip(lines.items(), cycle(len(lines)), strict=True):
            mean, spread = curve.values.mean(0), standard_deviation(curve.values)
            axes.plot(curve.at, mean, marker="o", markersize=4, color=colour, label=plain(name))
            axes.fill_between(curve.at, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        if what in baseline:
            axes.axhline(baseline[what], linestyle=":", color="black", label="uniform")
        axes.set_xlabel(parameter)
        axes.set_ylabel(what.upper())
        axes.set_title({"cr": "consistency rate (higher is better)", "jsd": "divergence (lower is better)"}[what])
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def zipf_ranks(
    rank: Sequence[float], count: Sequence[float], expected: Sequence[float], missing: Sequence[float]
) -> Figure:
    """Counts by rank beside Zipf's law, and the share of rows that were never observed."""
    figure = new_figure(9, 3.6)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    left.loglog(rank, count, marker="o", markersize=3, color=COLOURS[0], label="data")
    left.loglog(rank, expected, linestyle="--", color=COLOURS[4], label="Zipf's law, N / (rank · ln m)")
    left.set_ylabel("count")
    left.set_title("Word counts")
    left.legend()
    right.semilogx(rank, missing, marker="o", markersize=3, color=COLOURS[2])
    right.set_ylabel("share of missing rows")
    right.set_title("Missing rows")
    right.set_ylim(-0.03, 1.03)
    for axes in (left, right):
        axes.set_xlabel("rank of the word")
        axes.grid(alpha=0.3)
    return figure


def context_shares(alphas: Sequence[float], steps: int = 12) -> Figure:
    """(1−α)·α^(i−j): how much of the decision on an earlier prefix is left."""
    figure = new_figure(6, 3.4)
    axes = figure.add_subplot()
    gaps = np.arange(steps)
    for alpha, colour in zip(alphas, cycle(len(alphas)), strict=True):
        axes.plot(gaps, (1 - alpha) * alpha**gaps, marker="o", markersize=4, color=colour, label=f"α = {alpha:g}")
    axes.set_xlabel("words since the prefix, i − j")
    axes.set_ylabel("share in dᵢ")
    axes.set_title("What is left of an earlier decision")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def cost_curves(measured: Mapping[str, tuple[Sequence[float], Sequence[float], int]]) -> Figure:
    """Seconds over what is varied, beside a bound with the given power through the last point."""
    figure = new_figure(3.6 * len(measured), 3.6)
    for number, (name, (sizes, seconds, power)) in enumerate(measured.items(), 1):
        axes = figure.add_subplot(1, len(measured), number)
        bound = seconds[-1] * (np.array(sizes) / sizes[-1]) ** power
        axes.loglog(sizes, seconds, marker="o", markersize=4, color=COLOURS[0], label="measured")
        axes.loglog(sizes, bound, linestyle="--", color=COLOURS[4], label=f"power {power}")
        axes.set_xlabel(name)
        axes.set_ylabel("seconds")
        axes.set_title(f"Extraction by {name.split()[0]}")
        axes.set_xticks(sizes, [f"{size / 1000:.0f}k" if size >= 10_000 else f"{size:g}" for size in sizes])
        axes.locator_params(axis="y", subs=(1, 2, 5))
        axes.yaxis.set_major_formatter("{x:g}")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter("")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def standard_deviation(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation over seeds, none where there is one only; (seeds, points) -> (points,)"""
    return np.asarray(table.std(0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1]))
