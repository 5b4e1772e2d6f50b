"""What the documentation site takes from elsewhere: the help of every command, and the notebooks as pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_COMMANDS, _SCHEMAS = "<!-- commands -->", "<!-- schemas -->"
_SCHEMA_FILE = Path(__file__).resolve().parent / "reference" / "schemas.json"


def on_files(files: Any, config: Any) -> Any:
    """Give every notebook a page with its code and the output that is stored in it."""
    from mkdocs.structure.files import File

    for notebook in [each for each in files if each.src_uri.endswith(".ipynb")]:
        text = notebook_page(Path(notebook.abs_src_path))
        files.append(File.generated(config, str(Path(notebook.src_uri).with_suffix(".md")), content=text))
    return files


def notebook_page(path: Path) -> str:
    """A notebook as Markdown; links to other notebooks lead to their pages."""
    parts = [f"*This page is a notebook: [download it]({path.name}) and run it.*"]
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source.replace(".ipynb)", ".md)"))
        else:
            parts += [f"```python\n{source}\n```", *map(_output, cell["outputs"])]
    heading, _, rest = parts[1].partition("\n\n")
    parts[:2] = [heading, parts[0], *([rest] if rest else [])]  # the heading comes first
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return f'<div class="output">{"".join(data["text/html"])}</div>'
    text = "".join(data.get("text/plain", output.get("text", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of the commands, or the tables of their JSON, where a page asks for it; link to notebooks' pages."""
    markdown = re.sub(r"\(tutorials/(\w+)\.ipynb\)", r"(tutorials/\1.md)", markdown)
    for mark, made in ((_COMMANDS, _all_commands), (_SCHEMAS, _all_schemas)):
        markdown = markdown.replace(mark, made()) if mark in markdown else markdown
    return markdown


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Load the shim that search needs on pages opened from disk from the site itself, not from elsewhere."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "../" * page.url.count("/") + "iframe-worker.js")


def _all_schemas() -> str:
    parts = []
    for command, schema in json.loads(_SCHEMA_FILE.read_text(encoding="utf-8")).items():
        rows = [f"| {path} | {kind} |" for path, kind in schema_rows(schema)]
        parts.append("\n".join([f"## wfalens {command}", "", "| entry | type |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def schema_rows(schema: dict[str, Any], path: str = "", required: bool = True) -> list[tuple[str, str]]:
    """A row for every entry: its path, in italics if it is not always there, and its type."""
    kinds = schema.get("type", "any")
    shown = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    rows = [(f"`{path}`" if required else f"*`{path}`*", shown)] if path else []
    for name, part in schema.get("properties", {}).items():
        rows += schema_rows(part, f"{path}.{name}".lstrip("."), name in schema["required"])
    for mark, key in (("[]", "items"), ("{}", "additionalProperties")):
        rows += schema_rows(schema[key], f"{path}{mark}") if schema.get(key) else []
    return rows


def _all_commands() -> str:
    from wfalens.cli.app import PHASES, load_command

    parts = []
    for phase, names in PHASES.items():
        parts.append(f"## {phase}")
        parts += [part for name in names for part in _described(name, load_command(name))]
    return "\n\n".join(parts)


def _described(name: str, command: Any) -> list[str]:
    """The help of a command, or of every command of a group."""
    if hasattr(command, "commands"):
        return [part for each, sub in command.commands.items() for part in _described(f"{name} {each}", sub)]
    help_text = re.sub(r"\n\s*\n", "\n\n", command.help or "").strip()
    rows = [_option(each) for each in command.params if not getattr(each, "hidden", False)]
    table = "\n".join(["| | |", "|---|---|", *rows]) if rows else ""
    settings = (command.epilog or "").replace("\\[", "[")
    return [f"### wfalens {name}\n\n```text\n{help_text}\n```\n\n{table}\n\n{settings}"]


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{each}`" for each in (*parameter.opts, *parameter.secondary_opts))
    names = f"`{parameter.make_metavar_name()}`" if hasattr(parameter, "make_metavar_name") else names
    told = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
    return f"| {names} | {told.replace('<', '&lt;')} |"
