"""HTML of results. Words and texts become HTML only here, where everything is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from wfalens.palette import AGAINST, FOR


def table_html(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        '<table class="wfalens"><caption>' + escape(title) + "</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def heat_html(title: str, words: Sequence[str], values: Sequence[float], unit: str) -> str:
    """Words on a background by sign and size, each with its value as a tooltip, and a legend."""
    most = max((abs(value) for value in values), default=0.0) or 1.0
    marked = " ".join(
        f'<span title="{value:+.3f} {escape(unit)}" style="{_style(value / most)}">{escape(word)}'
        f"<sub>{value:+.2f}</sub></span>"
        for word, value in zip(words, values, strict=True)
    )
    legend = (
        f'<small><span style="{_style(1)}">+{most:.2f} for</span> '
        f'<span style="{_style(-1)}">−{most:.2f} against</span> ({escape(unit)})</small>'
    )
    return (
        f'<figure class="wfalens"><figcaption>{escape(title)}</figcaption><p dir="auto">{marked}</p>{legend}</figure>'
    )


def escaped(text: str) -> str:
    """A text as a part of HTML, quotes included."""
    return escape(text)


def text_html(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def figure_html(source: str, caption: str, links: Mapping[str, str]) -> str:
    """An image, its caption (also the alternative text), and links to other formats."""
    more = " ".join(f'<a href="{escape(target)}">{escape(name)}</a>' for name, target in links.items())
    return (
        f'<figure><img src="{escape(source)}" alt="{escape(caption)}" loading="lazy" style="max-width:100%">'
        f"<figcaption>{escape(caption)} {more}</figcaption></figure>"
    )


def page_html(title: str, blocks: Sequence[str]) -> str:
    """A whole page around blocks that are HTML already."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_style_sheet()}</style></head>'
        f"<body><main><h1>{escape(title)}</h1>{''.join(blocks)}</main></body></html>"
    )


@cache
def _style_sheet() -> str:
    return files(__package__).joinpath("result.css").read_text("utf-8")


def _style(share: float) -> str:
    shade = f"{FOR if share > 0 else AGAINST}{round(255 * 0.6 * abs(share)):02x}"
    return f"background:{shade};padding:0 .15em;border-radius:.2em"
