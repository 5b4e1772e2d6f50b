"""`wfalens train`: train a recurrent classifier or a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from wfalens import models, text
from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import allow_own, dataset_of, open_corpus, open_wfa, read_vectors
from wfalens.cli.library import explanation, language, training
from wfalens.cli.output import check_outputs, note, print_json, print_rows, say
from wfalens.errors import InputError
from wfalens.models.rnn.rnn_options import CLASS, RNNConfig, TrainingConfig

_DEFAULT_TEST = "those of the data set, if it has some"
command = new_group()


@register(
    command,
    "train",
    ("training.task", "training.epochs", "training.tokenizer"),
    network=RNNConfig,
    training=TrainingConfig,
)
def train(
    settings: Settings,
    corpus: opt.Corpus,
    out: Annotated[Path, opt.value("--out -o", "FILE", "The network to write, such as news.rnn.")],
    test: Annotated[str | None, opt.value("--test", "TEXTS", show_default=_DEFAULT_TEST)] = None,
    init_from: Annotated[str | None, opt.value("--init-from", "FILE")] = None,
    force: opt.Force = False,
) -> None:
    """Train a recurrent classifier, or a language model, and keep its best epoch.

    Ctrl-C ends the training early and keeps the best epoch so far. Training stops by itself when held-out texts bring
    no gain (training.patience).

    Examples:
      wfalens train --corpus rotten_tomatoes --out films.rnn
      wfalens train --corpus mail.csv --test mail_test.csv --out mail.rnn
      wfalens train --task next --tokenizer characters -c names.csv -o names.rnn
      wfalens train -c rotten_tomatoes -o again.rnn --init-from films.wfa

    Args:
        test: Labelled texts to report the accuracy on.
        init_from: Initialise the embedding: from the transition matrix embeddings of an automaton (.wfa; the paper's
            pretraining), or from word vectors: wordllama, or a GloVe or word2vec file.
    """
    check_outputs(out, force=force)
    known, has_labels = dataset_of(corpus), settings.training.task == CLASS
    defaults = {} if known is None else {"max_length": known.max_length}
    options = {"seed": settings.seed, **defaults, **settings.given("training")}
    allow_own(options.get("tokenizer"))
    texts = open_corpus(corpus, settings, "train", labels=has_labels)
    test_spec = test or (known.name if known else None)
    test_texts = None if test_spec is None else open_corpus(test_spec, settings, labels=has_labels)
    if test_texts is not None and has_labels:  # a label that is not trained is refused before the training
        test_texts = test_texts.relabelled(texts.class_names)
        if test_texts.labels is None:
            raise InputError(f"{test_texts.name} has no labels to test on", code="no-labels")
    start = None if init_from is None else _initial_vectors(init_from, texts, options, settings)
    width = {} if start is None else {"embedding": start.width}
    trainer = models.Trainer(config=RNNConfig(**{**settings.given("network"), **width}), **options)
    trained = trainer.train(texts, start)
    if trained.interrupted and trained.best_epoch == 0:
        raise KeyboardInterrupt("the first epoch had not ended, so nothing was written")
    trained.model.save(out)
    measured: dict[str, Any] = {"test_accuracy": None, "test_perplexity": None}
    if test_texts is not None and has_labels:
        measured["test_accuracy"] = training.accuracy(trained.model, test_texts)
    elif test_texts is not None:
        spoken = language.Language.of(trained.model)
        ids = spoken.ids(test_texts.texts)
        ids = ids.take(spoken.inside_alphabet(ids))
        measured["test_perplexity"] = spoken.perplexity(ids) if len(ids) else None
    _print(out, trained, measured, settings.as_json)


def _initial_vectors(spec: str, texts: Any, options: dict[str, Any], settings: Settings) -> Any:
    """Word vectors that the embedding begins with."""
    if Path(spec).suffix.lower() != ".wfa":
        reading = {name: options[name] for name in ("tokenizer", "max_length") if name in options}
        return read_vectors(spec, text.TextEncoder.of_texts(texts.texts, **reading).vocabulary.words[2:])
    table = explanation.TransitionEmbeddings.of(open_wfa(Path(spec), settings))
    width = min(settings.network.embedding, table.width, len(table))
    return training.unit_spread(table.reduced(width).vectors)


def _print(out: Path, trained: Any, measured: dict[str, Any], as_json: bool) -> None:
    vocabulary = trained.model.encoder.vocabulary
    if as_json:
        epochs = [vars(epoch) for epoch in trained.epochs]
        shape = {"words": len(vocabulary), "classes": list(trained.model.class_names)}
        print_json({"out": str(out), **shape, "epochs": epochs, "best_epoch": trained.best_epoch, **measured})
        return
    if trained.interrupted:
        note(f"stopped: keeping epoch {trained.best_epoch}, the best so far")
    print_rows(f"Training {out.name}", trained.rows())
    say(trained.summary())
    if measured["test_accuracy"] is not None:
        say(f"test accuracy {measured['test_accuracy']:.3f}")
    elif measured["test_perplexity"] is not None:
        say(f"test perplexity {measured['test_perplexity']:.3f} per symbol")
    else:
        say("no test texts; --test FILE measures the network on texts that it has not seen")
    say(f"wrote {out} ({len(vocabulary) - 2:,} words)")
