"""`wfalens show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.output import note, print_json, print_table, remark, say
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.explanation import MoveTable
    from wfalens.export.diagram import Diagram

DRAWING = "Drawing"


def show_cli(
    automaton: opt.Automaton,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it: .svg, .pdf, .png or .dot.", show_default="tables"),
    ] = None,
    edges: Annotated[
        int, typer.Option("--edges", metavar="N", min=1, help="Arrows at most.", rich_help_panel=DRAWING)
    ] = 40,
    share: Annotated[
        float,
        typer.Option(
            "--share", metavar="SHARE", min=0, max=1, help="Of the moves, to be drawn.", rich_help_panel=DRAWING
        ),
    ] = 0.9,
    direction: Annotated[
        str,
        typer.Option(
            "--direction",
            metavar="WHERE",
            help="From the start to the right, or down (for narrow pages; needs Graphviz).",
            rich_help_panel=DRAWING,
        ),
    ] = "right",
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Show a readable automaton: as a drawing, or as a table of what words do between its states.

    Of an automaton that carries a readable automaton, the latter is shown, with a note.

    The drawing has the start at the left, undecided states in the middle and sure ones at the right. Arrows are
    labelled with kinds of words and as wide as they are frequent; only as many are drawn as carry 90 % of the moves,
    and 40 at most, which the caption says. Graphviz places the states; without it they stand in plain columns.

    Without -o two tables are printed: how often words lead from state to state and which kinds of words do so, and
    the kinds of words themselves. `wfalens describe` tells the same in sentences.

    Examples:
      wfalens show readable.wfa
      wfalens show readable.wfa -o automaton.svg
      wfalens show readable.wfa -o automaton.png --edges 20 --direction down
    """
    if out is None:
        table = show(automaton)
        if as_json:
            print_json(table.to_dict())
        else:
            _print(automaton.name, table)
        return
    drawn = draw(automaton, out, edges=edges, share=share, direction=direction, force=force)
    if as_json:
        about = {"edges": len(drawn.edges), "share": drawn.carried, "caption": drawn.caption}
        print_json({"file": str(out), **about, "remark": drawn.table.remark})
    else:
        say(f"wrote {out} ({len(drawn.table.names.states)} states, {len(drawn.edges)} arrows)")
        remark(drawn.table.remark)


def show(automaton: Path) -> MoveTable:
    """What words do between the states of a readable automaton."""
    from wfalens.automaton import WFA
    from wfalens.explanation.moves import moves

    return moves(WFA.load(automaton))


def draw(
    automaton: Path,
    out: Path,
    *,
    edges: int = 40,
    share: float = 0.9,
    direction: str = "right",
    force: bool = False,
) -> Diagram:
    """Draw a readable automaton into a file, whose ending decides the format."""
    from wfalens.automaton import WFA
    from wfalens.export import draw as draw_file
    from wfalens.export.diagram_drawing import DIAGRAM_FORMATS, has_graphviz

    ending = out.suffix[1:].lower()
    if ending not in DIAGRAM_FORMATS:
        raise InputError(f"{out}: a drawing must end in {', '.join(f'.{each}' for each in DIAGRAM_FORMATS)}")
    check_outputs(out, force=force)
    diagram = draw_file(WFA.load(automaton), out, most_edges=edges, enough=share, direction=direction)
    if ending != "dot" and not has_graphviz():
        note("Graphviz is not installed (https://graphviz.org): drawn in plain columns, from left to right")
    return diagram


def _print(name: str, table: MoveTable) -> None:
    for title, rows in table.tables().items():
        print_table(f"{name}: {title}", list(rows[0]), [list(row.values()) for row in rows])
    say("moves of less than 1 % of the words read in a state are left out; --json has all")
    remark(table.remark)
