"""`wfalens walk`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import JsonOption, print_json, print_table
from wfalens.errors import InputError

_CLASSES_SHOWN = 3


@app.command()
def walk(
    automaton: Annotated[Path, typer.Argument(help="The automaton: a .wfa file.")],
    text: Annotated[str, typer.Argument(help="The text to read.")],
    as_json: JsonOption = False,
) -> None:
    """Read a text word by word: the likely state, the output, and the kind of row each word went through.

    observed: the word was seen in this state; completed: the rule for missing rows; unknown: the word was never
    seen and reads as <unk>. A linear automaton's states are directions, none of which is likely: they are not shown.

    Example: wfalens walk films.wfa "a wonderful film"
    """
    from wfalens.automaton import WFA

    wfa = WFA.load(automaton)
    way = wfa.walk(text)
    if not way.words:
        raise InputError("the text has no words")
    if as_json:
        print_json(way.to_json())
        return
    kinds = ["", *way.row_kinds]
    columns, rows = ["word", "row", *(["state"] if way.names_states else []), "output"], []
    for position, word in enumerate(["(start)", *way.words]):
        output = way.outputs[position]
        top = output.argsort()[::-1][:_CLASSES_SHOWN]
        rows.append(
            [
                word,
                kinds[position],
                *([f"{way.likely_states[position]} ({way.states[position].max():.2f})"] if way.names_states else []),
                ", ".join(f"{wfa.class_names[label]} {output[label]:.2f}" for label in top),
            ]
        )
    print_table(f"{automaton.name}: {way.label or 'undecided'}", columns, rows)
