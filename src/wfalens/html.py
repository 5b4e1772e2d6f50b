"""HTML of results. The only place where words and texts become HTML: everything is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# a diverging pair that colour-blind readers can tell apart
FOR, AGAINST = (230, 97, 1), (94, 60, 153)


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


def page_html(title: str, parts: Sequence[str]) -> str:
    """A whole page around parts that are HTML already."""
    style = (
        "body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.5}"
        "table{border-collapse:collapse;margin:1rem 0}caption{text-align:left;font-weight:600}"
        "th,td{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd}"
        "th:first-child,td:first-child{text-align:left}figure{margin:1rem 0}figcaption{font-weight:600}"
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head>'
        f"<body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>"
    )


def _style(share: float) -> str:
    red, green, blue = FOR if share > 0 else AGAINST
    return f"background:rgba({red},{green},{blue},{abs(share) * 0.6:.2f});padding:0 .15em;border-radius:.2em"
