"""How commands are declared: settings for `--config` (TOML or KEY=VALUE), and options generated from dataclasses."""

from __future__ import annotations

import difflib
import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from wfalens.cli import options as opt
from wfalens.cli.output import check_out
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, described_arguments, option, whole

# all sections of all commands: one file may serve several commands, and each takes the sections that it knows
SECTIONS = (
    "texts", "run", "extract", "paper", "stochastic", "linear", "readable", "augmentation", "refinement",
    "words", "network", "training", "preprocessing", "evaluate", "predict", "explain", "findings", "phrases", "pairs",
    "sample", "show", "report", "attack", "certify", "check", "compare", "watch", "coverage", "detect", "blame",
    "repair", "export", "dfa",
)  # fmt: skip
CONTEXT = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True)
class Common(Options):
    """Settings outside of any section.

    Args:
        seed: Seed of everything random.
        vectors: Word vectors: wordllama, or a GloVe or word2vec file.
    """

    seed: int = option(0, allowed=Bounds(whole, 0, 2**32 - 1))
    vectors: str = option("wordllama")


@dataclass(frozen=True)
class Reading(Options):
    """[texts]: how texts are read.

    Args:
        data: Folder of data sets that are not bundled (default: $WFALENS_DATA).
        text_column: Column that holds the text. An automaton remembers the columns of its extraction.
        label_column: Column that holds the class (default: label, if there is one).
        encoding: Encoding of text files.
        tokenizer: Your own tokenizer, where an automaton or model names one: package.module:function; its code
            is run.
        cache: File that keeps the answers of a model that pays for every call, so that no text is asked twice.
        label: Label to study, of a model that gives a text several.
    """

    data: str | None = option(None)
    text_column: str = option("text")
    label_column: str | None = option(None)
    encoding: str = option("utf-8")
    tokenizer: str | None = option(None)
    cache: Path | None = option(None)
    label: str | None = option(None)


class Settings:
    """The sections that a command accepts, each an instance of its options class, and where its results go."""

    as_json = False
    out: tuple[Path, ...] = ()  # files that the result is written to
    force = False

    def __init__(self, sections: Mapping[str, type[Options]], given: Mapping[str, Mapping[str, Any]]) -> None:
        self._sections = {name: made(name, kind, given.get(name, {})) for name, kind in sections.items()}
        self._given = given

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_sections"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def seed(self) -> int:
        return int(self.common.seed)

    def given(self, section: str) -> dict[str, Any]:
        """What the user has set of a section; without the defaults."""
        return dict(self._given.get(section, {}))

    def fill(self, section: str, values: Mapping[str, Any]) -> None:
        """Take these values where the user has set none."""
        self._sections[section] = replace(self._sections[section], **{**values, **self.given(section)})


def read_settings(
    specs: Sequence[str], sections: Mapping[str, type[Options]], flags: Mapping[str, Any] | None = None
) -> Settings:
    """Settings from files and KEY=VALUE, in this order, then from options; what comes later counts."""
    given: dict[str, dict[str, Any]] = {}
    for spec in specs:
        for section, key, value in _entries(spec, sections):
            given.setdefault(section, {})[key] = value
    for place, value in (flags or {}).items():
        section, _, key = place.partition(".")
        if isinstance(value, str):
            given.setdefault(section, {})[key] = parsed(fields_of(sections[section])[key], value)
        elif value is not None and value != []:
            given.setdefault(section, {})[key] = _plain(value)
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
    owners = [] if dot else [each for each, kind in sections.items() if key in fields_of(kind)]
    if len(owners) == 1 or "common" in owners[:1]:  # a key without a section is the common one, as in a file
        return owners[0], key
    known = [f"{each}.{name}".removeprefix("common.") for each, kind in sections.items() for name in fields_of(kind)]
    if owners:
        ways = " or ".join(f"{owner}.{key}=…" for owner in owners)
        raise InputError(f"{key} is in several sections; write {ways}", code="config-key")
    raise InputError(f"there is no setting {key!r} of this command{_near(key, known)}", code="config-key")


def _field(kind: type[Options], section: str, name: str) -> Field[Any]:
    known = fields_of(kind)
    if name not in known:
        raise InputError(f"there is no setting {name!r} in [{section}]{_near(name, list(known))}", code="config-key")
    return known[name]


def _near(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else f"; known: {', '.join(known)}"


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def new_group(help: str | None = None) -> typer.Typer:
    """An empty set of commands; with a help text, one of several forms."""
    group = typer.Typer(no_args_is_help=True, add_completion=False, context_settings=CONTEXT, help=help)
    if help is not None:
        group.callback()(lambda: None)
    return group


def register(
    group: typer.Typer, name: str, flags: Sequence[str] = (), *, result: Sequence[str] = (), **sections: type[Options]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command; its function gets a `Settings` and its own arguments, which its docstring describes last.

    Args:
        group: where it belongs.
        name: of the command.
        flags: settings that are options of their own, too: "SECTION.NAME", or with a short form "SECTION.NAME -n".
        result: endings of the files that `--out` may write the result to; none: there is no such option.
        sections: what `--config` may set, by section.
    """
    known: dict[str, Any] = {"common": Common, "texts": Reading, **sections}

    def declare(command: Callable[..., None]) -> Callable[..., None]:
        def run(config: list[str] | None, as_json: bool, **given: Any) -> None:
            set_by_flags = {flag.partition(" ")[0]: given.pop(_variable(flag)) for flag in flags}
            settings = read_settings(config or (), known, set_by_flags)
            settings.as_json = as_json
            if result:
                settings.out, settings.force = tuple(given.pop("out") or ()), given.pop("force")
                check_out(settings.out, result, settings.force)
            command(settings, **given)

        _declare_parameters(run, command, [_parameter(flag, known) for flag in flags], bool(result))
        about = (inspect.getdoc(command) or "").partition("\n\nArgs:\n")[0]
        settings_help = _settings_help(known, [flag.partition(" ")[0] for flag in flags])
        group.command(name, help=flowing(about), epilog=settings_help, context_settings=CONTEXT)(run)
        return command

    return declare


def flowing(text: str) -> str:
    """Help whose paragraphs flow with the width of the terminal; the indented lines of examples stay as they are."""
    paragraphs = [
        part if any(line.startswith(" ") for line in part.split("\n")) else " ".join(part.split("\n"))
        for part in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def fields_of(kind: type[Options]) -> dict[str, Field[Any]]:
    """The fields of an options class by name."""
    return {each.name: each for each in fields(kind)}  # type: ignore[arg-type]


def _declare_parameters(run: Any, command: Any, flags: Sequence[inspect.Parameter], has_out: bool) -> None:
    """Let typer see the arguments of the command, its flags, and the options that every command has."""
    hints = get_type_hints(command, include_extras=True)
    for name, text in described_arguments(command.__doc__ or "").items():
        hints[name].__metadata__[0].help = text
    own = [each.replace(annotation=hints[each.name]) for each in inspect.signature(command).parameters.values()]
    shared = {"config": (opt.Config, None), **(opt.RESULT if has_out else {}), "as_json": (opt.Json, False)}
    more = [_keyword(name, kind, default) for name, (kind, default) in shared.items()]
    kept = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own[1:]] + [*flags, *more]
    run.__signature__ = inspect.Signature(kept)
    run.__annotations__ = {each.name: each.annotation for each in kept}


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _variable(flag: str) -> str:
    return flag.partition(" ")[0].partition(".")[2]


def _parameter(flag: str, sections: Mapping[str, type[Options]]) -> inspect.Parameter:
    """The option of a setting; typer hands its text on, and the options class checks it."""
    place, _, short = flag.partition(" ")
    section, _, name = place.partition(".")
    item = fields_of(sections[section])[name]
    names, kind = (f"--{name.replace('_', '-')}", *([short] if short else [])), str(item.type)
    if kind == "bool":
        return _keyword(name, Annotated[bool | None, opt.flag(*names, help=item.metadata["help"])], None)
    number = isinstance(item.metadata.get("allowed"), Bounds)
    made = typer.Option(
        *names, metavar="NUMBER" if number else "VALUE", help=described(item), show_default=_default(item)
    )
    return _keyword(name, Annotated[list[str] | None if "tuple" in kind else str | None, made], None)


def described(item: Field[Any]) -> str:
    """The help of a field, with what it may be."""
    allowed, text = item.metadata.get("allowed"), str(item.metadata.get("help", ""))
    if allowed is None or isinstance(allowed, Bounds) or all(str(each) in text for each in allowed):
        return text
    return f"{text}: {', '.join(map(str, allowed))}"


def _default(item: Field[Any]) -> str | bool:
    if item.default in (None, MISSING, "", ()):
        return False
    return ", ".join(item.default) if isinstance(item.default, tuple) else str(item.default)


def _settings_help(sections: Mapping[str, type[Options]], flags: Sequence[str]) -> str:
    """What `--config` takes beside the options above, as lines below them."""
    lines = ["Settings for --config (KEY=VALUE, or a TOML file with these sections):"]
    for section, kind in sections.items():
        for item in fields(kind):  # type: ignore[arg-type]
            if "help" in item.metadata and f"{section}.{item.name}" not in flags:
                key = item.name if section == "common" else f"{section}.{item.name}"
                shown = "" if _default(item) is False else f" (default: {_default(item)})"
                lines.append(f"{key}: {described(item)}{shown}")
    return "\n\n".join(line.replace("[", "\\[") for line in lines)
