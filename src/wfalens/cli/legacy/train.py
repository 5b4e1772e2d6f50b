"""`wfalens train`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader, dataset_of, open_vectors
from wfalens.cli.legacy.output import note, print_json, print_table, say
from wfalens.cli.legacy.reading import allow_own
from wfalens.errors import InputError
from wfalens.text.vocabulary import UNKNOWN

if TYPE_CHECKING:
    from wfalens.models import RNNClassifier, Training
    from wfalens.text.corpus import Corpus

NETWORK, TRAINING = "Network", "Training"


@dataclass(frozen=True)
class Trained:
    """A training, and the accuracy (of a language model: the perplexity) on test texts if there were any."""

    training: Training
    test_accuracy: float | None
    test_perplexity: float | None = None  # of a language model


def train_cli(
    corpus: opt.Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The network to write, such as news.rnn.")],
    task: Annotated[
        str,
        typer.Option(
            "--task",
            metavar="TASK",
            help="class: the class of a text; next: a language model, which tells the next symbol (no labels needed).",
        ),
    ] = "class",
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            metavar="TEXTS",
            help="Labelled texts to report the accuracy on.",
            show_default="those of the data set, if it has some",
        ),
    ] = None,
    seed: opt.Seed = 0,
    cell: Annotated[str, typer.Option(metavar="KIND", help="lstm, gru or elman.", rich_help_panel=NETWORK)] = "lstm",
    embedding: Annotated[int, typer.Option(metavar="N", help="Width of the embedding.", rich_help_panel=NETWORK)] = 100,
    hidden: Annotated[int, typer.Option(metavar="N", help="Width of the hidden state.", rich_help_panel=NETWORK)] = 64,
    layers: Annotated[int, typer.Option(metavar="N", help="Number of recurrent layers.", rich_help_panel=NETWORK)] = 1,
    dropout: Annotated[
        float, typer.Option(metavar="SHARE", help="On embedding and hidden state.", rich_help_panel=NETWORK)
    ] = 0.5,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="VECTORS",
            help="Start the embedding from word vectors, which give its width: wordllama, or a GloVe or word2vec file.",
            rich_help_panel=NETWORK,
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(metavar="N", help="Passes over the texts at most.", rich_help_panel=TRAINING)
    ] = 25,
    patience: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Stop after so many epochs without a gain on held-out texts (in accuracy; with --task next, in loss).",
            rich_help_panel=TRAINING,
        ),
    ] = 4,
    batch_size: Annotated[int, typer.Option(metavar="N", help="Texts per step.", rich_help_panel=TRAINING)] = 64,
    learning_rate: Annotated[float, typer.Option(metavar="RATE", help="Of Adam.", rich_help_panel=TRAINING)] = 2e-3,
    validation: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Texts held out to choose the best epoch.", rich_help_panel=TRAINING),
    ] = 0.1,
    balance: Annotated[
        bool, opt.flag("--balance", help="Weight classes inversely to their size.", panel=TRAINING)
    ] = False,
    min_count: Annotated[
        int, typer.Option(metavar="N", help="Words seen less often become <unk>.", rich_help_panel=opt.TEXTS)
    ] = 1,
    max_length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Cut texts after so many tokens; 0: never.",
            show_default="of the data set, else never",
            rich_help_panel=opt.TEXTS,
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="basic_english, whitespace, characters, bigrams, ngrams:N, after any of lower+, strip+, title+ and "
            "quotes+; or package.module:function, whose code is run.",
            show_default="of the data set, else basic_english",
            rich_help_panel=opt.TEXTS,
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train a recurrent classifier, or a language model, and keep its best epoch.

    Ctrl-C ends the training early and keeps the best epoch so far.

    Examples:
      wfalens train --corpus rotten_tomatoes --out films.rnn
      wfalens train --corpus mail.csv --test mail_test.csv --out mail.rnn
      wfalens train --task next --tokenizer characters -c names.csv -o names.rnn
    """
    check_outputs(out, force=force)
    done = train(
        corpus,
        out,
        test=test,
        vectors=vectors,
        network={"cell": cell, "embedding": embedding, "hidden": hidden, "layers": layers, "dropout": dropout},
        task=task,
        max_length=max_length,
        tokenizer=tokenizer,
        reader=Reader(data, text_column, label_column, encoding),
        epochs=epochs,
        patience=patience,
        batch_size=batch_size,
        learning_rate=learning_rate,
        validation=validation,
        balance_classes=balance,
        min_count=min_count,
        seed=seed,
    )
    if done.training.interrupted:
        note(f"stopped: keeping epoch {done.training.best_epoch}, the best so far")
    if as_json:
        print_json(_told(out, done))
    else:
        _print(out, done)


def train(
    corpus: str,
    out: Path,
    *,
    test: str | None = None,
    vectors: str | None = None,
    network: dict[str, Any] | None = None,
    task: str = "class",
    max_length: int | None = None,
    tokenizer: str | None = None,
    reader: Reader = USUAL,
    **training: Any,
) -> Trained:
    """Train on a corpus and write the network to `out`.

    `network` holds options of `RNNConfig`, `training` those of `Trainer`; a data set by name knows its own test texts,
    cut-off length (0: none) and tokenizer.
    """
    check_outputs(out, force=True)
    known = dataset_of(corpus)
    max_length = (known.max_length if known else None) if max_length is None else max_length or None
    tokenizer = allow_own(tokenizer) or (known.tokenizer if known else "basic_english")
    labels = task == "class"
    texts = reader.corpus(corpus, "train", labels=labels)
    wanted = test or (corpus.partition(":")[0] if known else None)
    test_texts = None
    if wanted is not None:
        names = texts.class_names if labels else None
        test_texts = _test_texts(wanted, names, reader)
    from wfalens.models.rnn.classifier import RNNConfig  # torch takes a second to load: only once the texts are sound
    from wfalens.models.rnn.training import Trainer, accuracy

    shape, start = dict(network or {}), None
    if vectors:
        start = open_vectors(vectors, _words(texts, tokenizer, max_length))
        shape["embedding"] = start.width
    trainer = Trainer(config=RNNConfig(**shape), task=task, max_length=max_length, tokenizer=tokenizer, **training)
    found = trainer.train(texts, start)
    if found.interrupted and found.best_epoch == 0:
        raise KeyboardInterrupt("the first epoch had not ended, so nothing was written")
    found.model.save(out)
    if test_texts is None:
        return Trained(found, None)
    if labels:
        return Trained(found, accuracy(found.model, test_texts))
    return Trained(found, None, _perplexity(found.model, test_texts))


def _perplexity(
    model: RNNClassifier,
    texts: Corpus,
) -> float | None:
    """On the test texts whose symbols the model knows; None if there are none."""
    from wfalens.cli.legacy.evaluate_strings import spoken_texts
    from wfalens.language import Language

    ids = spoken_texts(model, texts)
    return Language.of(model).perplexity(ids) if len(ids) else None


def _test_texts(
    spec: str,
    class_names: tuple[str, ...] | None,
    reader: Reader,
) -> Corpus:
    """Test texts; where they have classes, a label that is not trained is refused before the training."""
    if class_names is None:
        return reader.corpus(spec, "test", labels=False)
    texts = reader.corpus(spec, "test").relabelled(class_names)
    if texts.labels is None:
        raise InputError(f"{texts.name} has no labels to test on")
    return texts


def _words(texts: Corpus, tokenizer: str, max_length: int | None) -> tuple[str, ...]:
    from wfalens.text.encoder import TextEncoder

    return TextEncoder.of_texts(texts.texts, tokenizer, max_length).vocabulary.words[2:]


def _told(out: Path, done: Trained) -> dict[str, Any]:
    training = done.training
    return {
        "out": str(out),
        "words": len(training.model.encoder.vocabulary),
        "classes": list(training.model.class_names),
        "epochs": [asdict(epoch) for epoch in training.epochs],
        "best_epoch": training.best_epoch,
        "test_accuracy": done.test_accuracy,
        "test_perplexity": done.test_perplexity,
    }


def _print(out: Path, done: Trained) -> None:
    training = done.training
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
    if done.test_accuracy is not None:
        say(f"test accuracy {done.test_accuracy:.3f}")
    if done.test_perplexity is not None:
        say(f"test perplexity {done.test_perplexity:.3f} per symbol")
    if done.test_accuracy is None and done.test_perplexity is None:
        say("no test texts; --test FILE tells how good the network is on texts that it has not seen")
    say(f"wrote {out} ({len(training.model.encoder.vocabulary) - UNKNOWN - 1:,} words)")
