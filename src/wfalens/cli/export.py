"""`wfalens export`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    AutomatonArgument,
    EncodingOption,
    ForceOption,
    JsonOption,
    check_output,
    print_json,
    say,
)
from wfalens.cli.words import TopWordsOption, WordFileOption, WordsOption, chosen_words
from wfalens.errors import InputError
from wfalens.storage import write_atomically

if TYPE_CHECKING:
    pass

_FLOWS = 60


@app.command()
def export(
    automaton: AutomatonArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write; others may be written beside it.")],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="dot, openfst, prism, prism-explicit, drn, json, onnx or aalpy (default: by the file's ending).",
        ),
    ] = None,
    words: WordsOption = None,
    word_file: WordFileOption = None,
    top: TopWordsOption = None,
    states: Annotated[
        str | None, typer.Option("--states", help="States to export, such as 0,3,7-12; state 0 is always among them.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Leave out weights below this, and scale the rows up again.")
    ] = 0.0,
    class_name: Annotated[
        str | None, typer.Option("--class", help="openfst: the class whose weights are written.")
    ] = None,
    flows: Annotated[
        int | None, typer.Option("--flows", min=0, help=f"dot: how many flows to draw ({_FLOWS}; 0: all).")
    ] = None,
    encoding: EncodingOption = "utf-8",
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write an automaton for another tool: Graphviz, OpenFst, PRISM, Storm, onnxruntime, AALpy, or as JSON.

    All words are exported unless --words, --word-file or --top choose some. Rows sum to 1 after writing: mass that null
    completion, --states or --threshold left without a target goes to an extra state "lost". A linear automaton, whose
    weights are real numbers, goes to dot, json and onnx.

    Example: wfalens export films.wfa --top 500 -o films.drn
    """
    from wfalens.automaton import WFA
    from wfalens.export.files import export_files, format_of, main_file

    name = format_name or format_of(out)
    _refuse_idle("--class", class_name, name, "openfst")
    _refuse_idle("--flows", flows, name, "dot")
    check_output(main_file(out, name), force)
    wfa = WFA.load(automaton)
    made = export_files(
        wfa,
        out,
        name,
        words=chosen_words(wfa, words, word_file, top, encoding),
        states=None if states is None else _numbers(states),
        threshold=threshold,
        class_name=class_name,
        flows=_FLOWS if flows is None else flows or None,
    )
    for path in made.files:
        check_output(path, force)
    for path, blob in made.files.items():
        write_atomically(path, blob)
    if as_json:
        files = [{"file": str(path), "bytes": len(blob)} for path, blob in made.files.items()]
        counts = {"words": made.words, "states": made.states, "transitions": made.transitions}
        print_json({"format": name, "kind": wfa.kind, **counts, "files": files})
        return
    size = f"{made.words:,} words, {made.states} states"
    if made.transitions is not None:
        size += f", {made.transitions:,} transitions"
    say(f"wrote {', '.join(map(str, made.files))} ({size})")


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
