"""How figures are written in tables: shares, numbers, intervals, and the table itself in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Figures = Mapping[str, Any]
SETS = {
    "tagmynews": "news titles",
    "jigsaw_toxic": "toxic comments",
    "rotten_tomatoes": "film reviews",
    "clickbait": "clickbait",
    "imdb": "full film reviews",
    "newsroom": "generated headlines",
}
CLASSES = {"tagmynews": 7}  # else two


class Table(NamedTuple):
    """A table of the documentation: the benchmark that has its figures, and how they are shown."""

    benchmark: str
    render: Callable[[Figures], str]


TABLES: dict[str, Table] = {}


def table(name: str, benchmark: str) -> Callable[[Callable[[Figures], str]], Callable[[Figures], str]]:
    def named(render: Callable[[Figures], str]) -> Callable[[Figures], str]:
        TABLES[name] = Table(benchmark, render)
        return render

    return named


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without the columns that are empty in all rows."""
    kept = [at for at in range(len(columns)) if at == 0 or any(row[at] for row in rows)]
    lines = [[columns[at] for at in kept], ["---"] * len(kept), *([row[at] for at in kept] for row in rows)]
    return "\n".join("|" + "|".join(_cell(cell) for cell in line) + "|" for line in lines)


def _cell(cell: str) -> str:
    return cell if cell == "---" else f" {cell} " if cell else " "


def rate(value: float | None, digits: int = 3) -> str:
    """A figure between −1 and 1 as the documentation writes it: .962; nothing for one that is absent."""
    if value is None:
        return ""
    return f"{value:.{digits}f}".replace("0.", ".", 1).replace("-", "−")


def number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}".replace("-", "−")


def percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f} %"


def power(value: float) -> str:
    """A power of ten with its exponent raised, any other number in digits."""
    exponent = round(math.log10(value))
    if value != 10**exponent:
        return f"{value:,.0f}"
    return "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def wilson(value: float, total: int, z: float = 1.959964) -> str:
    """The 95 % interval of a share, by Wilson's formula."""
    middle = (value + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(value * (1 - value) / total + z * z / (4 * total * total))
    return f"[{rate(middle - half)}, {rate(middle + half)}]"


def pair(one: float | None, two: float | None, digits: int = 3) -> str:
    return "" if one is None and two is None else f"{rate(one, digits) or '–'} / {rate(two, digits) or '–'}"
