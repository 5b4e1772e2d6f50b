"""Every figure: functions take results and return a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wfalens.text import printable

if TYPE_CHECKING:
    from wfalens.corpus.vectors import WordVectors
    from wfalens.explanation import Attribution, Influence
    from wfalens.models.pretraining import Pretraining

# Okabe and Ito's colours (their yellow, too pale on white, replaced), which colour-blind readers can tell apart
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#332288", "#000000")
FOR, AGAINST = "#E66101", "#5E3C99"
_MOST_BARS = 50


def influence_bars(scores: Influence, words: list[str]) -> Figure:
    """One panel per word: its influence on every class."""
    columns = min(2, len(words))
    rows = -(-len(words) // columns)
    figure = Figure(figsize=(4.5 * columns, 0.8 + 2.4 * rows), layout="constrained")
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
    figure = Figure(figsize=(3.2 * columns, 0.6 + (0.6 + 0.22 * k) * rows), layout="constrained")
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
    figure = Figure(figsize=(6, 1.2 + 0.3 * len(values)), layout="constrained")
    axes = figure.add_subplot()
    axes.barh(range(len(values)), values, color=[FOR if value > 0 else AGAINST for value in values])
    axes.set_yticks(range(len(values)), [_plain(word) for word in found.words])
    axes.invert_yaxis()
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_title(f"Contributions to {_plain(str(found.label))}")
    axes.set_xlabel(f"contribution ({found.unit}); orange for, violet against")
    return figure


def word_maps(
    spaces: dict[str, WordVectors], words: list[str], classes: list[int], class_names: tuple[str, ...], seed: int = 0
) -> Figure:
    """t-SNE of the same words in several spaces, coloured by class."""
    from sklearn.manifold import TSNE

    figure = Figure(figsize=(6.2 * len(spaces), 6), layout="constrained")
    labels = np.array(classes)
    for number, (name, space) in enumerate(spaces.items(), 1):
        matrix = np.array([space[word] for word in words])
        perplexity = min(30.0, (len(words) - 1) / 3)
        placed: NDArray[np.float32] = TSNE(perplexity=perplexity, random_state=seed, init="pca").fit_transform(matrix)
        axes = figure.add_subplot(1, len(spaces), number)
        for label, colour in enumerate(_cycle(len(class_names))):
            chosen = labels == label
            axes.scatter(placed[chosen, 0], placed[chosen, 1], s=14, color=colour, label=_plain(class_names[label]))
        axes.set_title(f"{_plain(name)} (t-SNE)")
        axes.set_xticks([])
        axes.set_yticks([])
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=min(7, len(class_names)))
    return figure


def pretraining_curves(result: Pretraining) -> Figure:
    """Loss and accuracy on the test texts by epoch: mean over seeds, with the spread as a band."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    for number, what in enumerate(("loss", "accuracy"), 1):
        axes = figure.add_subplot(1, 2, number)
        for curve, colour in zip(result.curves, _cycle(len(result.curves)), strict=True):
            table = getattr(curve, what)
            epochs, mean, spread = np.arange(1, table.shape[1] + 1), table.mean(0), table.std(0)
            axes.plot(epochs, mean, color=colour, label=_plain(curve.start), marker="o", markersize=3)
            axes.fill_between(epochs, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
        axes.set_xlabel("epoch")
        axes.set_ylabel(f"test {what}")
        axes.legend(title="embedding starts from")
        axes.grid(alpha=0.3)
    figure.suptitle("Pretraining: mean over seeds, band ± one standard deviation")
    return figure


def _cycle(count: int) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(count)]


def _plain(word: str) -> str:
    """Words may hold matplotlib's markup, and characters that no font has."""
    return printable(word).replace("$", r"\$")
