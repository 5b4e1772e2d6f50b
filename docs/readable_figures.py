"""Writes the figures, stories and tables of readable.md again: python docs/readable_figures.py news=news.wfa …

A part of the page that is generated stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

from wfalens.automaton import WFA
from wfalens.explanation import describe, moves
from wfalens.export import diagram_of, draw_diagram

FOLDER = Path(__file__).resolve().parent
LEAST = 0.05  # of the words read in a state: rarer moves are left out of the tables


def main(arguments: list[str]) -> None:
    page = FOLDER / "readable.md"
    text = page.read_text()
    for name, path in (argument.split("=", 1) for argument in arguments):
        wfa = WFA.load(path)
        part = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end of {re.escape(name)} -->)", re.DOTALL)
        if not part.search(text):
            sys.exit(f"readable.md has no part named {name}")
        made = written(name, wfa)
        text = part.sub(lambda found, made=made: found[1] + made + found[2], text)
    page.write_text(text)


def _item(sentence: str) -> str:
    """A sentence as an item of a list, in short lines."""
    return textwrap.fill(f"* {sentence}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def written(name: str, wfa: WFA) -> str:
    """Draws the figures of an automaton, and gives its part of the page."""
    diagram = diagram_of(wfa)
    for direction, ending in (("right", ""), ("down", "-narrow")):
        (FOLDER / "images" / f"readable-{name}{ending}.png").write_bytes(draw_diagram(diagram, "png", direction))
    story = "\n".join(_item(_safe(each.text)) for each in describe(wfa).sentences)
    rows = moves(wfa).shown(LEAST)
    head = "| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|\n"
    table = "".join("| " + " | ".join(map(_safe, row.values())) + " |\n" for row in rows)
    return (
        f"![The automaton of {name}](images/readable-{name}.png)\n\n[The same for narrow pages]"
        f"(images/readable-{name}-narrow.png)\n\n{story}\n\n<details><summary>From → to: moves of "
        f"{LEAST:.0%} or more of the words read in a state</summary>\n\n{head}{table}\n</details>\n"
    )


def _safe(text: str) -> str:
    """Words as Markdown shows them."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", text)


if __name__ == "__main__":
    main(sys.argv[1:])
