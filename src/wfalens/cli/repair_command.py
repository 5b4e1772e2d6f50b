"""`wfalens repair`: which training texts caused errors, and a network without them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import repair
from wfalens.cli.output import check_folder, check_out, print_result, write_out
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

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
    force: opt.Force = False,
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
    check_out(out, force)
    wfa = open_wfa(automaton, config.texts)
    found = repair.diagnose(
        wfa,
        open_model(model, wfa),
        open_corpus(train, config.texts, "train"),
        open_corpus(texts, config.texts),
        limit=config.blame.limit,
        vectors=open_vectors(config.common.vectors, wfa.encoder.vocabulary.words[2:]),
        seed=config.common.seed,
    )
    write_out(out, found, f"{automaton.name}: blame")
    print_result(found, as_json, _SHOWN)


@register(command, "apply", lambda: {"texts": Reading, "repair": repair.RepairOptions})
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
    if out is not None and not dry_run:
        check_folder(out)
    wfa = open_wfa(automaton, config.texts)
    reading = config.texts
    given = config.given("repair") | ({} if how is None else {"how": tuple(how)})
    found = repair.repair(
        wfa,
        open_model(model, wfa),
        open_corpus(train, reading, "train"),
        open_corpus(texts, reading),
        None if dry_run else out,
        repair.RepairOptions(**given),
        pool=None if pool is None else open_corpus(pool, reading, "train"),
        test=None if test is None else open_corpus(test, reading),
        seed=config.common.seed,
    )
    print_result(found, as_json, _SHOWN, {"dry_run": dry_run})
