"""`wfalens report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy import study
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import Reader
from wfalens.cli.legacy.output import print_json, say

if TYPE_CHECKING:
    from wfalens.report import Study


def report_cli(
    automaton: opt.Automaton,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")] = Path("report.html"),
    model: opt.SomeModel = None,
    corpus: study.Texts = None,
    vectors: study.Vectors = "wordllama",
    seed: opt.Seed = 0,
    compare: study.Compare = None,
    compare_model: study.CompareModel = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write one page that shows an automaton: map, sentences, words, pairs, attacks. It works offline.

    With --model the network stands beside the automaton, with --corpus there are sentences, with --compare an earlier
    automaton. What is sampled to keep the page small, the page tells.

    Example:
      wfalens report films.wfa -m films.rnn -c rotten_tomatoes -o films.html
    """
    check_outputs(out, force=force)
    shown = study.open_study(
        automaton,
        model,
        corpus,
        vectors=vectors,
        compare=compare,
        compare_model=compare_model,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    size = report(shown, out)
    if as_json:
        print_json({"report": str(out), "bytes": size})
    else:
        say(f"wrote {out} ({size / 1e6:.1f} MB); open it in a browser")


def report(
    shown: Study,
    out: Path,
) -> int:
    """Write the page of a study; -> its size in bytes."""
    from wfalens.report import write_report

    check_outputs(out, force=True)
    return write_report(shown, out)
