"""Every figure: functions take results and return a matplotlib figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.messages import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from wfalens.explanation import Attribution, Influence, WordMaps
    from wfalens.models.rnn.pretraining import Pretraining

# Okabe and Ito's colours (their yellow, too pale on white, replaced), which colour-blind readers can tell apart
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#332288", "#000000")
FOR, AGAINST = "#E66101", "#5E3C99"
_MOST_BARS = 50


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # loaded on use: it is an extra

    return Figure(figsize=(width, height), layout="constrained")


def influence_bars(scores: Influence, words: list[str]) -> Figure:
    """One panel per word: its influence on every class."""
    columns = min(2, len(words))
    rows = -(-len(words) // columns)
    figure = _figure(4.5 * columns, 0.8 + 2.4 * rows)
    most = max(0.01, max(float(np.abs(scores.of(word)).max()) for word in words))
    for number, word in enumerate(words, 1):
        axes = figure.add_subplot(rows, columns, number)
        values = scores.of(word)
        axes.barh(
            [_plain(name) for name in scores.class_names],
            values,
            color=[FOR if value > 0 else AGAINST for value in values],
        )
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlim(-1.1 * most, 1.1 * most)
        axes.invert_yaxis()
        axes.set_title(_plain(word))
        axes.set_xlabel(f"influence ({scores.unit})")
    return figure


def top_words(scores: Influence, k: int = 10) -> Figure:
    """One panel per class: the words that speak most for it."""
    k, columns = min(k, len(scores.words), _MOST_BARS), min(4, len(scores.class_names))
    rows = -(-len(scores.class_names) // columns)
    figure = _figure(3.2 * columns, 0.6 + (0.6 + 0.22 * k) * rows)
    for number, (name, colour) in enumerate(zip(scores.class_names, _cycle(len(scores.class_names)), strict=True)):
        top = scores.top(name, k)
        axes = figure.add_subplot(rows, columns, number + 1)
        axes.barh(range(len(top.words)), top.scores[:, number], color=colour)
        axes.set_yticks(range(len(top.words)), [_plain(word) for word in top.words])
        axes.invert_yaxis()
        axes.set_title(_plain(name))
        axes.set_xlabel(f"influence ({scores.unit})")
    return figure


def attribution_bars(found: Attribution) -> Figure:
    """The words of a text from top to bottom with their contributions to the predicted class."""
    values = found.of_class()
    figure = _figure(6, 1.2 + 0.3 * len(values))
    axes = figure.add_subplot()
    axes.barh(range(len(values)), values, color=[FOR if value > 0 else AGAINST for value in values])
    axes.set_yticks(range(len(values)), [_plain(word) for word in found.words])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_title(f"{_plain(str(found.label))}: {found.title}")
    axes.set_xlabel(f"contribution ({found.unit}); orange for, violet against")
    return figure


def word_maps(maps: WordMaps) -> Figure:
    """The same words in several spaces, coloured by class."""
    figure = _figure(6.2 * len(maps.points), 6)
    for number, (name, points) in enumerate(maps.points.items(), 1):
        axes = figure.add_subplot(1, len(maps.points), number)
        for label, colour in enumerate(_cycle(len(maps.class_names))):
            chosen = maps.classes == label
            axes.scatter(
                points[chosen, 0], points[chosen, 1], s=14, color=colour, label=_plain(maps.class_names[label])
            )
        axes.set_title(f"{_plain(name)} (t-SNE)")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(7, len(maps.class_names)))
    return figure


def pretraining_curves(result: Pretraining) -> Figure:
    """Loss and accuracy on the test texts by epoch: mean over seeds, with the spread as a band."""
    figure = _figure(10, 4)
    for number, what in enumerate(("loss", "accuracy"), 1):
        axes = figure.add_subplot(1, 2, number)
        for curve, colour in zip(result.curves, _cycle(len(result.curves)), strict=True):
            table = getattr(curve, what)
            epochs, mean, spread = np.arange(1, table.shape[1] + 1), table.mean(0), _spread(table)
            axes.plot(epochs, mean, color=colour, label=_plain(curve.start), marker="o", markersize=3)
            axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        axes.set_xlabel("epoch")
        axes.locator_params(axis="x", integer=True)
        axes.set_ylabel(f"test {what}")
        axes.legend(title="embedding starts from")
        axes.grid(alpha=0.3)
    figure.suptitle("Pretraining: mean over seeds, band ± one standard deviation")
    return figure


class Curve(NamedTuple):
    """Values over a parameter, one row per seed."""

    at: Sequence[float]
    values: NDArray[np.float64]  # (seeds, points)


def parameter_sweep(parameter: str, curves: Mapping[str, Mapping[str, Curve]], baseline: Mapping[str, float]) -> Figure:
    """CR and JSD over a parameter, one line per automaton; `baseline` is drawn dotted."""
    figure = _figure(9, 3.6)
    for number, (what, lines) in enumerate(curves.items(), 1):
        axes = figure.add_subplot(1, len(curves), number)
        for (name, curve), colour in zip(lines.items(), _cycle(len(lines)), strict=True):
            mean, spread = curve.values.mean(0), _spread(curve.values)
            axes.plot(curve.at, mean, marker="o", markersize=4, color=colour, label=_plain(name))
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
    figure = _figure(9, 3.6)
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
    figure = _figure(6, 3.4)
    axes = figure.add_subplot()
    gaps = np.arange(steps)
    for alpha, colour in zip(alphas, _cycle(len(alphas)), strict=True):
        axes.plot(gaps, (1 - alpha) * alpha**gaps, marker="o", markersize=4, color=colour, label=f"α = {alpha:g}")
    axes.set_xlabel("words since the prefix, i − j")
    axes.set_ylabel("share in dᵢ")
    axes.set_title("What is left of an earlier decision")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def cost_curves(measured: Mapping[str, tuple[Sequence[float], Sequence[float], int]]) -> Figure:
    """Seconds over what is varied, beside a bound with the given power through the last point."""
    figure = _figure(3.6 * len(measured), 3.6)
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


def _spread(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation over seeds, none where there is one only; (seeds, points) -> (points,)"""
    return np.asarray(table.std(0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1]))


def _cycle(count: int) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(count)]


def _plain(word: str) -> str:
    """Words may hold matplotlib's markup, and characters that no font has."""
    return printable(word).replace("$", r"\$")
