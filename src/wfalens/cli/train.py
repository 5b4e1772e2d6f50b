"""`wfalens train`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    CorpusOption,
    DataOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    LabelColumnOption,
    SeedOption,
    TerminalProgress,
    TextColumnOption,
    check_output,
    dataset_of,
    note,
    open_corpus,
    open_vectors,
    print_json,
    print_table,
)
from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.vocabulary import Vocabulary
from wfalens.errors import InputError


@app.command()
def train(
    corpus: CorpusOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="The checkpoint to write, for example news.rnn.")],
    test: Annotated[
        str | None,
        typer.Option("--test", help="Labelled texts to report the accuracy on (default: the data set's)."),
    ] = None,
    cell: Annotated[str, typer.Option(help="Kind of network: lstm, gru or elman.")] = "lstm",
    embedding: Annotated[int, typer.Option(help="Width of the embedding (the vectors' width with --vectors).")] = 100,
    hidden: Annotated[int, typer.Option(help="Width of the hidden state.")] = 64,
    layers: Annotated[int, typer.Option(help="Number of recurrent layers.")] = 1,
    dropout: Annotated[float, typer.Option(help="Dropout on embedding and hidden state.")] = 0.5,
    vectors: Annotated[
        str | None,
        typer.Option(help="Start the embedding from word vectors: a GloVe or word2vec file, or wordllama."),
    ] = None,
    epochs: Annotated[int, typer.Option(help="Passes over the texts at most.")] = 25,
    patience: Annotated[int, typer.Option(help="Stop after so many epochs without a better held-out accuracy.")] = 4,
    batch_size: Annotated[int, typer.Option(help="Texts per step.")] = 64,
    learning_rate: Annotated[float, typer.Option(help="Adam's learning rate.")] = 2e-3,
    validation: Annotated[float, typer.Option(help="Share of the texts held out to choose the best epoch.")] = 0.1,
    balance: Annotated[bool, typer.Option("--balance", help="Weight classes inversely to their size.")] = False,
    min_count: Annotated[int, typer.Option(help="Words seen less often become <unk>.")] = 1,
    max_length: Annotated[
        int | None,
        typer.Option(help="Cut texts after so many tokens, 0: never (default: the data set's, else never)."),
    ] = None,
    tokenizer: Annotated[
        str | None, typer.Option(help="basic_english, whitespace or characters (default: the data set's).")
    ] = None,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Train a recurrent classifier and keep its best epoch. Ctrl-C ends early and keeps the best so far.

    Example: wfalens train --corpus rotten_tomatoes --out films.rnn
    """
    check_output(out, force)
    known = dataset_of(corpus)
    max_length = (known.max_length if known else None) if max_length is None else max_length or None
    tokenizer = tokenizer or (known.tokenizer if known else "basic_english")
    texts = open_corpus(corpus, "train", data, text_column, label_column, encoding)
    test_texts = None
    if test or known:
        test_texts = open_corpus(test or corpus.partition(":")[0], "test", data, text_column, label_column, encoding)
        test_texts = test_texts.relabelled(texts.class_names)  # a label that is not trained is refused before training
        if test_texts.labels is None:
            raise InputError(f"{test_texts.name} has no labels to test on")
    from wfalens.models.rnn import RNNConfig  # torch takes a second to load: only once the texts are sound
    from wfalens.models.training import Trainer, accuracy

    start = None
    if vectors:
        tokenize = TextEncoder(Vocabulary.of_words([]), tokenizer, max_length).tokens
        start = open_vectors(vectors, Vocabulary.build(map(tokenize, texts.texts)).words[2:])
        embedding = start.width
    trainer = Trainer(
        config=RNNConfig(cell=cell, embedding=embedding, hidden=hidden, layers=layers, dropout=dropout),
        epochs=epochs,
        patience=patience,
        batch_size=batch_size,
        learning_rate=learning_rate,
        validation=validation,
        balance_classes=balance,
        min_count=min_count,
        max_length=max_length,
        tokenizer=tokenizer,
        seed=seed,
    )
    training = trainer.train(texts, start, TerminalProgress())
    if training.interrupted:
        if training.best_epoch == 0:
            note("interrupted before the first epoch ended: nothing was written")
            raise typer.Exit(130)
        note(f"interrupted: keeping epoch {training.best_epoch}, the best so far")
    tested = None if test_texts is None else accuracy(training.model, test_texts)
    training.model.save(out)
    result = {
        "out": str(out),
        "words": len(training.model.encoder.vocabulary),
        "classes": list(training.model.class_names),
        "epochs": [asdict(epoch) for epoch in training.epochs],
        "best_epoch": training.best_epoch,
        "test_accuracy": tested,
    }
    if as_json:
        print_json(result)
        return
    print_table(
        f"Training {out.name}",
        ["epoch", "loss", "accuracy", "held-out loss", "held-out accuracy"],
        [
            [
                f"{number}{' (kept)' if number == training.best_epoch else ''}",
                f"{epoch.loss:.3f}",
                f"{epoch.accuracy:.3f}",
                f"{epoch.validation_loss:.3f}",
                f"{epoch.validation_accuracy:.3f}",
            ]
            for number, epoch in enumerate(training.epochs, 1)
        ],
    )
    if tested is not None:
        typer.echo(f"test accuracy {tested:.3f}")
    typer.echo(f"wrote {out} ({len(training.model.encoder.vocabulary):,} words)")
