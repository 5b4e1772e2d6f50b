"""`wfalens pretrain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    AutomatonArgument,
    CorpusOption,
    DataOption,
    EncodingOption,
    HtmlOption,
    JsonOption,
    LabelColumnOption,
    PlotOption,
    TerminalProgress,
    TextColumnOption,
    VectorsOption,
    check_files,
    dataset_of,
    note,
    open_corpus,
    open_vectors,
    print_json,
    print_table,
    write_html,
    write_plot,
)
from wfalens.errors import InputError


@app.command()
def pretrain(
    automaton: AutomatonArgument,
    corpus: CorpusOption,
    test: Annotated[str | None, typer.Option("--test", help="Labelled test texts (default: the data set's).")] = None,
    vectors: VectorsOption = "wordllama",
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Take the shape of this network (default: the paper's LSTM).")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=1, help="Width of the embeddings; wider ones are reduced by PCA (default: the vectors')."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of every run.")] = 10,
    seeds: Annotated[int, typer.Option(min=1, help="Runs per start.")] = 3,
    reach: Annotated[
        float | None, typer.Option(help="Report the epochs to this accuracy (default: 99 % of the best reached).")
    ] = None,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    html: HtmlOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train the same network from transition embeddings, from word vectors and from random ones, and compare.

    Example: wfalens pretrain films.wfa --corpus rotten_tomatoes --plot curves.png
    """
    check_files(html, plot)
    if test is None and dataset_of(corpus) is None:
        raise InputError("give labelled test texts with --test")
    train_texts = open_corpus(corpus, "train", data, text_column, label_column, encoding)
    test_texts = open_corpus(test or corpus.partition(":")[0], "test", data, text_column, label_column, encoding)
    from wfalens import plots
    from wfalens.automaton import WFA
    from wfalens.explanation import TransitionEmbeddings
    from wfalens.html import table_html
    from wfalens.models.pretraining import compare_pretraining
    from wfalens.models.rnn import RNNClassifier, RNNConfig
    from wfalens.models.training import Trainer

    wfa = WFA.load(automaton)
    meaning = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    table = TransitionEmbeddings.of(wfa)
    size = min(width or meaning.width, meaning.width, len(meaning), table.width, len(table))
    if size < (width or meaning.width):
        note(f"embeddings are {size} wide, the most that this automaton and these vectors give")
    starts = {
        "transition embeddings": table.reduced(size).vectors,
        meaning.source: meaning.reduced(size),
        "random": None,
    }
    config = RNNConfig() if model is None else RNNClassifier.load(model).config
    trainer = Trainer(config=config, epochs=epochs, max_length=wfa.encoder.max_length, tokenizer=wfa.encoder.tokenizer)
    result = compare_pretraining(train_texts, test_texts, starts, trainer, range(seeds), TerminalProgress())
    best = max(float(curve.accuracy.mean(0).max()) for curve in result.curves)
    goal = 0.99 * best if reach is None else reach
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
    columns = ["start", "after epoch 1", "best", "last", f"epochs to {goal:.3f}, by seed"]
    write_html(html, f"{automaton.name}: pretraining", table_html("Test accuracy", columns, rows))
    write_plot(plot, lambda: plots.pretraining_curves(result))
    if as_json:
        print_json({**result.to_json(), "goal": goal})
        return
    print_table(f"Test accuracy, mean of {seeds} runs", columns, rows)
