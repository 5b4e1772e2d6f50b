"""How a command is declared: its settings for `--config`, and options that are generated from fields of dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from wfalens.cli.config import Common, parsed, read_settings
from wfalens.validation import Bounds, Options

CONTEXT = {"help_option_names": ["-h", "--help"]}
Generated = Mapping[str, Field[Any]]  # option -> the field that it sets
Sections = Callable[[], Mapping[str, type[Options]]]  # called when needed: the classes may take time to import


class _CommandWithSettings(TyperCommand):
    """Lists its settings below the options when help is shown."""

    sections: Sections

    @property
    def epilog(self) -> str | None:
        return _settings_help({"common": Common, **self.sections()})

    @epilog.setter
    def epilog(self, _text: str | None) -> None:
        """Typer sets what is generated here."""


def new_group(help: str | None = None) -> typer.Typer:
    """An empty set of commands; with a help text, one of several forms."""
    group = typer.Typer(no_args_is_help=True, add_completion=False, context_settings=CONTEXT, help=help)
    if help is not None:
        group.callback()(lambda: None)
    return group


def register(
    group: typer.Typer,
    name: str,
    sections: Sections,
    *,
    generated: Generated | None = None,
    panel: str | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command.

    Args:
        group: where it belongs.
        name: of the command.
        sections: what `--config` may set, by section; it arrives as the argument `config`, a `Settings`.
        generated: options made from fields; those that were given arrive as the argument `options`.
        panel: where these stand in the help.
    """

    def declare(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            given["config"] = read_settings(given["config"] or (), {"common": Common, **sections()})
            if generated is not None:
                values = {key: given.pop(key) for key in generated}
                given["options"] = {
                    key: value if isinstance(value, bool) else parsed(generated[key], value)
                    for key, value in values.items()
                    if value is not None
                }
            command(**given)

        if generated is not None:
            _replace_options(run, generated, panel)
        kind = type("Command", (_CommandWithSettings,), {"sections": staticmethod(sections)})
        group.command(name, cls=kind, help=flowing(inspect.getdoc(command) or ""), context_settings=CONTEXT)(run)
        return command

    return declare


def flowing(text: str) -> str:
    """Help whose paragraphs flow with the width of the terminal; the indented lines of examples stay as they are."""
    paragraphs = [
        part if any(line.startswith(" ") for line in part.split("\n")) else " ".join(part.split("\n"))
        for part in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def fields_of(*kinds: type[Options]) -> dict[str, Field[Any]]:
    """All fields by name; of those that several classes have, the first."""
    return {each.name: each for kind in reversed(kinds) for each in fields(kind)}  # type: ignore[arg-type]


def _replace_options(run: Any, generated: Generated, panel: str | None) -> None:
    """Let typer see the generated options in place of the argument `options`."""
    signature, hints = inspect.signature(run), get_type_hints(run, include_extras=True)
    made = [_parameter(name, item, panel) for name, item in generated.items()]
    kept: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        kept += made if each.name == "options" else [each.replace(annotation=hints[each.name])]
    run.__signature__ = signature.replace(parameters=kept)
    run.__annotations__ = {each.name: each.annotation for each in kept}


def _parameter(name: str, item: Field[Any], panel: str | None) -> inspect.Parameter:
    flag = f"--{name.replace('_', '-')}"
    if item.type == "bool":
        made = typer.Option(flag, metavar="", help=item.metadata["help"], rich_help_panel=panel)
        kind: Any = Annotated[bool | None, made]
    else:
        made = typer.Option(
            flag,
            metavar=_metavar(item),
            help=described(item),
            show_default=_default(item),
            rich_help_panel=panel,
        )
        kind = Annotated[str | None, made]
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=kind)


def described(item: Field[Any]) -> str:
    """The help of a field, with what it may be."""
    allowed, text = item.metadata.get("allowed"), str(item.metadata.get("help", ""))
    if allowed is None or isinstance(allowed, Bounds):
        return text
    return f"{text} One of: {', '.join(map(str, allowed))}."


def _metavar(item: Field[Any]) -> str:
    return "NUMBER" if isinstance(item.metadata.get("allowed"), Bounds) else "VALUE"


def _default(item: Field[Any]) -> str | bool:
    return False if item.default in (None, MISSING, "") else str(item.default)


def _settings_help(sections: Mapping[str, type[Options]]) -> str:
    """What `--config` takes, as lines below the options."""
    lines = ["Settings for --config (KEY=VALUE, or a TOML file with these sections):"]
    for section, kind in sections.items():
        for item in fields(kind):  # type: ignore[arg-type]
            if "help" in item.metadata:
                key = item.name if section == "common" else f"{section}.{item.name}"
                shown = "" if item.default in (None, MISSING, "", ()) else f" (default: {item.default})"
                lines.append(f"{key}: {described(item)}{shown}")
    return "\n\n".join(line.replace("[", "\\[") for line in lines)
