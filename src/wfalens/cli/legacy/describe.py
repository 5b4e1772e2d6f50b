"""`wfalens describe`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.output import print_json, remark, say

if TYPE_CHECKING:
    from wfalens.explanation import Description


def describe_cli(
    automaton: opt.Automaton,
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Tell in sentences what a readable automaton does, each with its figures.

    First how faithful it is and how large; then what the first word does, when it is sure and how long it stays so,
    which kinds of words turn towards which class, what turns a sure opinion, and what it remembers without saying it.

    The automaton must carry a readable automaton, as `wfalens extract` makes it unless told otherwise, or be a readable
    one itself (`--kind readable`): one with few states and kinds of words.

    Examples:
      wfalens describe readable.wfa
      wfalens describe readable.wfa --json
    """
    check_outputs(html, force=force)
    story = describe(automaton)
    write_html(html, f"{automaton.name}: what it does", story.to_html())
    if as_json:
        print_json(story.to_dict())
    else:
        say("\n\n".join(each.text for each in story.sentences))
        remark(story.remark)


def describe(automaton: Path) -> Description:
    """The story of a readable automaton."""
    from wfalens.automaton import WFA
    from wfalens.explanation import describe

    return describe(WFA.load(automaton))
