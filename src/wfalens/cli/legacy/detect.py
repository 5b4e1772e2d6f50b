"""`wfalens detect`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader, check_share, open_vectors
from wfalens.cli.legacy.output import note, print_json, print_table, say
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.monitoring import Detection

KINDS = ("guided", "greedy", "random-word")


def detect_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    train_on: Annotated[
        str, typer.Option("--train-on", metavar="KIND", help=f"Attack to learn from: {', '.join(KINDS)}.")
    ] = "guided",
    test_on: Annotated[
        list[str] | None,
        typer.Option("--test-on", metavar="KIND", help="Attacks to test on (may be repeated).", show_default="all"),
    ] = None,
    changes: Annotated[int, typer.Option("--changes", metavar="N", min=1, help="Words an attack may replace.")] = 3,
    false_alarms: Annotated[
        float, typer.Option("--false-alarms", metavar="SHARE", help="Share of clean texts that may raise an alarm.")
    ] = 0.05,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Use only so many texts, chosen at random.")
    ] = 2000,
    vectors: opt.Vectors = "wordllama",
    min_auroc: Annotated[
        float | None,
        typer.Option("--min-auroc", metavar="SHARE", help="Exit with code 1 if it is lower on any kind of attack."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the detector (JSON) for `watch`.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Train a detector of attacked texts, and test it on attacks of other kinds.

    Half of the texts (which need labels) are attacked to learn from, the other half to test. The detector is a logistic
    regression on how surprising a text is to the automaton, how rare its words are, how far network and automaton part,
    and how much hangs on single words.

    Example:
      wfalens detect news.wfa --model news.rnn --corpus tagmynews -o detector.json
    """
    check_outputs(output, force=force)
    check_share("--false-alarms", false_alarms)
    check_share("--min-auroc", min_auroc)
    done = detect(
        automaton,
        model,
        corpus,
        train_on=train_on,
        test_on=tuple(test_on or KINDS),
        changes=changes,
        false_alarms=false_alarms,
        limit=limit,
        vectors=vectors,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    if output is not None:
        done.detector.save(output)
        note(f"wrote {output}")
    values = [value for value in done.auroc.values() if value is not None]
    failed = min_auroc is not None and (not values or min(values) < min_auroc)
    if as_json:
        print_json(
            {
                "trained_on": train_on,
                "auroc": done.auroc,
                "caught": done.caught,
                "false_alarms": done.false_alarms,
                "attacked": done.attacked,
            }
        )
    else:
        _print(done, train_on)
        if failed:
            say(f"the detector is below {min_auroc:.3f}")
    if failed:
        raise typer.Exit(1)


def detect(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    train_on: str = "guided",
    test_on: tuple[str, ...] = KINDS,
    changes: int = 3,
    false_alarms: float = 0.05,
    limit: int | None = 2000,
    vectors: str = "wordllama",
    seed: int = 0,
    reader: Reader = USUAL,
) -> Detection:
    """Attack half of a corpus to train a detector, the other half to test it."""
    from wfalens.automaton import WFA
    from wfalens.monitoring import DetectOptions
    from wfalens.monitoring import detect as detected

    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    return detected(
        wfa,
        classifier,
        reader.corpus(corpus, "test").sample(limit, seed),
        DetectOptions(train_on=train_on, test_on=test_on, changes=changes, false_alarms=false_alarms),
        vectors=open_vectors(vectors, wfa.encoder.vocabulary.words[2:]),
        seed=seed,
    )


def _print(done: Detection, train_on: str) -> None:
    rows = [
        [
            kind,
            f"{done.attacked[kind]:,}",
            "–" if done.auroc[kind] is None else f"{done.auroc[kind]:.3f}",
            "–" if done.caught[kind] is None else f"{done.caught[kind]:.1%}",
        ]
        for kind in done.auroc
    ]
    print_table(f"Detector trained on {train_on} attacks", ["attack", "attacked texts", "AUROC", "caught"], rows)
    say(f"{done.false_alarms:.1%} of the clean test texts raise an alarm")
