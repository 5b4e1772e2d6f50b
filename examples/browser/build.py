"""One HTML file that classifies what is typed into it and shows the reasons: python build.py films.wfa films.html"""

import base64
import hashlib
import sys
from pathlib import Path

from wfalens import WFA
from wfalens.export import to_js

HERE = Path(__file__).parent
MOST_BYTES = 280_000


def build(wfa: WFA, title: str = "What does it think?") -> str:
    """The page: its policy allows this script and this style, and no request, no eval and nothing else."""
    model = to_js(wfa, bits=16, max_bytes=MOST_BYTES).files[""]
    script = f"{model}\n{(HERE / 'page.js').read_text('utf-8')}"
    style = (HERE / "page.css").read_text("utf-8")
    policy = f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; img-src data:"
    policy += "; base-uri 'none'; form-action 'none'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style}</style>'
        '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head>'
        f'<body><h1>{title}</h1><textarea id="text" rows="3" aria-label="Your text"></textarea>'
        f'<p id="answer" aria-live="polite"></p><p id="words"></p><script type="module">{script}</script>'
        "</body></html>\n"
    )


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


if __name__ == "__main__":
    automaton, page = sys.argv[1:]
    Path(page).write_text(build(WFA.load(automaton)), encoding="utf-8")
