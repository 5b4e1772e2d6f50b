"""`wfalens repair`: which training texts caused errors, and a network without them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import evaluation, repair
from wfalens.cli.output import check_folder, print_result, write_out
from wfalens.errors import InputError
from wfalens.validation import Options, option

_SHOWN = 10
Train = Annotated[str, opt.value("--train -t", "TEXTS", f"What the classifier was trained on: {opt.CORPUS_HELP}")]
Errors = Annotated[
    str, opt.value("--texts -e", "TEXTS", "Labelled texts; those that the classifier gets wrong are looked at.")
]
command = new_group(
    "Find wrong labels and the training texts behind errors, fix the training set, and continue training."
)


@dataclass(frozen=True)
class BlameSettings(Options):
    """[blame]: how many errors are looked at.

    Args:
        limit: Errors looked at, chosen at random.
    """

    limit: int = option(1000, allowed=opt.COUNT)


@register(command, "blame", result=opt.RESULT_FILES, blame=BlameSettings)
def blame(settings: Settings, automaton: opt.Automaton, model: opt.Model, train: Train, texts: Errors) -> None:
    """Find the training texts that caused a classifier's errors, and say why.

    For every error, the classifier is asked without each word: where its decision flips, training texts of the wrong
    class that share the word, read in a similar state, are to blame. Words that raise a class although words of similar
    meaning do not are listed too.

    Example:
      wfalens repair blame news.wfa --model news.rnn --train train.csv \\
        --texts test.csv -o blamed.csv
    """
    wfa = open_wfa(automaton, settings)
    found = repair.diagnose(
        wfa,
        open_model(model, wfa, settings.texts),
        open_corpus(train, settings, "train"),
        open_corpus(texts, settings),
        limit=settings.blame.limit,
        vectors=open_vectors(settings, wfa),
        seed=settings.seed,
    )
    write_out(settings.out, found, f"{automaton.name}: blame")
    print_result(found, settings.as_json, _SHOWN)


@register(command, "labels", result=opt.RESULT_FILES)
def labels(settings: Settings, automaton: opt.Automaton, model: opt.Model, train: Train) -> None:
    """Find labels of the training set that are likely wrong.

    A label is doubted if the classifier, its automata and a bag of words give another class in the mean, and the bag of
    words, which was fitted to the other texts, also does by itself. The most doubtful come first.

    Example:
      wfalens repair labels news.wfa --model news.rnn --train train.csv -o doubtful.csv
    """
    wfa = open_wfa(automaton, settings)
    found = evaluation.find_label_errors(
        wfa, open_model(model, wfa, settings.texts), open_corpus(train, settings, "train")
    )
    write_out(settings.out, found, f"{automaton.name}: likely label errors")
    print_result(found, settings.as_json, _SHOWN)


@register(command, "apply", ("repair.how",), repair=repair.RepairOptions)
def apply(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.Model,
    train: Train,
    texts: Errors,
    out: Annotated[Path | None, opt.value("--out -o", "FOLDER")] = None,
    pool: Annotated[str | None, opt.value("--pool", "TEXTS")] = None,
    test: Annotated[str | None, opt.value("--test", "TEXTS")] = None,
    dry_run: Annotated[bool, opt.flag("--dry-run")] = False,
) -> None:
    """Fix the training set where errors were learned, continue training from the checkpoint, and show what changed.

    Nothing is overwritten: the plan, the fixed texts, the new network, its automaton and the difference to the old one
    are files of their own in a new folder. --dry-run shows the plan.

    Example:
      wfalens repair apply news.wfa -m news.rnn --train train.csv \\
        --texts slice.csv --test test.csv -o repaired

    Args:
        out: A new folder: every step is written as a file.
        pool: Labelled texts to add from (--how pool).
        test: Labelled texts on which nothing should get worse.
        dry_run: Show the plan and change nothing.
    """
    if out is None and not dry_run:
        raise InputError("give --out, a new folder for the steps, or --dry-run", code="no-output")
    if out is not None and not dry_run:
        check_folder(out)
    wfa = open_wfa(automaton, settings)
    found = repair.repair(
        wfa,
        open_model(model, wfa, settings.texts),
        open_corpus(train, settings, "train"),
        open_corpus(texts, settings),
        None if dry_run else out,
        settings.repair,
        pool=None if pool is None else open_corpus(pool, settings, "train"),
        test=None if test is None else open_corpus(test, settings),
        seed=settings.seed,
    )
    print_result(found, settings.as_json, _SHOWN, {"dry_run": dry_run})
