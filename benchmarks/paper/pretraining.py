"""Pretraining (paper §5.4): the same network from different initial embeddings, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.paper.figures import standard_deviation
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.models.rnn.training import Trainer, unit_spread
from wfalens.report.plots import cycle, new_figure, plain
from wfalens.text.corpus import Corpus
from wfalens.text.word_vectors import WordVectors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss and accuracy on the test texts after every epoch; (seeds, epochs)."""

    start: str
    loss: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    def epochs_to(self, accuracy: float) -> list[int | None]:
        """The first epoch of each seed that reaches an accuracy, None if none does."""
        reached = self.accuracy >= accuracy
        return [int(row.argmax()) + 1 if row.any() else None for row in reached]


@dataclass(frozen=True, eq=False)
class Pretraining:
    curves: tuple[Curve, ...]

    def to_dataframe(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            [
                {"start": curve.start, "seed": seed, "epoch": epoch + 1, "loss": loss, "accuracy": accuracy}
                for curve in self.curves
                for seed, pair in enumerate(zip(curve.loss, curve.accuracy, strict=True))
                for epoch, (loss, accuracy) in enumerate(zip(*pair, strict=True))
            ]
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "curves": [
                {key: value if isinstance(value, str) else value.tolist() for key, value in asdict(curve).items()}
                for curve in self.curves
            ]
        }


def compare_pretraining(
    train: Corpus,
    test: Corpus,
    starts: Mapping[str, WordVectors | None],
    trainer: Trainer,
    seeds: Sequence[int] = (0, 1, 2),
) -> Pretraining:
    """Train with every start (None: random) and seed, for all of the trainer's epochs.

    All starts have the same width, and words without a vector start at random in each. Vectors are scaled to the
    spread of the random start, so that the comparison is of directions and not of step sizes.
    """
    widths = {vectors.width for vectors in starts.values() if vectors is not None}
    if len(widths) > 1:
        raise InputError(f"the starts have different widths: {', '.join(map(str, sorted(widths)))}")
    width = widths.pop() if widths else trainer.config.embedding
    scaled = {name: None if vectors is None else unit_spread(vectors) for name, vectors in starts.items()}
    curves = []
    for name, vectors in scaled.items():
        runs = []
        for seed in seeds:
            setup = replace(
                trainer, config=replace(trainer.config, embedding=width), seed=seed, patience=trainer.epochs
            )
            training = setup.train(train, vectors, held_out=test)
            if training.interrupted:
                raise KeyboardInterrupt  # a curve that ends early compares to nothing
            runs.append([(epoch.validation_loss, epoch.validation_accuracy) for epoch in training.epochs])
        table = np.array(runs)
        curves.append(Curve(name, table[:, :, 0], table[:, :, 1]))
    return Pretraining(tuple(curves))


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
