"""What every extraction method has: its options, its name, and a function from a request to an automaton.

A new method is one module: a frozen dataclass that inherits `Method`, names itself and implements `extract`.
"""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.deadline import NEVER, Deadline
from wfalens.extraction.query_budget import QueryBudget, query_limit
from wfalens.models.contract import PrefixClassifier
from wfalens.models.padded import padding_of
from wfalens.ragged import Ragged
from wfalens.scale.run_config import DEFAULT_SAMPLE
from wfalens.scale.sample import SampledFiles
from wfalens.validation import Options, check_known

AUTO = "auto"
LOW, NORMAL, HIGH = EFFORTS = ("low", "normal", "high")
METHODS: dict[str, type[Method]] = {}  # by name; subclasses of `Method` enter themselves


class Step(IntEnum):
    """The steps of an extraction that draw; each has a stream of random numbers, whether others ran or not."""

    STATES = 0
    PROBING = 2  # continues in fitting
    SEARCH = 3
    VIEW = 4


def stream_of(seed: int, step: Step) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(step,)))


@dataclass(frozen=True, eq=False)
class ExtractionTexts:
    """Texts as word ids, none empty; of files, a sample of them."""

    ids: Ragged[np.int32]
    truth: NDArray[np.int64] | None  # (texts,): the class of every text by its label, where texts are balanced by it
    corpus: dict[str, Any]  # what was read, for the provenance
    shown: Ragged[np.int32] | None = None  # as a model that reads texts is shown them: words as they are written

    @property
    def as_shown(self) -> Ragged[np.int32]:
        """The texts as the model is asked for them."""
        return self.ids if self.shown is None else self.shown

    def take(self, items: NDArray[np.int64]) -> ExtractionTexts:
        truth = None if self.truth is None else self.truth[items]
        shown = None if self.shown is None else self.shown.take(items)
        return ExtractionTexts(self.ids.take(items), truth, self.corpus, shown)


class AnsweredTexts(NamedTuple):
    """Texts as an automaton reads them, and the model's outputs; (texts, C)"""

    texts: Ragged[np.int32]
    outputs: NDArray[np.float32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """A model, texts, and what bounds the extraction: the same for all methods."""

    model: PrefixClassifier
    texts: ExtractionTexts
    seed: int = 0
    queries: int | None = None  # prefixes that the model may be asked for beyond the texts
    effort: str = NORMAL
    balance: str | None = None
    checkpoint: Path | None = None  # of the training of a linear automaton
    deadline: Deadline = NEVER
    announced: bool = False  # whether the cost was announced with that of a larger work
    files: SampledFiles | None = None  # if there are more texts than these
    teacher: Any = None  # an automaton of the model, to be asked in place of a model that pays for every call
    held_out: AnsweredTexts | None = None  # where a model that pays for every call was asked for them before

    @property
    def ids(self) -> Ragged[np.int32]:
        return self.texts.ids

    def new_budget(self) -> QueryBudget:
        """What the model may be asked in this extraction."""
        return QueryBudget(query_limit(self.queries, self.model), self.model)


@dataclass(frozen=True)
class Method(Options, ABC):
    """Options of an extraction method; subclasses are frozen dataclasses whose fields are `option`s."""

    name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.name:
            if cls.name in METHODS and METHODS[cls.name].__qualname__ != cls.__qualname__:
                raise InputError(f"there is an extraction method {cls.name!r} already", code="duplicate-method")
            METHODS[cls.name] = cls

    @abstractmethod
    def extract(self, request: Request) -> WFA:
        """An automaton from what the model answers about the texts."""

    def resolved(self, request: Request) -> Self:  # noqa: ARG002
        """The same options with numbers in place of "auto", where these follow from model and effort alone."""
        return self

    @property
    def sample_tokens(self) -> int:
        """Words of a sample of files that serves this method."""
        return DEFAULT_SAMPLE

    def provenance(self, request: Request) -> dict[str, Any]:
        """Where an automaton comes from: the texts, the model, the options and the versions."""
        return provenance(request.model, self.parameters(request), request.texts.corpus)

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
        check_known(f"the method {name}", options, [each.name for each in fields(method)])
        return method(**options)


def provenance(
    model: PrefixClassifier, parameters: dict[str, Any], corpus: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The model, the options and the versions, and what was read, for an automaton's `provenance`."""
    from wfalens import __version__

    versions = {"wfalens": __version__, "numpy": np.__version__, "python": platform.python_version()}
    return {
        **({} if corpus is None else {"corpus": corpus}),
        "model": {"type": type(model).__name__, "fingerprint": model.fingerprint, **padding_of(model)},
        "parameters": parameters,
        "versions": versions,
    }


def _recorded(value: Any) -> Any:
    """An option as JSON has it; objects such as word vectors by their name."""
    if value is None or isinstance(value, str | int | float):
        return value
    return getattr(value, "parameters", None) or getattr(value, "source", None) or getattr(value, "name", None)
