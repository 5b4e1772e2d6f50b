"""`wfalens cover`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_csv, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.errors import InputError
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    from wfalens.monitoring import Coverage


def cover_cli(
    automaton: opt.Automaton,
    corpus: opt.Corpus,
    model: opt.SomeModel = None,
    fill: Annotated[
        int, typer.Option("--fill", metavar="N", min=0, help="Texts to make for what is missing (with --model).")
    ] = 1000,
    top: Annotated[int, typer.Option("--top", "-k", metavar="N", min=1, help="Gaps and findings to show.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the texts that fill gaps as CSV.", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Which states and transitions of the automaton a set of texts exercises, and which it leaves out.

    A transition is a class of words read in a state. With --model, texts that fill the gaps are made and asked of the
    classifier; a finding is one on which it contradicts an automaton that is sure. Random texts are asked beside them.

    Example:
      wfalens cover news.wfa --corpus tests.csv --model news.rnn -o gaps.csv
    """
    check_outputs(html, output, force=force)
    if output is not None and model is None:
        raise InputError("--output is for texts that fill gaps, which the network must read: give --model too")
    done = cover(
        automaton,
        corpus,
        model=model,
        fill=fill,
        seed=seed,
        reader=Reader(data, text_column, None, encoding),
    )
    write_html(html, f"{automaton.name}: coverage", done.to_html())
    if done.gaps is not None:
        write_csv(output, done.gaps.to_dataframe)
    if as_json:
        print_json({"automaton": str(automaton), **done.to_dict()})
    else:
        say(done.summary())
        rows = done.missing_rows(top)
        if rows:
            cells = [list(map(str, row.values())) for row in rows]
            print_table("Transitions that no text exercises", list(rows[0]), cells)
        for sentence in [] if done.gaps is None else done.gaps.findings()[:top]:
            say(sentence)


def cover(
    automaton: Path,
    corpus: str,
    *,
    model: str | None = None,
    fill: int = 1000,
    seed: int = 0,
    reader: Reader = USUAL,
) -> Coverage:
    """What a corpus exercises of an automaton; with a network, texts for what it leaves out are read by it."""
    from wfalens.automaton import WFA
    from wfalens.monitoring import coverage

    wfa = WFA.load(automaton)
    texts = reader.corpus(corpus, "test", labels=False).texts
    classifier = None if model is None else wrap(model, vocab=wfa.encoder)
    return coverage(wfa, texts, model=classifier, fill=fill, seed=seed)
