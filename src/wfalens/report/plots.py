"""Figures of results: functions take a result and return a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.messages import printable
from wfalens.palette import AGAINST, COLOURS, FOR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wfalens.explanation import Attribution, Influence, WordMaps

_MOST_BARS = 50


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # loaded on use: it is an extra

    return Figure(figsize=(width, height), layout="constrained")


def influence_bars(scores: Influence, words: list[str]) -> Figure:
    """One panel per word: its influence on every class."""
    columns = min(2, len(words))
    rows = -(-len(words) // columns)
    figure, chosen = new_figure(4.5 * columns, 0.8 + 2.4 * rows), scores.chosen(words)
    most = 1.1 * max(0.01, float(np.abs(chosen.scores).max()))
    for number, (word, values) in enumerate(zip(words, chosen.scores, strict=True), 1):
        axes = figure.add_subplot(rows, columns, number)
        _bars(axes, scores.class_names, values, word, f"influence ({scores.unit})")
        axes.set_xlim(-most, most)
    return figure


def top_words(scores: Influence, k: int = 10) -> Figure:
    """One panel per class: the words that speak most for it."""
    k, columns = min(k, len(scores.words), _MOST_BARS), min(4, len(scores.class_names))
    rows = -(-len(scores.class_names) // columns)
    figure = new_figure(3.2 * columns, 0.6 + (0.6 + 0.22 * k) * rows)
    for number, (name, colour) in enumerate(zip(scores.class_names, cycle(len(scores.class_names)), strict=True)):
        top, axes = scores.top(name, k), figure.add_subplot(rows, columns, number + 1)
        _bars(axes, top.words, top.scores[:, number], name, f"influence ({scores.unit})", colour)
    return figure


def attribution_bars(found: Attribution) -> Figure:
    """The words of a text from top to bottom with their contributions to the predicted class."""
    figure, title = new_figure(6, 1.2 + 0.3 * len(found.words)), f"{found.label}: {found.title}"
    unit = f"contribution ({found.unit}); blue for, orange against"
    _bars(figure.add_subplot(), found.words, found.of_class(), title, unit)
    return figure


def _bars(
    axes: Axes, names: Sequence[str], values: NDArray[np.float64], title: str, unit: str, colour: str | None = None
) -> None:
    """A bar for each name from top to bottom, by default coloured by its sign."""
    axes.barh(range(len(names)), values, color=colour or [FOR if value > 0 else AGAINST for value in values])
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_title(plain(title))
    axes.set_xlabel(unit)


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


def cycle(count: int) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(count)]


def plain(word: str) -> str:
    """Words may hold matplotlib's markup, and characters that no font has."""
    return printable(word).replace("$", r"\$")
