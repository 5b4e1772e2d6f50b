"""What a readable automaton does, for the page: sentences, and the diagram as numbers that the page draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfalens.automaton.naming import HARDLY, WordClass
from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.description import describe
from wfalens.explanation.moves import MoveTable, anatomy_and_names, moves, require_readable
from wfalens.export.diagram import Diagram, rows_by_class
from wfalens.report.study import short

_TYPICAL = 5  # words that stand for a kind
_LEAST_MOVE = 1e-4  # of all words: rarer moves are left out


def reading(wfa: WFA) -> dict[str, Any] | None:
    """The story, the states, the kinds of words and the moves; None for automata that cannot be read on a page.

    Where a readable automaton tells them, the remark says so. What cannot be told carries the reason instead.
    """
    if wfa.readable is None:
        return None
    try:
        story, table = describe(wfa), moves(wfa)
        anatomy, _ = anatomy_and_names(require_readable(wfa).wfa)
    except InputError as error:
        return {"error": str(error)}
    found = recorded(wfa.readable.provenance)
    return {
        "story": [{"about": each.about, "text": each.text} for each in story.sentences],
        "remark": story.remark,
        "held_out": None if found is None else {"cr": found.cr, "texts": found.texts},
        "class_names": list(wfa.class_names),
        "states": _states(table),
        "kinds": [_kind(each) for each in table.names.classes],
        "moves": _moves(table),
        "matrices": short(anatomy.matrices, 3),
    }


def _states(table: MoveTable) -> list[dict[str, Any]]:
    diagram = Diagram(table)
    columns = np.unique(diagram.levels, return_inverse=True)[1]
    rows = rows_by_class(table.centres, columns)
    return [
        {
            "name": name,
            "mix": short(table.centres[at]),
            "undecided": bool(diagram.undecided[at]),
            "read": round(float(table.read[at]), 4),
            "stays": round(float(table.rates[at, at]), 4),
            "level": int(diagram.levels[at]),
            "column": int(columns[at]),
            "row": round(float(rows[at] - rows.min()), 3),
        }
        for at, name in enumerate(table.names.states)
    ]


def _kind(kind: WordClass) -> dict[str, Any]:
    towards = kind.moved >= HARDLY and kind.effect.startswith("turns towards ")
    return {
        "words": list(kind.words[:_TYPICAL]),
        "effect": kind.effect,
        "size": kind.size,
        "share": round(kind.share, 4),
        "moved": round(kind.moved, 4),
        "towards": int(kind.change.argmax()) if towards else None,
    }


def _moves(table: MoveTable) -> list[dict[str, Any]]:
    """Between different states, each with the kinds of words that stand out in it.

    First for every state the most frequent move that leads there, so that none stands alone in a drawing of the first
    few; then all others. Both by how often they are made.
    """
    diagram, strongest = Diagram(table), table.strongest()
    leading = set({target: (source, target) for source, target in reversed(strongest)}.values())
    order = sorted(strongest, key=lambda move: move not in leading)
    return [
        {
            "from": source,
            "to": target,
            "rate": round(float(table.rates[source, target]), 4),
            "share": round(float(table.shares[source, target]), 5),
            "words": diagram.edge(source, target).words,
            "kinds": [[each.word_class, round(each.share, 3)] for each in table.carriers(source, target)],
        }
        for source, target in order
        if table.shares[source, target] >= _LEAST_MOVE
    ]
