"""Which values an option may have: the one check of all options, which refuses others in one sentence."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

from wfalens.errors import InputError

_MOST_SHOWN, _LONGEST_SHOWN = 10**30, 80  # a number and a text in a sentence


def whole(value: Any) -> int | None:
    """A plain whole number, None for what is none; True and False are none."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def real(value: Any) -> float | None:
    """A plain number, None for what is none; ±∞ for one that is too large for a float."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    try:
        return float(value) if is_number else None
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True)
class Bounds:
    """The numbers that an option may be, and the words (or None) that it may be instead."""

    plain: Callable[[Any], float | None]  # `whole` or `real`
    least: float
    most: float
    words: tuple[str | None, ...] = ()
    excluded: tuple[float, ...] = ()  # ends that are out of bounds themselves

    def checked(self, name: str, given: Any) -> Any:
        """The given value as a plain Python number; NaN lies in no bounds."""
        if (given is None or isinstance(given, str)) and given in self.words:
            return given
        value = self.plain(given)
        if value is None or not self.least <= value <= self.most or value in self.excluded:
            kind = " as a whole number" if value is None and self.plain is whole else ""
            also = "".join(f" or be {word!r}" for word in self.words if word is not None)
            raise InputError(f"{name} must lie {self.shown}{kind}{also}, not {_shown(given)}", code="option-value")
        return value

    @property
    def shown(self) -> str:
        ends = f"between {_number(self.least)} and {_number(self.most)}"
        return f"{ends} ({' and '.join(map(_number, self.excluded))} excluded)" if self.excluded else ends


def check_numbers(options: object, bounds: Mapping[str, Bounds]) -> None:
    """Check fields of a frozen value while it is made; each becomes a plain Python number."""
    for name, each in bounds.items():
        object.__setattr__(options, name, each.checked(name, getattr(options, name)))


def check_choice(name: str, given: Any, allowed: Collection[str]) -> None:
    """Refuse a name that is none of those to choose from."""
    if not isinstance(given, str) or given not in allowed:
        raise InputError(f"unknown {name} {_shown(given)}; choose one of {', '.join(allowed)}", code="option-value")


def check_known(what: str, options: Iterable[str], known: Collection[str]) -> None:
    """Refuse options that something does not have."""
    for name in options:
        if name not in known:
            names = ", ".join(known) or "none"
            raise InputError(f"{what} has no option {name!r}; its options: {names}", code="unknown-option")


def option(default: Any, help: str = "", allowed: Bounds | Collection[str] | None = None, **more: Any) -> Any:
    """A field of an options class: its default, one line of help, and the values that it may have.

    Without help, the class describes the field under "Args:" in its docstring. The command line, the documentation and
    the provenance are generated from these fields.
    """
    return field(default=default, metadata={"help": help, "allowed": allowed, **more})


def described_arguments(docstring: str) -> dict[str, str]:
    """What a docstring says of each argument under "Args:"."""
    section = inspect.cleandoc(docstring).partition("\nArgs:\n")[2].partition("\n\n")[0]
    entries = [" ".join(entry.split()).partition(": ") for entry in re.split(r"\n(?=    \S)", section)]
    return {name: text for name, _, text in entries if name}


class Options:
    """Base of frozen dataclasses whose fields are `option`s: every value is checked when one is made."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, text in described_arguments(cls.__doc__ or "").items():
            item = vars(cls).get(name)
            if isinstance(item, Field) and item.metadata.get("help") == "":
                item.metadata = MappingProxyType({**item.metadata, "help": text})

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            allowed, value = each.metadata.get("allowed"), getattr(self, each.name)
            if isinstance(allowed, Bounds):
                object.__setattr__(self, each.name, allowed.checked(each.name, value))
            elif allowed is not None and value is not None:
                check_choice(each.name, value, allowed)

    def to_dict(self) -> dict[str, Any]:
        """The options by name, as the provenance records them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


def threshold(value: float | str, quantile_at: Callable[[float], float]) -> float:
    """A bound on distances: a number from 0 up, or a quantile such as "q0.01", which `quantile_at` works out."""
    is_quantile = isinstance(value, str) and value.startswith("q")
    try:
        number = float(value[1:] if isinstance(value, str) and is_quantile else value)
    except ValueError:
        number = math.nan
    if is_quantile and 0 <= number <= 1:
        return quantile_at(number)
    if not is_quantile and 0 <= number < math.inf:
        return number
    raise InputError(f"a threshold is a number from 0 up or a quantile such as q0.01, not {value!r}")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _shown(given: Any) -> str:
    if isinstance(given, int) and abs(given) > _MOST_SHOWN:  # Python refuses to print the longest
        return f"one beyond {'-' if given < 0 else ''}{_MOST_SHOWN:g}"
    text = " ".join(repr(given).split())
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
