"""Export formats by their names: an exporter is one module with a function that registers itself.

    @exporter("pairs", suffixes=(".pairs",))
    def to_pairs(part: Subset, *, separator: str = " ") -> str:
        ...

From then on `wfa.export("films.pairs", separator="\\t")` writes it. Keyword arguments of the function are the options
of the format; all other choices (`words`, `states`, `threshold`) are made before, and the function gets the `Subset`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.serving import stochastic_of
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.export.subset import chosen_ids, chosen_states, subset, with_unknown
from wfalens.export.symbols import symbol_table
from wfalens.results import Result
from wfalens.storage import write_atomically
from wfalens.validation import check_known

SYMBOLS = ".syms"


@dataclass(frozen=True)
class Exporter:
    """A format: its name, the file endings that mean it, and the function that writes it."""

    name: str
    write: Callable[..., str | bytes | Content]
    suffixes: tuple[str, ...]
    stochastic: bool  # it holds probabilities only
    symbols: bool  # a table of the words' names and numbers is written beside the file
    factored: bool  # the function takes the automaton itself, because real factors are not written out

    @property
    def options(self) -> tuple[str, ...]:
        """What the function takes besides the automaton."""
        return tuple(inspect.signature(self.write).parameters)[1:]


@dataclass(frozen=True)
class Content:
    """What a format of several files writes: their contents by the endings that take the place of the path's."""

    files: dict[str, str | bytes]  # "" for the path itself
    words: int  # with an entry of their own
    kind: str  # of the automaton that is written
    states: int
    remark: str


FORMATS: dict[str, Exporter] = {}


def exporter(
    name: str,
    suffixes: Sequence[str] = (),
    *,
    stochastic: bool = False,
    symbols: bool = False,
    factored: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function from a `Subset` to the content of a file.

    Args:
        name: of the format.
        suffixes: endings of files, with the dot, that mean this format.
        stochastic: whether the format holds probabilities only; a linear automaton is then rejected, or its readable
            automaton written.
        symbols: whether to write the symbol table of the words beside the file.
        factored: whether the function takes the automaton and the chosen `words`, `states` and `threshold` instead of a
            `Subset`.
    """

    def register(write: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(write)
        def checked(part: Any, *arguments: Any, **options: Any) -> Any:
            if stochastic and part.kind == LinearWFA.kind:
                raise InputError(
                    f"{name} holds probabilities, but a linear automaton has real weights, some of them negative; "
                    "export a stochastic automaton, or this one as json, dot or onnx",
                    code="real-weights",
                )
            return write(part, *arguments, **options)

        FORMATS[name] = Exporter(name, checked, tuple(suffixes), stochastic, symbols, factored)
        return checked

    return register


@dataclass(frozen=True, eq=False, repr=False)
class Exported(Result):
    """What an export holds, and its files."""

    format: str
    kind: str  # of the automaton that is in the files
    words: int
    states: int
    transitions: int | None  # None where they are not written out
    remark: str | None  # which automaton it is, where that is the readable one; what rounding costs
    files: dict[Path, bytes] = field(repr=False)

    def write(self) -> Exported:
        """Write the files."""
        for path, content in self.files.items():
            write_atomically(path, content)
        return self

    def rows(self) -> list[dict[str, Any]]:
        return [{"file": str(path), "bytes": len(content)} for path, content in self.files.items()]

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "files": self.rows()}

    def summary(self) -> str:
        transitions = "" if self.transitions is None else f", {self.transitions:,} transitions"
        size = f"{self.words:,} words, {self.states} states{transitions}"
        return f"{', '.join(map(str, self.files))} ({size})" + ("" if self.remark is None else f"; {self.remark}")


def format_of(path: str | Path) -> str:
    """The format that a file's ending means."""
    ending = Path(path).suffix.lower()
    for name, each in FORMATS.items():
        if ending in each.suffixes:
            return name
    raise InputError(
        f"{path}: the ending names no export format; name one of {', '.join(FORMATS)}", code="unknown-format"
    )


def export_files(
    wfa: WFA,
    path: str | Path,
    format: str | None = None,
    *,
    words: Sequence[str] | int | None = None,
    states: Sequence[int] | None = None,
    threshold: float = 0.0,
    **options: Any,
) -> Exported:
    """The automaton in a format, ready to be written: the file at `path`, and beside it what else the format needs.

    Args:
        wfa: of a linear automaton, formats that hold probabilities only get the readable automaton.
        path: the main file.
        format: one of `FORMATS` (default: by the ending of the path).
        words: the words to export, or how many of the most frequent ones (default: all).
        states: the states to export; 0 is always among them (default: all).
        threshold: smaller weights are left out, and the rows scaled up again.
        options: of the format: `class_name` (openfst), `flows` (dot), `bits`, `max_bytes` and `texts` (js, c).
    """
    name, path = format or format_of(path), Path(path)
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; choose one of {', '.join(FORMATS)}", code="unknown-format")
    chosen = FORMATS[name]
    check_known(f"the format {name}", options, chosen.options)
    wfa, remark = (stochastic_of(wfa) if chosen.stochastic else None) or (wfa, None)
    kind = wfa.kind
    transitions: int | None = None
    if chosen.factored:
        content = chosen.write(wfa, words=words, states=states, threshold=threshold, **options)
        sizes = len(chosen_ids(wfa, with_unknown(words))), len(chosen_states(wfa, states, threshold))
    else:
        part = subset(wfa, words, states, threshold)
        content = chosen.write(part, **options)
        sizes, transitions = (len(part.words), len(part.states)), len(part.weight)
    if isinstance(content, Content):
        kind, remark, sizes = content.kind, content.remark, (content.words, content.states)
        made = {path.with_suffix(ending) if ending else path: each for ending, each in content.files.items()}
    else:
        made = {path: content}
    files = {each: text.encode() if isinstance(text, str) else text for each, text in made.items()}
    if chosen.symbols and not chosen.factored:
        files[path.with_name(path.name + SYMBOLS)] = symbol_table(part.words).encode()
    return Exported(name, kind, *sizes, transitions, remark, files)
