"""`wfalens card`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.evaluate import evaluate
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import note, print_json, say
from wfalens.errors import InputError
from wfalens.storage import write_atomically

if TYPE_CHECKING:
    from wfalens.report import AutomatonCard


def card_cli(
    automaton: opt.Automaton,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Compare the groups that a column of the texts names."),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="CLASS",
            help="The class whose rates are compared.",
            show_default="of two the second, else all",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write the card there (Markdown).", rich_help_panel=opt.OUTPUT
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write a card: model, data, preprocessing, fidelity, groups and known artefacts on one page.

    Fidelity is measured with --model and --corpus, groups are compared with --by as well. What is not measured is
    absent, with the reason. Artefacts are damaged words (control characters, broken encodings, markup) and rare words
    that move the classifier as much as the strongest usual ones.

    Examples:
      wfalens card films.wfa
      wfalens card mail.wfa -m mail.onnx -c mail.csv --by country -o mail.md
    """
    check_outputs(out, force=force)
    made = card(
        automaton,
        model,
        corpus,
        by=by,
        positive=positive,
        reader=Reader(data, text_column, label_column, encoding),
    )
    if out is not None:
        write_atomically(out, made.to_markdown().encode("utf-8", "replace"))
        note(f"wrote {out}")
    if as_json:
        print_json(made.to_dict())
    elif out is None:
        say(made.to_markdown().rstrip())


def card(
    automaton: Path,
    model: str | None = None,
    corpus: str | None = None,
    *,
    by: str | None = None,
    positive: str | None = None,
    reader: Reader = USUAL,
) -> AutomatonCard:
    """The card of an automaton; its fidelity is measured where classifier and texts are given."""
    from wfalens.automaton import WFA
    from wfalens.report import AutomatonCard

    if (model is None) != (corpus is None):
        raise InputError(
            "measuring the fidelity takes the classifier (--model) and texts (--corpus): give both or none"
        )
    if model is None or corpus is None:
        if by is not None:
            raise InputError("comparing groups takes the classifier (--model) and texts (--corpus)")
        return AutomatonCard.of(automaton.name, WFA.load(automaton))
    done = evaluate(automaton, model, corpus, by=by, positive=positive, reader=reader)
    return AutomatonCard.of(automaton.name, done.wfa, done.fidelity, done.corpus)
