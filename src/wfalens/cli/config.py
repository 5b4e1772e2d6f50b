"""Settings without an option of their own: `--config FILE` (TOML) or `--config KEY=VALUE`, in all commands alike."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

# all sections of all commands: one file may serve several commands, and each takes the sections that it knows
SECTIONS = (
    "texts", "run", "paper", "stochastic", "linear", "readable", "augmentation", "refinement", "words",
    "network", "training", "preprocessing", "evaluate", "explain", "phrases", "pairs", "sample", "show", "report",
    "attack", "certify", "check", "watch", "detect", "blame", "repair", "export", "dfa",
)  # fmt: skip


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
        prefix = "" if name == "common" else f"{name}."
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
    if len(owners) == 1:
        return owners[0], key
    known = [f"{each}.{name}".removeprefix("common.") for each, kind in sections.items() for name in _names(kind)]
    if owners:
        raise InputError(f"{key} is in several sections; write {owners[0]}.{key}=…", code="config-key")
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
