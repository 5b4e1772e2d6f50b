"""Figures of results: functions take a result and return a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # loaded on use: it is an extra

    return Figure(figsize=(width, height), layout="constrained")


def influence_bars(scores: Influence, words: list[str]) -> Figure:
    """One panel per word: its influence on every class."""
    columns = min(2, len(words))
    rows = -(-len(words) // columns)
    figure = new_figure(4.5 * columns, 0.8 + 2.4 * rows)
    most = max(0.01, max(float(np.abs(scores.of(word)).max()) for word in words))
    for number, word in enumerate(words, 1):
        axes = figure.add_subplot(rows, columns, number)
        values = scores.of(word)
        axes.barh(
            [plain(name) for name in scores.class_names],
            values,
            color=[FOR if value > 0 else AGAINST for value in values],
        )
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlim(-1.1 * most, 1.1 * most)
        axes.invert_yaxis()
        axes.set_title(plain(word))
        axes.set_xlabel(f"influence ({scores.unit})")
    return figure


def top_words(scores: Influence, k: int = 10) -> Figure:
    """One panel per class: the words that speak most for it."""
    k, columns = min(k, len(scores.words), _MOST_BARS), min(4, len(scores.class_names))
    rows = -(-len(scores.class_names) // columns)
    figure = new_figure(3.2 * columns, 0.6 + (0.6 + 0.22 * k) * rows)
    for number, (name, colour) in enumerate(zip(scores.class_names, cycle(len(scores.class_names)), strict=True)):
        top = scores.top(name, k)
        axes = figure.add_subplot(rows, columns, number + 1)
        axes.barh(range(len(top.words)), top.scores[:, number], color=colour)
        axes.set_yticks(range(len(top.words)), [plain(word) for word in top.words])
        axes.invert_yaxis()
        axes.set_title(plain(name))
        axes.set_xlabel(f"influence ({scores.unit})")
    return figure


def attribution_bars(found: Attribution) -> Figure:
    """The words of a text from top to bottom with their contributions to the predicted class."""
    values = found.of_class()
    figure = new_figure(6, 1.2 + 0.3 * len(values))
    axes = figure.add_subplot()
    axes.barh(range(len(values)), values, color=[FOR if value > 0 else AGAINST for value in values])
    axes.set_yticks(range(len(values)), [plain(word) for word in found.words])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_title(f"{plain(str(found.label))}: {found.title}")
    axes.set_xlabel(f"contribution ({found.unit}); orange for, violet against")
    return figure


def word_maps(maps: WordMaps) -> Figure:
    """The same words in several spaces, coloured by class."""
    figure = new_figure(6.2 * len(maps.points), 6)
    for number, (name, points) in enumerate(maps.points.items(), 1):
        axes = figure.add_subplot(1, len(maps.points), number)
        for label, colour in enumerate(cycle(len(maps.class_names))):
            chosen = maps.classes == label
            axes.scatter(points[chosen, 0], points[chosen, 1], s=14, color=colour, label=plain(maps.class_names[label]))
        axes.set_title(f"{plain(name)} (t-SNE)")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(7, len(maps.class_names)))
    return figure


def pretraining_curves(result: Pretraining) -> Figure:
    """Loss and accuracy on the test texts by epoch: mean over seeds, with the spread as a band."""
    figure = new_figure(10, 4)
    for number, what in enumerate(("loss", "accuracy"), 1):
        axes = figure.add_subplot(1, 2, number)
        for curve, colour in zip(result.curves, cycle(len(result.curves)), strict=True):
            table = getattr(curve, what)
            epochs, mean, spread = np.arange(1, table.shape[1] + 1), table.mean(0), standard_deviation(table)
            axes.plot(epochs, mean, color=colour, label=plain(curve.start), marker="o", markersize=3)
            axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        axes.set_xlabel("epoch")
        axes.locator_params(axis="x", integer=True)
        axes.set_ylabel(f"test {what}")
        axes.legend(title="embedding starts from")
        axes.grid(alpha=0.3)
    figure.suptitle("Pretraining: mean over seeds, band ± one standard deviation")
    return figure


def standard_deviation(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard deviation over seeds, none where there is one only; (seeds, points) -> (points,)"""
    return np.asarray(table.std(0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1]))


def cycle(count: int) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(count)]


def plain(word: str) -> str:
    """Words may hold matplotlib's markup, and characters that no font has."""
    return printable(word).replace("$", r"\$")
