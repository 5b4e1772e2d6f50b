"""`wfalens report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    AutomatonArgument,
    DataOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    LabelColumnOption,
    SeedOption,
    TerminalProgress,
    TextColumnOption,
    check_output,
    print_json,
    say,
)
from wfalens.cli.study import CompareModelOption, CompareOption, ModelOption, TextsOption, VectorsOption, open_study


@app.command()
def report(
    automaton: AutomatonArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    model: ModelOption = None,
    corpus: TextsOption = None,
    vectors: VectorsOption = "wordllama",
    compare: CompareOption = None,
    compare_model: CompareModelOption = None,
    force: ForceOption = False,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = None,
    encoding: EncodingOption = "utf-8",
    as_json: JsonOption = False,
) -> None:
    """Write one page that shows an automaton: map, sentences, words, pairs, attacks. It works offline.

    With --model the network stands beside the automaton, with --corpus there are sentences, with --compare an earlier
    automaton. What is sampled to keep the page small, the page tells.

    Example: wfalens report films.wfa --model films.rnn --corpus rotten_tomatoes --out films.html
    """
    from wfalens.report import write_report

    check_output(out, force)
    study = open_study(
        automaton, model, corpus, vectors, compare, compare_model, seed, data, text_column, label_column, encoding
    )
    size = write_report(study, out, progress=TerminalProgress())
    if as_json:
        print_json({"report": str(out), "bytes": size})
    else:
        say(f"wrote {out} ({size / 1e6:.1f} MB); open it in a browser")
