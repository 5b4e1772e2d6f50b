"""What every extraction method has: its options, its name, and a function from a request to an automaton.

A new method is one module: a frozen dataclass that inherits `Method`, names itself and implements `extract`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.models.contract import PrefixClassifier
from wfalens.scale.run_config import Run
from wfalens.text.blocks import Source
from wfalens.validation import Options

AUTO = "auto"
LOW, NORMAL, HIGH = EFFORTS = ("low", "normal", "high")
METHODS: dict[str, type[Method]] = {}  # by name; subclasses of `Method` enter themselves


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """A model, texts, and what bounds the extraction: the same for all methods."""

    model: PrefixClassifier
    source: Source
    seed: int = 0
    queries: int | None = None  # prefixes that the model may be asked for beyond the texts
    effort: str = NORMAL
    balance: str | None = None
    checkpoint: Path | None = None
    run: Run = field(default_factory=Run)
    deadline: Deadline = NEVER


@dataclass(frozen=True)
class Method(Options):
    """Options of an extraction method; subclasses are frozen dataclasses whose fields are `option`s."""

    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.name:
            if cls.name in METHODS and METHODS[cls.name].__qualname__ != cls.__qualname__:
                raise InputError(f"there is an extraction method {cls.name!r} already", code="duplicate-method")
            METHODS[cls.name] = cls

    def extract(self, request: Request) -> WFA:
        """An automaton from what the model answers about the texts."""
        raise NotImplementedError

    def resolved(self, request: Request) -> Self:  # noqa: ARG002
        """The same options with numbers in place of "auto", where these follow from model and effort alone."""
        return self

    def parameters(self, request: Request) -> dict[str, Any]:
        """The options and bounds for the automaton's provenance."""
        bounds: dict[str, Any] = {"queries": request.queries, "seed": request.seed}
        if request.balance is not None:
            bounds["balance"] = request.balance
        return {"kind": self.name, **{name: _recorded(value) for name, value in self.to_dict().items()}, **bounds}

    def _filled(self, **values: Any) -> Self:
        """With values for those of the given fields that are "auto"."""
        return replace(self, **{name: value for name, value in values.items() if getattr(self, name) == AUTO})

    @classmethod
    def named(cls, name: str, **options: Any) -> Method:
        """The method of a name with the given options."""
        if name not in METHODS:
            raise InputError(f"unknown method {name!r}; choose one of {', '.join(METHODS)}", code="unknown-method")
        method = METHODS[name]
        known = {each.name for each in fields(method)}
        for option in options:
            if option not in known:
                raise InputError(f"{option} is no option of the method {name}", code="unknown-option")
        return method(**options)


def _recorded(value: Any) -> Any:
    """An option as JSON has it; objects such as word vectors by their name."""
    if value is None or isinstance(value, str | int | float):
        return value
    return getattr(value, "parameters", None) or getattr(value, "source", None) or getattr(value, "name", None)
