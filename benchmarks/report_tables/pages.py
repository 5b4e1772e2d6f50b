"""Tables of the documentation, made from the stored results of benchmarks.

A page has `<!-- figures: NAME -->` before a table and `<!-- end of figures -->` after it. What stands between them is
written by `report.py`: the table of that name, and where it comes from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from report_results import Result
from report_tables.writing import TABLES

PART = re.compile(r"(<!-- figures: (\S+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def pages_with_tables(root: Path) -> list[Path]:
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    return [path for path in pages if path.exists() and PART.search(path.read_text(encoding="utf-8"))]


def rewritten(path: Path, text: str, results: Mapping[str, Result], root: Path) -> str:
    """The text of a page with all its tables made anew."""

    def made(found: re.Match[str]) -> str:
        begin, name, end = found.groups()
        if name not in TABLES:
            raise SystemExit(f"{path.name}: no table is called {name}; known: {', '.join(TABLES)}.")
        result = results.get(TABLES[name].benchmark)
        if result is None or result.figures is None:
            raise SystemExit(f"{path.name}: no full result of {TABLES[name].benchmark} is stored.")
        shown = TABLES[name].render(result.figures)
        return f"{begin}{shown}\n\n{source(result, path, root)}\n{end}"

    return PART.sub(made, text)


def source(result: Result, path: Path, root: Path) -> str:
    """Where and when the figures of a table were measured, in a line."""
    page = os.path.relpath(root / "docs" / "benchmarks.md", path.parent)
    told = f"`{result.name}.py`, {result.ended[:10]}, wfalens {result.versions.get('wfalens', 'before 0.2')}"
    return f"*[{told}]({page}#{result.name}){'; see the note there' if result.note else ''}.*"
