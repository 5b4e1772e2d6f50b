"""`wfalens pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, check_plot, write_html, write_plot
from wfalens.cli.legacy.inputs import USUAL, Reader, dataset_of, open_vectors
from wfalens.cli.legacy.output import print_json, print_table
from wfalens.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from wfalens.models.rnn.pretraining import Pretraining


def pretrain_cli(
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="TEXTS", help="Labelled test texts.", show_default="those of the data set"),
    ] = None,
    vectors: opt.Vectors = "wordllama",
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", "-m", metavar="FILE", help="Take the shape of this .rnn.", show_default="the paper's LSTM"
        ),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Width of the embeddings; wider ones are reduced by PCA.",
            show_default="of the vectors",
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(metavar="N", min=1, help="Epochs of every run.")] = 10,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Runs per start.")] = 3,
    reach: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Report the epochs to this accuracy.", show_default="99 % of the best reached"
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    plot: opt.Plot = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train the same network from transition embeddings, from word vectors and from random ones, and compare.

    It shows whether what the automaton knows of the words helps a network to learn faster.

    Example:
      wfalens pretrain films.wfa --corpus rotten_tomatoes --plot curves.png
    """
    from wfalens.html import table_html

    check_plot(plot)
    check_outputs(html, plot, force=force)
    result = pretrain(
        automaton,
        corpus,
        test=test,
        vectors=vectors,
        model=model,
        width=width,
        epochs=epochs,
        seeds=seeds,
        reader=Reader(data, text_column, label_column, encoding),
    )
    goal = 0.99 * max(float(curve.accuracy.mean(0).max()) for curve in result.curves) if reach is None else reach
    columns = ["start", "after epoch 1", "best", "last", f"epochs to {goal:.3f}, by seed"]
    rows = _rows(result, goal, epochs)
    write_html(html, f"{automaton.name}: pretraining", table_html("Test accuracy", columns, rows))
    write_plot(plot, lambda: _curves(result))
    if as_json:
        print_json({**result.to_json(), "goal": goal})
    else:
        print_table(f"Test accuracy, mean of {seeds} runs", columns, rows)


def pretrain(
    automaton: Path,
    corpus: str,
    *,
    test: str | None = None,
    vectors: str = "wordllama",
    model: Path | None = None,
    width: int | None = None,
    epochs: int = 10,
    seeds: int = 3,
    reader: Reader = USUAL,
) -> Pretraining:
    """Train a network from three starts and follow its accuracy on test texts."""
    if test is None and dataset_of(corpus) is None:
        raise InputError("give labelled test texts with --test")
    train_texts = reader.corpus(corpus, "train")
    test_texts = reader.corpus(test or corpus.partition(":")[0], "test")
    from wfalens.automaton import WFA
    from wfalens.explanation import TransitionEmbeddings
    from wfalens.models.rnn.classifier import RNNClassifier, RNNConfig
    from wfalens.models.rnn.pretraining import compare_pretraining
    from wfalens.models.rnn.training import Trainer

    wfa = WFA.load(automaton)
    meaning = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    table = TransitionEmbeddings.of(wfa)
    if not len(meaning):
        raise InputError(f"{meaning.source} knows no word of the automaton; give other --vectors")
    size = min(width or meaning.width, meaning.width, len(meaning), table.width, len(table))
    if size < (width or meaning.width):
        progress.say(f"embeddings are {size} wide, the most that this automaton and these vectors give")
    starts = {
        "transition embeddings": table.reduced(size).vectors,
        meaning.source: meaning.reduced(size),
        "random": None,
    }
    config = RNNConfig() if model is None else RNNClassifier.load(model).config
    trainer = Trainer(config=config, epochs=epochs, max_length=wfa.encoder.max_length, tokenizer=wfa.encoder.tokenizer)
    return compare_pretraining(train_texts, test_texts, starts, trainer, range(seeds))


def _rows(result: Pretraining, goal: float, epochs: int) -> list[list[str]]:
    rows = []
    for curve in result.curves:
        mean = curve.accuracy.mean(0)
        reached = [epoch if epoch is not None else f"> {epochs}" for epoch in curve.epochs_to(goal)]
        rows.append(
            [
                curve.start,
                f"{mean[0]:.3f}",
                f"{mean.max():.3f}",
                f"{mean[-1]:.3f} ± {curve.accuracy[:, -1].std():.3f}",
                ", ".join(map(str, reached)),
            ]
        )
    return rows


def _curves(result: Pretraining) -> Figure:
    from wfalens.report import plots

    return plots.pretraining_curves(result)
