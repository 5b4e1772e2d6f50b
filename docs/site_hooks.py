"""What the documentation site takes from the program: the help of every command, and the README as the first page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_COMMANDS = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of the commands where a page asks for it."""
    return markdown.replace(_COMMANDS, _all_commands()) if _COMMANDS in markdown else markdown


def _all_commands() -> str:
    from wfalens.cli.app import PHASES, load_command

    parts = []
    for phase, names in PHASES.items():
        parts.append(f"## {phase}")
        parts += [_described(name, load_command(name)) for name in names]
    return "\n\n".join(parts)


def _described(name: str, command: Any) -> str:
    from typer.main import get_command

    click = command if hasattr(command, "params") else get_command(command)
    help_text = re.sub(r"\n\s*\n", "\n\n", click.help or "").strip()
    rows = [_option(each) for each in click.params if not getattr(each, "hidden", False)]
    table = "\n".join(["| | |", "|---|---|", *rows]) if rows else ""
    return f"### wfalens {name}\n\n```text\n{help_text}\n```\n\n{table}"


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    names = f"`{parameter.make_metavar_name()}`" if hasattr(parameter, "make_metavar_name") else names
    told = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {names} | {told.replace('<', '&lt;')} |"
