"""`wfalens train`: train a recurrent classifier or a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens import models
from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import allow_own, dataset_of, open_corpus, open_vectors, open_wfa
from wfalens.cli.library import explanation, language, pretraining, training
from wfalens.cli.output import check_outputs, note, print_json, print_rows, say
from wfalens.errors import InputError

CLASS = "class"
command = new_group()


@register(
    command,
    "train",
    lambda: {"network": models.RNNConfig, "training": models.Trainer, "texts": Reading},
)
def train(
    corpus: opt.Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The network to write, such as news.rnn.")],
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="TEXTS",
            help="Labelled texts to report the accuracy on.",
            show_default="those of the data set, if it has some",
        ),
    ] = None,
    task: Annotated[
        str,
        typer.Option(
            "--task",
            metavar="TASK",
            help="class: the class of a text; next: a language model of the next symbol (no labels needed).",
        ),
    ] = CLASS,
    cell: Annotated[str, typer.Option("--cell", metavar="KIND", help="lstm, gru or elman.")] = "lstm",
    hidden: Annotated[int, typer.Option("--hidden", metavar="N", help="Width of the hidden state.")] = 64,
    epochs: Annotated[int, typer.Option("--epochs", metavar="N", help="Passes over the texts at most.")] = 25,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            "--tokenizer",
            metavar="NAME",
            help="basic_english, whitespace, characters, bigrams, ngrams:N, after any of lower+, strip+, title+ and "
            "quotes+; or package.module:function, whose code is run.",
            show_default="of the data set, else basic_english",
        ),
    ] = None,
    init_from: Annotated[
        str | None,
        typer.Option(
            "--init-from",
            metavar="FILE",
            help="Initialise the embedding: from the transition matrix embeddings of an automaton (.wfa; the paper's "
            "pretraining), or from word vectors: wordllama, or a GloVe or word2vec file.",
        ),
    ] = None,
    seed: opt.Seed = None,
    config: opt.Config = None,  # type: ignore[assignment]
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train a recurrent classifier, or a language model, and keep its best epoch.

    Ctrl-C ends the training early and keeps the best epoch so far. Training stops by itself when held-out texts bring
    no gain (training.patience).

    Examples:
      wfalens train --corpus rotten_tomatoes --out films.rnn
      wfalens train --corpus mail.csv --test mail_test.csv --out mail.rnn
      wfalens train --task next --tokenizer characters -c names.csv -o names.rnn
      wfalens train -c rotten_tomatoes -o again.rnn --init-from films.wfa
    """
    check_outputs(out, force=force)
    known, given = dataset_of(corpus), config.given("training")
    reading, labels = config.texts, task == CLASS
    defaults = {} if known is None else {"max_length": known.max_length, "tokenizer": known.tokenizer}
    tokenizer = allow_own(tokenizer)
    texts = open_corpus(corpus, reading, "train", labels=labels)
    test_spec = test or (known.name if known else None)
    test_texts = None if test_spec is None else _test_texts(test_spec, texts, labels, reading)
    options = {**defaults, **given, "task": task, "epochs": given.get("epochs", epochs)}
    options["seed"] = given.get("seed", config.common.seed) if seed is None else seed
    if tokenizer is not None:
        options["tokenizer"] = tokenizer
    if options.get("max_length") == 0:
        options["max_length"] = None
    shape = {"cell": cell, "hidden": hidden, **config.given("network")}
    start = None
    if init_from is not None:
        start = _initial_vectors(init_from, texts, options, shape, reading)
        shape["embedding"] = start.width
    trained = models.Trainer(config=models.RNNConfig(**shape), **options).train(texts, start)
    if trained.interrupted and trained.best_epoch == 0:
        raise KeyboardInterrupt("the first epoch had not ended, so nothing was written")
    trained.model.save(out)
    measured: dict[str, Any] = {"test_accuracy": None, "test_perplexity": None}
    if test_texts is not None and labels:
        measured["test_accuracy"] = training.accuracy(trained.model, test_texts)
    elif test_texts is not None:
        spoken = language.Language.of(trained.model)
        ids = spoken.ids(test_texts.texts)
        ids = ids.take(spoken.inside_alphabet(ids))
        measured["test_perplexity"] = spoken.perplexity(ids) if len(ids) else None
    _print(out, trained, measured, as_json)


def _test_texts(spec: str, texts: Any, labels: bool, reading: Reading) -> Any:
    """Test texts; where they have classes, a label that is not trained is refused before the training."""
    if not labels:
        return open_corpus(spec, reading, labels=False)
    test_texts = open_corpus(spec, reading).relabelled(texts.class_names)
    if test_texts.labels is None:
        raise InputError(f"{test_texts.name} has no labels to test on", code="no-labels")
    return test_texts


def _initial_vectors(spec: str, texts: Any, options: dict[str, Any], shape: dict[str, Any], reading: Reading) -> Any:
    """Word vectors that the embedding begins with."""
    from wfalens import TextEncoder

    if Path(spec).suffix.lower() != ".wfa":
        encoder = TextEncoder.of_texts(
            texts.texts, options.get("tokenizer", "basic_english"), options.get("max_length")
        )
        return open_vectors(spec, encoder.vocabulary.words[2:])
    table = explanation.TransitionEmbeddings.of(open_wfa(Path(spec), reading))
    width = shape.get("embedding", models.RNNConfig().embedding)
    return pretraining.unit_spread(table.reduced(min(width, table.width, len(table))).vectors)


def _print(out: Path, trained: Any, measured: dict[str, Any], as_json: bool) -> None:
    vocabulary = trained.model.encoder.vocabulary
    if as_json:
        epochs = [vars(epoch) for epoch in trained.epochs]
        shape = {"words": len(vocabulary), "classes": list(trained.model.class_names)}
        print_json({"out": str(out), **shape, "epochs": epochs, "best_epoch": trained.best_epoch, **measured})
        return
    if trained.interrupted:
        note(f"stopped: keeping epoch {trained.best_epoch}, the best so far")
    rows = [
        {"epoch": f"{number}{' (kept)' if number == trained.best_epoch else ''}", **vars(epoch)}
        for number, epoch in enumerate(trained.epochs, 1)
    ]
    print_rows(f"Training {out.name}", rows)
    if measured["test_accuracy"] is not None:
        say(f"test accuracy {measured['test_accuracy']:.3f}")
    elif measured["test_perplexity"] is not None:
        say(f"test perplexity {measured['test_perplexity']:.3f} per symbol")
    else:
        say("no test texts; --test FILE measures the network on texts that it has not seen")
    say(f"wrote {out} ({len(vocabulary) - 2:,} words)")
