"""`wfalens walk`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wfalens.cli import options as opt
from wfalens.cli.output import print_json, print_table
from wfalens.cli.quick import load_numba
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.automaton import Walk

_CLASSES_SHOWN = 3


def walk_cli(
    automaton: opt.Automaton,
    text: Annotated[str, opt.argument("TEXT", "The text to read.")],
    as_json: opt.Json = False,
) -> None:
    """Read a text word by word: the likely state, the output, and the kind of row each word went through.

    observed: the word was seen in this state; completed: the rule for missing rows; unknown: the word was never
    seen and reads as <unk>. The states of a linear automaton are not shown, as they are directions and none is likely.

    Example:
      wfalens walk films.wfa "a wonderful film"
    """
    load_numba()
    way = walk(automaton, text)
    if as_json:
        print_json(way.to_json())
    else:
        _print(automaton.name, way)


def walk(automaton: Path, text: str) -> Walk:
    """The way of a text through the automaton."""
    from wfalens.automaton import WFA

    way = WFA.load(automaton).walk(text)
    if not way.words:
        raise InputError("the text has no words")
    return way


def _print(name: str, way: Walk) -> None:
    kinds = ["", *way.row_kinds]
    classes = [] if way.word_classes is None else ["kind of word"]
    columns, rows = ["word", "row", *classes, *(["state"] if way.names_states else []), "output"], []
    likely = way.likely_states.tolist()
    for at, word in enumerate(["(start)", *way.words]):
        output = way.outputs[at]
        top = output.argsort()[::-1][:_CLASSES_SHOWN]
        rows.append(
            [
                word,
                kinds[at],
                *([] if way.word_classes is None else [way.word_classes[at - 1] if at else ""]),
                *([f"{way.state_name(likely[at])} ({way.states[at].max():.2f})"] if way.names_states else []),
                ", ".join(f"{way.class_names[label]} {output[label]:.2f}" for label in top),
            ]
        )
    print_table(f"{name}: {way.label or 'undecided'}", columns, rows)
