"""`wfalens show`: a readable automaton as a drawing, as tables or in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_wfa
from wfalens.cli.library import explanation, export
from wfalens.cli.output import check_outputs, print_json, print_result, say
from wfalens.validation import Bounds, Options, option, real

command = new_group()


@dataclass(frozen=True)
class DrawingSettings(Options):
    """[show]: how it is drawn."""

    share: float = option(0.9, "Share of the moves that the arrows should carry.", Bounds(real, 0, 1))
    direction: str = option(
        "right", "From the initial state to the right, or down (needs Graphviz).", ("right", "down")
    )


@register(command, "show", lambda: {"texts": Reading, "show": DrawingSettings})
def show(
    automaton: opt.Automaton,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it: .svg, .pdf, .png or .dot.", show_default="tables"),
    ] = None,
    text: Annotated[bool, opt.flag("--text", help="Describe in sentences what it does, with figures.")] = False,
    edges: Annotated[int, typer.Option("--edges", metavar="N", min=1, help="Arrows of the drawing at most.")] = 40,
    force: opt.Force = False,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Show a readable automaton: as a drawing, as tables of its transitions, or described in sentences.

    It must be readable itself (`wfalens extract --method readable`) or carry a readable automaton, as those of
    `wfalens extract` do by default.

    The drawing has the initial state at the left, undecided states in the middle and confident ones at the right.
    Arrows are labelled with word clusters and as wide as they are frequent. Graphviz places the states; without it they
    stand in plain columns.

    Examples:
      wfalens show readable.wfa
      wfalens show readable.wfa --text
      wfalens show readable.wfa -o automaton.svg --edges 20
    """
    check_outputs(out, force=force)
    wfa = open_wfa(automaton, config.texts)
    if out is not None:
        settings = config.show
        drawn = export.draw(wfa, out, most_edges=edges, enough=settings.share, direction=settings.direction)
        about = {"file": str(out), "edges": len(drawn.edges), "share": drawn.carried, "caption": drawn.caption}
        if as_json:
            print_json(about)
        else:
            say(f"wrote {out} ({len(drawn.edges)} arrows)")
    elif text:
        described = explanation.describe(wfa)
        if as_json:
            print_json(described.to_dict())
        else:
            say("\n\n".join(each.text for each in described.sentences))
    else:
        print_result(explanation.moves(wfa), as_json)
