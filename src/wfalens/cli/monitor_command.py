"""`wfalens monitor`: watch a stream of texts, measure coverage of a test set, detect attacked texts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_corpus, open_model, open_vectors, open_wfa
from wfalens.cli.library import monitoring
from wfalens.cli.output import check_out, check_outputs, note, print_result, print_rows, say, write_out

_SHOWN = 10
command = new_group("Watch a classifier with its automaton: a stream of texts, the coverage of a test set, attacks.")


@register(command, "watch", lambda: {"texts": Reading, "watch": monitoring.Alarms})
def watch(
    automaton: opt.Automaton,
    model: opt.Model,
    window: Annotated[int, typer.Option("--window", metavar="N", min=1, help="Texts of a summary.")] = 1000,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="TEXTS",
            help=f"Usual texts, against which drift is measured: {opt.CORPUS_HELP}",
            show_default="the extraction texts' mean surprise",
        ),
    ] = None,
    detector: Annotated[
        Path | None, typer.Option("--detector", metavar="FILE", help="A detector of `wfalens monitor detect`.")
    ] = None,
    summaries: Annotated[bool, opt.flag("--summaries", help="Print the summaries only.", panel=opt.OUTPUT)] = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = True,  # noqa: ARG001 - every line is JSON; the option is there as in all commands
) -> None:
    """Watch texts on standard input: for every line, one line of JSON is printed.

    A line has the classifier's class, how surprising the text is to the automaton, whether the two agree, and what
    raises an alarm. After every --window texts there is a summary with a p-value for drift. A line that cannot be read
    is reported and skipped.

    Example, at the end of a pipe such as `tail -f titles.txt |`:
      wfalens monitor watch news.wfa --model news.rnn
    """
    wfa = open_wfa(automaton, config.texts)
    usual = None if reference is None else open_corpus(reference, config.texts, "train", labels=False)
    alarms = monitoring.Alarms(**{**config.given("watch"), "window": window})
    results = monitoring.watch(
        wfa,
        open_model(model, wfa),
        sys.stdin.buffer,
        alarms,
        detector=None if detector is None else monitoring.Detector.load(detector),
        reference=usual,
        seed=config.common.seed,
    )
    lines = bad = 0
    for each in results:
        lines += "line" in each
        bad += "error" in each
        if "window" in each or not summaries:
            sys.stdout.write(json.dumps(each) + "\n")
            sys.stdout.flush()
    if bad:
        note(f"{bad:,} of {lines:,} lines could not be read")


@register(command, "coverage", lambda: {"texts": Reading})
def coverage(
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
    fill: Annotated[
        int, typer.Option("--fill", metavar="N", min=0, help="Texts to generate for what is missing (with --model).")
    ] = 1000,
    out: opt.Out = None,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Which states and transitions of the automaton a set of texts exercises, and which it misses.

    A transition is a word cluster read in a state. With --model, texts that fill the gaps are generated and given to
    the classifier; a finding is one on which it contradicts a confident automaton. Random texts are tried beside them.
    With --model, -o writes these texts; else it writes the coverage.

    Example:
      wfalens monitor coverage news.wfa --corpus tests.csv --model news.rnn -o gaps.csv
    """
    check_out(out, force)
    wfa = open_wfa(automaton, config.texts)
    texts = open_corpus(corpus, config.texts, labels=False).texts
    found = monitoring.coverage(wfa, texts, model=open_model(model, wfa), fill=fill, seed=config.common.seed)
    write_out(out, found.gaps or found, f"{automaton.name}: coverage")
    print_result(found, as_json, _SHOWN, {"automaton": str(automaton)})
    if not as_json:
        print_rows("Transitions that no text exercises", found.missing_rows(_SHOWN))
        for sentence in [] if found.gaps is None else found.gaps.findings()[:_SHOWN]:
            say(sentence)


@register(command, "detect", lambda: {"texts": Reading, "detect": monitoring.DetectOptions})
def detect(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    limit: opt.Limit = 2000,
    min_auroc: Annotated[
        float | None,
        typer.Option(
            "--min-auroc", metavar="SHARE", min=0, max=1, help="Exit with 1 if it is lower on any kind of attack."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the detector (JSON) for `monitor watch`.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Train a detector of attacked texts, and test it on attacks of other kinds.

    Half of the texts (which need labels) are attacked to train on, the other half to test. The detector is a logistic
    regression on how surprising a text is to the automaton, how rare its words are, how far network and automaton
    differ, and how much depends on single words.

    Example:
      wfalens monitor detect news.wfa --model news.rnn --corpus tagmynews \\
        -o detector.json
    """
    check_outputs(out, force=force)
    wfa = open_wfa(automaton, config.texts)
    texts = open_corpus(corpus, config.texts).sample(limit, config.common.seed)
    vectors = open_vectors(config.common.vectors, wfa.encoder.vocabulary.words[2:])
    network, seed = open_model(model, wfa), config.common.seed
    found = monitoring.detect(wfa, network, texts, config.detect, vectors=vectors, seed=seed)
    if out is not None:
        found.detector.save(out)
        note(f"wrote {out}")
    print_result(found, as_json)
    known = [value for value in found.auroc.values() if value is not None]
    if min_auroc is not None and min(known, default=0.0) < min_auroc:
        if not as_json:
            say(f"the detector is below {min_auroc:.3f}")
        raise typer.Exit(1)
