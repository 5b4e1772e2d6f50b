"""`wfalens repair`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.blame import Errors, Train
from wfalens.cli.legacy.files import check_folder
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.errors import InputError
from wfalens.messages import sentence
from wfalens.models.wrapping import wrap

TRAINING = "What is changed, and training on"


def repair_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    train: Train,
    texts: Errors,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where the steps are written, each a file.")
    ] = None,
    how: Annotated[
        list[str] | None,
        typer.Option(
            "--how",
            metavar="WAY",
            help="drop blamed texts, relabel likely label errors, swap the words on which errors turned, or add from a "
            "pool (may be repeated).",
            show_default="swap",
        ),
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool", metavar="TEXTS", help="Labelled texts to add from (--how pool).", rich_help_panel=TRAINING
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="TEXTS", help="Labelled texts on which nothing should become worse."),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--most", metavar="N", min=1, help="Training texts to change at most.", rich_help_panel=TRAINING),
    ] = 1000,
    least_doubt: Annotated[
        float,
        typer.Option(
            "--least-doubt", metavar="ODDS", help="Log-odds from which on a label is changed.", rich_help_panel=TRAINING
        ),
    ] = 2.0,
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", min=1, help="Epochs to train on.", rich_help_panel=TRAINING)
    ] = 4,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", metavar="RATE", help="Of training on.", rich_help_panel=TRAINING)
    ] = 1e-3,
    dry_run: Annotated[bool, opt.flag("--dry-run", help="Show the plan and change nothing.")] = False,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Steps and texts to show.")] = 10,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    as_json: opt.Json = False,
) -> None:
    """Repair the training set where errors were taught, train on from the checkpoint, and show what changed.

    Nothing is overwritten: the plan, the repaired texts, the new network, its automaton and the difference to the old
    one are files of their own in a new folder. --dry-run shows the plan.

    Example:
      wfalens repair news.wfa -m news.rnn --train train.csv --texts slice.csv \\
        --test test.csv -o repaired
    """
    if folder is None and not dry_run:
        raise InputError("give --output, a new folder for the steps, or --dry-run")
    if folder is not None:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty; nothing is overwritten: give a new folder")
        check_folder(folder)
    from wfalens import repair
    from wfalens.automaton import WFA

    reader = Reader(data, text_column, label_column, encoding)
    wfa = WFA.load(automaton)
    done = repair.repair(
        wfa,
        wrap(model, vocab=wfa.encoder),
        reader.corpus(train, "train"),
        reader.corpus(texts, "test"),
        None if dry_run else folder,
        repair.RepairOptions(
            how=tuple(how or ("swap",)),
            most=most,
            least_doubt=least_doubt,
            epochs=epochs,
            learning_rate=learning_rate,
        ),
        pool=None if pool is None else reader.corpus(pool, "train"),
        test=None if test is None else reader.corpus(test, "test"),
        seed=seed,
    )
    if as_json:
        print_json({"dry_run": dry_run, **done.to_dict()})
        return
    say(done.summary())
    rows = [
        [step.action, step.label, sentence(step.text, 160), step.why]
        for action in ("drop", "relabel", "add")
        for step in [step for step in done.plan.steps if step.action == action][:top]
    ]
    print_table("Plan", ["step", "class", "text", "why"], rows)
    for each in done.slices:
        for name, some in (("better", each.better), ("worse", each.worse)):
            for text in some[: max(1, top // 3)]:
                say(f"{name}: {sentence(text, 160)}")
    if done.difference is not None:
        print_table("Words whose influence changed most", *done.difference.word_rows(top))
