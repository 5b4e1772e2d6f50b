"""`wfalens repair`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.blame import Errors, Train
from wfalens.cli.legacy.files import check_folder
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import note, print_json, print_table, say
from wfalens.errors import InputError
from wfalens.messages import sentence
from wfalens.models.wrapping import wrap
from wfalens.storage import write_atomically
from wfalens.validation import check_choice

if TYPE_CHECKING:
    from wfalens.repair import Plan, Slice
    from wfalens.robustness import Difference

TRAINING = "What is changed, and training on"
HOW = ("drop", "relabel", "swap", "pool")
PLAN, MENDED, NETWORK, AUTOMATON, DIFF = "plan.json", "mended.csv", "repaired.rnn", "repaired.wfa", "diff.json"


@dataclass(frozen=True)
class Repaired:
    """A plan and, unless it was a dry run, what it did."""

    plan: Plan
    slices: tuple[Slice, ...] = ()
    difference: Difference | None = None


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
    """Mend the training set where errors were taught, train on from the checkpoint, and show what changed.

    Nothing is overwritten: the plan, the mended texts, the new network, its automaton and the difference to the old one
    are files of their own in a new folder. --dry-run shows the plan.

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
    done = repair(
        automaton,
        model,
        train,
        texts,
        None if dry_run else folder,
        how=tuple(how or ("swap",)),
        pool=pool,
        test=test,
        most=most,
        least_doubt=least_doubt,
        epochs=epochs,
        learning_rate=learning_rate,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    if as_json:
        changed = None if done.difference is None else done.difference.to_json(top)
        slices = [each.to_json() for each in done.slices]
        print_json({"dry_run": dry_run, "plan": done.plan.to_json(), "slices": slices, "diff": changed})
    else:
        _print(done, top)


def repair(
    automaton: Path,
    model: str,
    train: str,
    texts: str,
    folder: Path | None,
    *,
    how: tuple[str, ...] = ("swap",),
    pool: str | None = None,
    test: str | None = None,
    most: int = 1000,
    least_doubt: float = 2.0,
    epochs: int = 4,
    learning_rate: float = 1e-3,
    seed: int = 0,
    reader: Reader = USUAL,
) -> Repaired:
    """Plan a repair and carry it out into a folder; without a folder, plan only."""
    from wfalens.automaton import WFA
    from wfalens.explanation.moves import anatomy_and_names
    from wfalens.extraction import Readable, extract
    from wfalens.monitoring.walks import reader_of
    from wfalens.repair import compared
    from wfalens.repair import repair as train_on
    from wfalens.robustness import compare

    for each in how:
        check_choice("--how", each, HOW)
    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    taught = reader.corpus(train, "train").relabelled(wfa.class_names)
    errors = reader.corpus(texts, "test")
    tested = None if test is None else reader.corpus(test, "test")
    plan = _plan(wfa, classifier, taught, errors, how, pool, most, least_doubt, seed, reader)
    if folder is None:
        return Repaired(plan)
    _write(folder / PLAN, plan.to_json())
    mended = plan.mended(taught)
    _write_corpus(folder / MENDED, mended)
    new = train_on(classifier, taught, plan, epochs=epochs, learning_rate=learning_rate, seed=seed)
    new.save(folder / NETWORK)
    groups, states = anatomy_and_names(reader_of(wfa))[0].visits.shape  # as large as before, to be compared
    after = extract(new, mended, Readable(states=states - 1, clusters=groups), seed=seed)
    after.save(folder / AUTOMATON)
    slices = [compared(classifier, new, errors, "the given texts")]
    slices += [] if tested is None else [compared(classifier, new, tested, "the test texts")]
    seen = errors if tested is None else tested
    difference = compare(reader_of(wfa), after, seen, models=(classifier, new))
    _write(folder / DIFF, {"slices": [each.to_json() for each in slices], **difference.to_json()})
    return Repaired(plan, tuple(slices), difference)


def _plan(
    wfa: Any,
    classifier: Any,
    taught: Any,
    errors: Any,
    how: tuple[str, ...],
    pool: str | None,
    most: int,
    least_doubt: float,
    seed: int,
    reader: Reader,
) -> Plan:
    from wfalens.repair import Plan, blame, errors_of, label_suspects, plan_for, relabelled

    steps = relabelled(label_suspects(wfa, classifier, taught), least_doubt)[:most] if "relabel" in how else []
    others = tuple(each for each in how if each != "relabel")
    if others:
        extra = None if pool is None else reader.corpus(pool, "train")
        found = blame(wfa, classifier, taught, errors_of(classifier, errors))
        steps += plan_for(found, classifier, others, most=most, pool=extra, seed=seed).steps
    if not steps and not others:
        raise InputError(f"no label is doubted by {least_doubt:g} or more: lower --least-doubt")
    if not steps:
        raise InputError(
            "there is nothing to mend: no word that the training set teaches turned many of the errors; give errors of "
            "one kind, or another --how"
        )
    return Plan(tuple(steps))


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False).encode("utf-8", "replace"))
    note(f"wrote {path}")


def _write_corpus(path: Path, corpus: Any) -> None:
    import pandas as pd

    names = [corpus.class_names[label] for label in corpus.labels]
    table = pd.DataFrame({"text": corpus.texts, "label": names})
    write_atomically(path, table.to_csv(index=False).encode("utf-8", "replace"))
    note(f"wrote {path}")


def _print(done: Repaired, top: int) -> None:
    from wfalens.repair.blame import SHOWN

    plan = done.plan
    say(f"drop {plan.count('drop'):,}, relabel {plan.count('relabel'):,}, add {plan.count('add'):,} training texts")
    rows = [
        [step.action, step.label, sentence(step.text, SHOWN), step.why]
        for action in ("drop", "relabel", "add")
        for step in [step for step in plan.steps if step.action == action][:top]
    ]
    print_table("Plan", ["step", "class", "text", "why"], rows)
    if not done.slices:
        return
    rows = [
        [
            each.name,
            f"{each.texts:,}",
            f"{each.errors_before:,}",
            f"{each.errors_after:,}",
            f"{each.accuracy_before:.3f}",
            f"{each.accuracy_after:.3f}",
        ]
        for each in done.slices
    ]
    columns = ["", "texts", "errors before", "after", "accuracy before", "after"]
    print_table("The network before and after", columns, rows)
    for each in done.slices:
        for name, some in (("better", each.better), ("worse", each.worse)):
            for text in some[: max(1, top // 3)]:
                say(f"{name}: {sentence(text, SHOWN)}")
    if done.difference is not None:
        print_table("Words whose influence changed most", *done.difference.word_rows(top))
