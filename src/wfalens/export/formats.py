"""Every format by its name, as the files that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wfalens.automaton.serving import stochastic_of
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.export.aalpy_dot import to_aalpy
from wfalens.export.dot import to_dot
from wfalens.export.drn import to_drn
from wfalens.export.export_choice import chosen_ids, chosen_states, with_unknown
from wfalens.export.json_file import to_json
from wfalens.export.onnx_automaton import to_onnx
from wfalens.export.openfst import to_openfst
from wfalens.export.prism import to_prism
from wfalens.export.prism_explicit import to_prism_explicit
from wfalens.export.subset import Subset, subset
from wfalens.export.symbols import SymbolTable

SYMBOLS, TRANSITIONS = ".syms", ".tra"
_ENDINGS = {
    ".dot": "dot",
    ".gv": "dot",
    ".prism": "prism",
    TRANSITIONS: "prism-explicit",
    ".drn": "drn",
    ".json": "json",
    ".onnx": "onnx",
}


@dataclass(frozen=True)
class Exported:
    """Files, ready to be written, and how much is in them."""

    files: dict[Path, bytes]
    words: int
    states: int
    transitions: int | None  # None where they are not written out
    kind: str = StochasticWFA.kind  # of the automaton that is in them
    remark: str | None = None  # who that is, where it is the attached readable automaton


def format_of(path: Path) -> str:
    """The format that a file's ending means."""
    try:
        return _ENDINGS[path.suffix.lower()]
    except KeyError:
        raise InputError(
            f"{path}: its ending names no format; give --format with one of {', '.join(FORMATS)}"
        ) from None


def export_files(
    wfa: WFA,
    path: Path,
    name: str,
    *,
    words: Sequence[str] | None = None,
    states: Sequence[int] | None = None,
    threshold: float = 0.0,
    class_name: str | None = None,
    flows: int | None = None,
) -> Exported:
    """The automaton in a format: the file at `path`, and beside it what else the format needs.

    Of a linear automaton, formats that hold probabilities get the readable automaton.
    """
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}; choose one of {', '.join(FORMATS)}")
    if name == "onnx":
        blob = to_onnx(wfa, words, states, threshold)
        chosen = chosen_ids(wfa, with_unknown(words)), chosen_states(wfa, states, threshold)
        return Exported({path: blob}, len(chosen[0]), len(chosen[1]), None, wfa.kind)
    serving = stochastic_of(wfa) if name in _OF_PROBABILITIES else None
    if serving is not None:
        wfa = serving.wfa
    part = subset(wfa, words, states, threshold)
    made = _WRITERS[name](part, class_name, flows)
    main = main_file(path, name)
    files = {_beside(main, ending): text.encode() for ending, text in made.items()}
    sizes = len(part.words), len(part.states), len(part.weight)
    return Exported(files, *sizes, wfa.kind, serving.remark if serving else None)


def _openfst(part: Subset, class_name: str | None) -> str:
    if class_name is None:
        raise InputError(f"OpenFst holds one class at a time; choose it with --class: {', '.join(part.class_names)}")
    return to_openfst(part, class_name)


def _symbols(part: Subset) -> dict[str, str]:
    return {SYMBOLS: SymbolTable(part.words).to_text()}


# each makes texts by their ending; no ending stands for the main file
_Writer = Callable[[Subset, str | None, int | None], dict[str, str]]
_WRITERS: dict[str, _Writer] = {
    "dot": lambda part, _, flows: {"": to_dot(part, flows)},
    "openfst": lambda part, class_name, _: {"": _openfst(part, class_name), **_symbols(part)},
    "prism": lambda part, *_: {"": to_prism(part), **_symbols(part)},
    "prism-explicit": lambda part, *_: {**to_prism_explicit(part), **_symbols(part)},
    "drn": lambda part, *_: {"": to_drn(part), **_symbols(part)},
    "json": lambda part, *_: {"": to_json(part)},
    "aalpy": lambda part, *_: {"": to_aalpy(part), **_symbols(part)},
}
FORMATS = (*_WRITERS, "onnx")
_OF_PROBABILITIES = ("openfst", "prism", "prism-explicit", "drn", "aalpy")  # these hold no other weights


def main_file(path: Path, name: str) -> Path:
    """The file that a format is known by: the given one, but for PRISM's explicit files always one of transitions."""
    explicit = name == "prism-explicit" and path.suffix != TRANSITIONS
    return path.with_name(path.name + TRANSITIONS) if explicit else path


def _beside(main: Path, ending: str) -> Path:
    if ending == SYMBOLS:
        return main.with_name(main.name + SYMBOLS)
    return main.with_name(main.stem + ending) if ending else main
