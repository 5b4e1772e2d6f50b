"""`wfalens watch`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.output import note
from wfalens.models.wrapping import wrap


def watch_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    window: Annotated[int, typer.Option("--window", metavar="N", min=1, help="Texts of a summary.")] = 1000,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="TEXTS",
            help=f"Usual texts, against which drift is told: {opt.CORPUS_HELP}",
            show_default="the extraction texts' mean surprise",
        ),
    ] = None,
    detector: Annotated[
        Path | None, typer.Option("--detector", metavar="FILE", help="A detector of `wfalens detect`.")
    ] = None,
    deviations: Annotated[
        float,
        typer.Option(
            "--deviations", metavar="N", min=0, help="Raise an alarm so many standard errors above the usual surprise."
        ),
    ] = 4.0,
    unseen: Annotated[
        float,
        typer.Option(
            "--unseen", metavar="SHARE", min=0, max=1, help="Raise an alarm if more of the words were never seen."
        ),
    ] = 0.5,
    quiet: Annotated[bool, opt.flag("--summaries", help="Print the summaries only.", panel=opt.OUTPUT)] = False,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    as_json: opt.Json = True,  # noqa: ARG001 - every line is JSON; the option is there as in all commands
) -> None:
    """Watch texts on standard input: for every line, one line of JSON goes out.

    A line tells the classifier's class, how surprising the text is to the automaton, how far it may be trusted, whether
    the two agree, and what raises an alarm. After every --window texts there is a summary with a p-value for drift. A
    line that cannot be read is told and passed over.

    Example, at the end of a pipe such as `tail -f titles.txt |`:
      wfalens watch news.wfa --model news.rnn
    """
    from wfalens.automaton import WFA
    from wfalens.monitoring import Alarms, Detector
    from wfalens.monitoring import watch as watched

    wfa = WFA.load(automaton)
    known = None if detector is None else Detector.load(detector)
    results = watched(
        wfa,
        wrap(model, vocab=wfa.encoder),
        sys.stdin.buffer,
        Alarms(window=window, deviations=deviations, unseen=unseen),
        detector=known,
        reference=None
        if reference is None
        else Reader(data, text_column, None, encoding).corpus(reference, "train", labels=False),
        seed=seed,
    )
    lines = bad = 0
    for each in results:
        lines += "line" in each
        bad += "error" in each
        if "window" in each or not quiet:
            sys.stdout.write(json.dumps(each) + "\n")
            sys.stdout.flush()
    if bad:
        note(f"{bad:,} of {lines:,} lines could not be read")
