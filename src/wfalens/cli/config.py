"""How commands are declared: settings for `--config` (TOML or KEY=VALUE), and options generated from dataclasses."""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

# all sections of all commands: one file may serve several commands, and each takes the sections that it knows
SECTIONS = (
    "texts", "run", "paper", "stochastic", "linear", "readable", "augmentation", "refinement", "words",
    "network", "training", "preprocessing", "evaluate", "explain", "phrases", "pairs", "sample", "show", "report",
    "attack", "certify", "check", "watch", "detect", "blame", "repair", "export", "dfa",
)  # fmt: skip


CONTEXT = {"help_option_names": ["-h", "--help"]}
Generated = Mapping[str, Field[Any]]  # option -> the field that it sets
Sections = Callable[[], Mapping[str, type[Options]]]  # called when needed: the classes may take time to import


@dataclass(frozen=True)
class Common(Options):
    """Settings outside of any section."""

    seed: int = option(0, "Seed of everything random.", Bounds(whole, 0, 2**32 - 1))
    vectors: str = option("wordllama", "Word vectors: wordllama, or a GloVe or word2vec file.")


@dataclass(frozen=True)
class Reading(Options):
    """[texts]: how texts are read."""

    data: str | None = option(None, "Folder of data sets that are not bundled (default: $WFALENS_DATA).")
    text_column: str = option("text", "Column that holds the text.")
    label_column: str | None = option(None, "Column that holds the class (default: label, if there is one).")
    encoding: str = option("utf-8", "Encoding of text files.")
    tokenizer: str | None = option(
        None, "Your own tokenizer, where an automaton or model names one: package.module:function; its code is run."
    )


class Settings:
    """The sections that a command accepts, each an instance of its options class, and what was set explicitly."""

    def __init__(self, sections: Mapping[str, type[Options]], given: Mapping[str, Mapping[str, Any]]) -> None:
        self._sections = {name: made(name, kind, given.get(name, {})) for name, kind in sections.items()}
        self._given = given

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_sections"][name]
        except KeyError:
            raise AttributeError(name) from None

    def given(self, section: str) -> dict[str, Any]:
        """What the user has set of a section; without the defaults."""
        return dict(self._given.get(section, {}))


def read_settings(specs: Sequence[str], sections: Mapping[str, type[Options]]) -> Settings:
    """Settings from files and KEY=VALUE, in this order; what comes later counts."""
    given: dict[str, dict[str, Any]] = {}
    for spec in specs:
        for section, key, value in _entries(spec, sections):
            given.setdefault(section, {})[key] = value
    return Settings(sections, given)


def made(name: str, kind: type[Options], values: Mapping[str, Any]) -> Any:
    """The options of a section; a wrong value is reported with its section."""
    try:
        return kind(**values)
    except InputError as error:
        prefix = "" if name == "common" else f"[{name}] "
        raise InputError(f"{prefix}{error}", code=error.code) from None


def parsed(item: Field[Any], text: str) -> Any:
    """The value of a field as it is written on a command line: TOML, or else a plain string."""
    kind = str(item.type)
    if "Path" in kind:
        return Path(text)
    if "str" in kind and not any(other in kind for other in ("int", "float", "bool", "tuple")):
        return text
    try:
        return _plain(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError:
        return tuple(text.split(",")) if "tuple" in kind else text


def _entries(spec: str, sections: Mapping[str, type[Options]]) -> Iterator[tuple[str, str, Any]]:
    if "=" in spec and not Path(spec).is_file():
        key, _, text = spec.partition("=")
        section, name = _placed(key.strip(), sections)
        yield section, name, parsed(_field(sections[section], section, name), text.strip())
        return
    for section, values in _read(Path(spec)).items():
        if section in sections:
            for key, value in values.items():
                item = _field(sections[section], section, key)
                yield section, key, Path(value) if "Path" in str(item.type) else _plain(value)
        elif section not in SECTIONS:
            raise InputError(f"{spec}: there is no section [{section}]{_near(section, SECTIONS)}", code="config-key")


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The sections of a file; keys outside of any section are the section "common"."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; --config takes a TOML file or KEY=VALUE", code="config-file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}", code="config-file") from None
    common = {name: value for name, value in content.items() if not isinstance(value, dict)}
    return {"common": common, **{name: value for name, value in content.items() if isinstance(value, dict)}}


def _placed(key: str, sections: Mapping[str, type[Options]]) -> tuple[str, str]:
    """The section of a key: SECTION.KEY, or a key that only one section has."""
    section, dot, name = key.partition(".")
    if dot and section in sections:
        return section, name
    owners = [] if dot else [each for each, kind in sections.items() if key in _names(kind)]
    if len(owners) == 1 or "common" in owners[:1]:  # a key without a section is the common one, as in a file
        return owners[0], key
    known = [f"{each}.{name}".removeprefix("common.") for each, kind in sections.items() for name in _names(kind)]
    if owners:
        ways = " or ".join(f"{owner}.{key}=…" for owner in owners)
        raise InputError(f"{key} is in several sections; write {ways}", code="config-key")
    raise InputError(f"there is no setting {key!r} of this command{_near(key, known)}", code="config-key")


def _field(kind: type[Options], section: str, name: str) -> Field[Any]:
    for each in fields(kind):  # type: ignore[arg-type]
        if each.name == name:
            return each
    raise InputError(f"there is no setting {name!r} in [{section}]{_near(name, _names(kind))}", code="config-key")


def _names(kind: type[Options]) -> list[str]:
    return [each.name for each in fields(kind)]  # type: ignore[arg-type]


def _near(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(known)}"


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
