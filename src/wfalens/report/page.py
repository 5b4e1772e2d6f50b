"""The page around the views: one script and one style for report and live page; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

from wfalens.export.runtime.source_files import runtime_js
from wfalens.html import escaped
from wfalens.palette import as_style

# in the order in which they build upon each other: tools, then views in the order of the page's menu
_TOOLS = ("dom", "format", "terms", "layer", "save", "chart", "table", "typed", "source", "reader")
_PANELS = ("picture", "chips", "card", "edits", "counterfactuals")
_VIEWS = ("overview", "trace", "texts", "words", "attacks", "automaton", "compare", "main")
# styles of single elements are set by script only; charts are saved through blob: addresses
LIVE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@cache
def script() -> str:
    """All of the page's code: every file is a function of its own, and they share one object."""
    parts = [
        f"{runtime_js()}\nlens.automaton = automaton;",
        *(_read(f"{name}.js") for name in (*_TOOLS, *_PANELS, *_VIEWS)),
    ]
    functions = [f"(() => {{\n{part}\n}})();" for part in parts]
    return "'use strict';\nconst lens = {};\n" + "\n".join(functions)


@cache
def style() -> str:
    return as_style() + _read("page.css")


def live_html(title: str) -> str:
    """The page that asks a server."""
    return _page(title, '<link rel="stylesheet" href="page.css">', '<script src="page.js" defer></script>', "")


def report_html(title: str, data: dict[str, Any]) -> str:
    """The page that carries all it shows; its policy allows this one script and style and no request at all."""
    policy = (
        f"default-src 'none'; script-src '{_digest(script())}'; style-src '{_digest(style())}'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style()}</style>'
    return _page(title, head, f"<script>{script()}</script>", embedded(data))


def embedded(data: dict[str, Any]) -> str:
    """Data as an inert script element; no text in it can end the element."""
    text = to_json(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="data">{text}</script>'


def to_json(data: Any) -> str:
    """Compact and in ASCII, so that halves of surrogate pairs in texts survive."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _page(title: str, head: str, code: str, data: str) -> str:
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"{head}<title>{escaped(_whole(title))}</title>"
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        'content="light dark"><link rel="icon" href="data:,"></head>'
        '<body><a class="skip" href="#view">Skip to the view</a><div id="page"></div>'
        f"<noscript>This page draws its views with JavaScript.</noscript>{data}{code}</body></html>\n"
    )


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which file names may have and pages may not."""
    return text.encode("utf-8", "replace").decode()


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (files("wfalens.report") / "static" / name).read_text(encoding="utf-8")
