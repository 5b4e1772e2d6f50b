"""`wfalens export`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.output import print_json, remark, say
from wfalens.cli.legacy.words import WordChoice
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.export import Exported

_ALL_WORDS = WordChoice()


def export_cli(
    automaton: opt.Automaton,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write; others may be written beside it.")
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="dot, openfst, prism, drn, json, onnx or aalpy.",
            show_default="by the ending of the file",
        ),
    ] = None,
    states: Annotated[
        str | None,
        typer.Option(
            "--states", metavar="NUMBERS", help="States to export, such as 0,3,7-12; state 0 is always among them."
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", metavar="WEIGHT", help="Leave out weights below this, and scale the rows up again."
        ),
    ] = 0.0,
    class_name: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="openfst: the class whose weights are written.")
    ] = None,
    flows: Annotated[
        int | None,
        typer.Option("--flows", metavar="N", min=0, help="dot: how many flows to draw; 0: all.", show_default="60"),
    ] = None,
    words: opt.Words = None,
    word_file: opt.WordFile = None,
    top: opt.TopWords = None,
    encoding: opt.Encoding = "utf-8",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Write an automaton for another tool: Graphviz, OpenFst, PRISM, Storm, onnxruntime, AALpy, or as JSON.

    All words are exported unless --words, --word-file or --top choose some. Rows sum to 1 after writing: mass that null
    completion, --states or --threshold left without a target goes to an extra state "lost".

    A linear automaton, whose weights are real numbers, goes to dot, json and onnx. To the other formats, which hold
    probabilities, its readable automaton goes in its place, with a remark that gives its CR; without one it is
    refused. For model checkers (Storm, PRISM), extract with --kind stochastic.

    Example:
      wfalens export films.wfa --top 500 -o films.drn
    """
    from wfalens.export import format_of

    name = format_name or format_of(out)
    _refuse_idle("--class", class_name, name, "openfst")
    _refuse_idle("--flows", flows, name, "dot")
    made = export(
        automaton,
        out,
        name,
        words=WordChoice(words or (), word_file, top, encoding),
        force=force,
        states=None if states is None else _numbers(states),
        threshold=threshold,
        **({} if class_name is None else {"class_name": class_name}),
        **({} if flows is None else {"flows": flows or None}),
    )
    if as_json:
        print_json(made.to_dict())
        return
    say(f"wrote {made.summary()}")
    remark(made.remark)


def export(
    automaton: Path,
    out: Path,
    name: str,
    *,
    words: WordChoice = _ALL_WORDS,
    force: bool = False,
    **choice: Any,
) -> Exported:
    """Write an automaton in a format; `choice` holds further options of `export_files`."""
    from wfalens.automaton import WFA
    from wfalens.export import export_files

    check_outputs(out, force=force)
    wfa = WFA.load(automaton)
    made = export_files(wfa, out, name, words=words.of(wfa), **choice)
    check_outputs(*made.files, force=force)
    return made.write()


def _refuse_idle(option: str, value: object, name: str, owner: str) -> None:
    if value is not None and name != owner:
        raise InputError(f"{option} belongs to --format {owner}, not {name}")


def _numbers(spec: str) -> list[int]:
    """Numbers and ranges, such as 0,3,7-12."""
    numbers: list[int] = []
    for part in spec.split(","):
        found = re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)
        if not found:
            raise InputError(f"--states takes numbers and ranges such as 0,3,7-12, not {spec!r}")
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers
