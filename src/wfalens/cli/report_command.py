"""`wfalens report`: one page, or a model card, with all results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_groups, open_study
from wfalens.cli.library import report
from wfalens.cli.output import check_outputs, print_answer
from wfalens.errors import InputError
from wfalens.validation import Options, option

command = new_group()


@dataclass(frozen=True)
class ReportSettings(Options):
    """[report]: what belongs to the page.

    Args:
        format: html: the page; md or json: a model card (default: by the ending of the file).
        by: md, json: compare the groups that a column of the texts names.
        compare: An earlier automaton to compare with.
        compare_model: The classifier that the earlier automaton was extracted from.
        positive: With by: the class whose rates are compared (of two the second, else all).
    """

    format: str | None = option(None)
    by: str | None = option(None)
    compare: Path | None = option(None)
    compare_model: str | None = option(None)
    positive: str | None = option(None)


@register(command, "report", report=ReportSettings)
def write_report(
    settings: Settings,
    automaton: opt.Automaton,
    out: Annotated[Path | None, opt.value("--out -o", "FILE", "The file to write.", show_default="report.html")] = None,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    force: opt.Force = False,
) -> None:
    """Write one page that shows an automaton: map, sentences, words, pairs, attacks. It works offline.

    With --model the network stands beside the automaton, with --corpus there are sentences (by default the test texts
    of the data set that it was extracted from), with report.compare an earlier automaton.

    The card (md, json) has model, data, preprocessing, fidelity, groups and findings. What is not measured is absent,
    with the reason.

    Examples:
      wfalens report films.wfa -m films.rnn -c rotten_tomatoes -o films.html
      wfalens report mail.wfa -m mail.onnx -c mail.csv -C by=country -o mail.md
    """
    format_name, by = settings.report.format, settings.report.by
    path = out or Path(f"report.{format_name or 'html'}")
    if format_name is None and path.suffix.lower() not in (".html", ".htm", ".md", ".json"):
        raise InputError(
            f"{path}: give it the ending .html, .md or .json, or name its format (report.format)", code="output-format"
        )
    check_outputs(path, force=force)
    study = open_study(automaton, model, corpus, settings)
    groups: dict[str, Any] = {}
    if by is not None:
        if corpus is None or study.corpus is None:
            raise InputError("groups are compared on texts; give --corpus", code="option-conflict")
        names = open_groups(corpus, by, study.corpus, settings)
        groups = {"groups": names, "group_column": by, "positive": settings.report.positive}
    size = report.write_report(study, path, format=format_name, **groups)
    print_answer({"report": str(path), "bytes": size}, f"wrote {path} ({size / 1e6:.2f} MB)", settings.as_json)
