"""`wfalens repair`: which training texts caused errors, and a network without them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading
from wfalens.cli.inputs import open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import repair
from wfalens.cli.output import check_folder, check_out, print_result, write_out
from wfalens.cli.registration import new_group, register
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

_SHOWN = 10
Train = Annotated[
    str, typer.Option("--train", "-t", metavar="TEXTS", help=f"What the classifier was trained on: {opt.CORPUS_HELP}")
]
Errors = Annotated[
    str,
    typer.Option(
        "--texts", "-e", metavar="TEXTS", help="Labelled texts; those that the classifier gets wrong are looked at."
    ),
]
command = new_group("Find the training texts behind errors, fix the training set, and continue training.")


@dataclass(frozen=True)
class BlameSettings(Options):
    """[blame]: how many errors are looked at."""

    limit: int = option(1000, "Errors looked at, chosen at random.", Bounds(whole, 1, 1 << 40))


@register(command, "blame", lambda: {"texts": Reading, "blame": BlameSettings})
def blame(
    automaton: opt.Automaton,
    model: opt.Model,
    train: Train,
    texts: Errors,
    out: opt.Out = None,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Find the training texts that caused a classifier's errors, and say why.

    For every error, the classifier is asked without each word: where its decision flips, training texts of the wrong
    class that share the word, read in a similar state, are to blame. Likely label errors, and words that raise a class
    although words of similar meaning do not, are listed too.

    Example:
      wfalens repair blame news.wfa --model news.rnn --train train.csv \\
        --texts test.csv -o blamed.csv
    """
    check_out(out)
    wfa = open_wfa(automaton, config.texts)
    found = repair.find_causes(
        wfa,
        open_model(model, wfa),
        open_corpus(train, config.texts, "train"),
        open_corpus(texts, config.texts),
        open_vectors(config.common.vectors, wfa.encoder.vocabulary.words[2:]),
        limit=config.blame.limit,
        seed=config.common.seed,
    )
    write_out(out, found, f"{automaton.name}: blame")
    print_result(found, as_json, _SHOWN)


@dataclass(frozen=True)
class RepairSettings(Options):
    """[repair]: what is changed, and how training continues."""

    most: int = option(1000, "Training texts to change at most.", Bounds(whole, 1, 1 << 40))
    least_doubt: float = option(2.0, "Log-odds from which on a label is changed.", Bounds(real, 0, 1e6))
    epochs: int = option(4, "Epochs of further training.", Bounds(whole, 1, 10_000))
    learning_rate: float = option(1e-3, "Of further training.", Bounds(real, 0, 1, excluded=(0,)))


@register(command, "apply", lambda: {"texts": Reading, "repair": RepairSettings})
def apply(
    automaton: opt.Automaton,
    model: opt.Model,
    train: Train,
    texts: Errors,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="A new folder: every step is written as a file."),
    ] = None,
    how: Annotated[
        list[str] | None,
        typer.Option(
            "--how",
            metavar="HOW",
            help="drop blamed texts, relabel likely label errors, swap the words on which errors depend, or add from a "
            "pool (may be repeated).",
            show_default="swap",
        ),
    ] = None,
    pool: Annotated[
        str | None, typer.Option("--pool", metavar="TEXTS", help="Labelled texts to add from (--how pool).")
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", metavar="TEXTS", help="Labelled texts on which nothing should get worse.")
    ] = None,
    dry_run: Annotated[bool, opt.flag("--dry-run", help="Show the plan and change nothing.")] = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Fix the training set where errors were learned, continue training from the checkpoint, and show what changed.

    Nothing is overwritten: the plan, the fixed texts, the new network, its automaton and the difference to the old one
    are files of their own in a new folder. --dry-run shows the plan.

    Example:
      wfalens repair apply news.wfa -m news.rnn --train train.csv \\
        --texts slice.csv --test test.csv -o repaired
    """
    if out is None and not dry_run:
        raise InputError("give --out, a new folder for the steps, or --dry-run", code="no-output")
    if out is not None:
        if out.is_dir() and any(out.iterdir()):
            raise InputError(f"{out} is not empty; give a new folder", code="output-exists")
        check_folder(out)
    wfa = open_wfa(automaton, config.texts)
    reading = config.texts
    found = repair.repair_model(
        wfa,
        open_model(model, wfa),
        open_corpus(train, reading, "train"),
        open_corpus(texts, reading),
        how=tuple(how or ("swap",)),
        pool=None if pool is None else open_corpus(pool, reading, "train"),
        test=None if test is None else open_corpus(test, reading),
        folder=None if dry_run else out,
        seed=config.common.seed,
        **config.repair.to_dict(),
    )
    print_result(found, as_json, _SHOWN, {"dry_run": dry_run})
