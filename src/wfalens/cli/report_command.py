"""`wfalens report`: one page, or a model card, with all results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_groups, open_study
from wfalens.cli.library import report
from wfalens.cli.output import check_outputs, print_json, say
from wfalens.errors import InputError
from wfalens.validation import Options, option

command = new_group()
Compare = Annotated[
    Path | None, typer.Option("--compare", metavar="FILE", help="An earlier automaton to compare with.")
]


@dataclass(frozen=True)
class ReportSettings(Options):
    """[report]: what belongs to the page."""

    compare_model: str | None = option(None, "The classifier that the automaton of --compare was extracted from.")
    positive: str | None = option(None, "With --by: the class whose rates are compared (of two the second, else all).")


@register(command, "report", lambda: {"texts": Reading, "report": ReportSettings})
def write_report(
    automaton: opt.Automaton,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The file to write.", show_default="report.html")
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="html: the page; md or json: a model card of one page.",
            show_default="by the ending of the file",
        ),
    ] = None,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="md, json: compare the groups that a column names.")
    ] = None,
    compare: Compare = None,
    config: opt.Config = None,  # type: ignore[assignment]
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write one page that shows an automaton: map, sentences, words, pairs, attacks. It works offline.

    With --model the network stands beside the automaton, with --corpus there are sentences (by default the test texts
    of the data set that it was extracted from), with --compare an earlier automaton.

    The card (md, json) has model, data, preprocessing, fidelity, groups and known artefacts: damaged words, and rare
    words that move the classifier as much as the strongest usual ones. What is not measured is absent, with the reason.

    Examples:
      wfalens report films.wfa -m films.rnn -c rotten_tomatoes -o films.html
      wfalens report mail.wfa -m mail.onnx -c mail.csv --by country -o mail.md
    """
    path = out or Path(f"report.{format_name or 'html'}")
    if format_name is None and path.suffix.lower() not in (".html", ".htm", ".md", ".json"):
        raise InputError(f"{path}: give it the ending .html, .md or .json, or name its --format", code="output-format")
    check_outputs(path, force=force)
    study = open_study(automaton, model, corpus, compare, config.report.compare_model, config)
    groups: dict[str, Any] = {}
    if by is not None:
        if corpus is None or study.corpus is None:
            raise InputError("groups are compared on texts; give --corpus", code="option-conflict")
        names = open_groups(corpus, by, study.corpus, config.texts)
        groups = {"groups": names, "group_column": by, "positive": config.report.positive}
    size = report.write_report(study, path, format=format_name, **groups)
    if as_json:
        print_json({"report": str(path), "bytes": size})
    else:
        say(f"wrote {path} ({size / 1e6:.2f} MB)")
