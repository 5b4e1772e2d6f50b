"""Which numbers an option may be: checked once, where the option comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from wfalens.errors import InputError


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


@dataclass(frozen=True)
class Bounds:
    """The numbers that an option may be, and the words (or None) that it may be instead."""

    plain: Callable[[Any], float | None]  # a plain Python number; None for what is no number of this kind
    least: float
    most: float
    words: tuple[str | None, ...] = ()

    @classmethod
    def whole(cls, least: int, most: int, *words: str | None) -> Bounds:
        return cls(_whole, least, most, words)

    @classmethod
    def real(cls, least: float, most: float, *words: str | None) -> Bounds:
        return cls(_real, least, most, words)

    def checked(self, name: str, given: Any) -> float | str | None:
        """The value as a plain Python number; refused in one sentence where it is out of bounds."""
        if (given is None or isinstance(given, str)) and given in self.words:
            return given
        value = self.plain(given)
        if value is None or not self.least <= value <= self.most:
            also = "".join(f" or be {word!r}" for word in self.words if word is not None)
            raise InputError(f"{name} must lie between {self.least:g} and {self.most:g}{also}, not {given!r}")
        return value


def check_bounds(options: Any, bounds: Mapping[str, Bounds]) -> None:
    """Check the fields of a frozen dataclass and store them as plain Python numbers."""
    for name, bound in bounds.items():
        object.__setattr__(options, name, bound.checked(name, getattr(options, name)))
