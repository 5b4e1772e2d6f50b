"""JavaScript and C of an automaton: tables of integers, written into files with the runtime that reads them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.export.exporters import Content, exporter
from wfalens.export.runtime.fixed_point import IN_MEMORY, Tables, drawn_texts, importance, make_tables, outputs
from wfalens.export.subset import chosen_ids
from wfalens.messages import percent

_HEADER_NUMBERS = ("classes", "free_classes", "states", "most_explained")
_SIZE = re.compile(r"(\d+)\s*([kM]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1000, "m": 1_000_000}
_LINE = 30  # numbers of a table in a line


@dataclass(frozen=True)
class _Candidate:
    """An automaton that fits, and how often it gives the same class as the given one."""

    wfa: WFA
    tables: Tables
    agreement: float


def _runtime_exporter(
    name: str, suffixes: Sequence[str], size_of: Callable[[Tables], int], files_of: Callable[[Tables], dict[str, str]]
) -> Callable[..., Content]:
    @exporter(name, suffixes=suffixes, factored=True)
    def write(
        wfa: WFA,
        words: Sequence[str] | int | None = None,
        states: Sequence[int] | None = None,
        threshold: float = 0.0,
        *,
        bits: int = 16,
        max_bytes: int | str | None = None,
        texts: Sequence[str] | None = None,
    ) -> Content:
        """An automaton as a program of its own.

        `to_js`: an ES module that exports `predict`, `explain` and `classes`; `max_bytes` is the size of the file.
        `to_c`: a C99 file and its header; `max_bytes` is the size of the tables in memory. See `runtime_tables`.
        """
        tables, remark = runtime_tables(wfa, words, states, threshold, bits, max_bytes, texts, size_of)
        return Content({**files_of(tables)}, len(tables.ids), tables.kind, tables.numbers["states"], remark)

    return write


def runtime_tables(
    wfa: WFA,
    words: Sequence[str] | int | None = None,
    states: Sequence[int] | None = None,
    threshold: float = 0.0,
    bits: int = 16,
    max_bytes: int | str | None = None,
    texts: Sequence[str] | None = None,
    size_of: Callable[[Tables], int] = IN_MEMORY,
) -> tuple[Tables, str]:
    """Tables of an automaton or, where only that fits or agrees better, of its readable one; and what they cost.

    Args:
        wfa: a stochastic or linear automaton.
        words: the words to export, or how many of the most frequent ones; others read as `<unk>`.
        states: must be None: a runtime has all states.
        threshold: must be 0.
        bits: 8, 16 or 32 for a weight.
        max_bytes: words that matter least are left out until the tables have this size.
        texts: on which the cost is measured; by default random words of the extraction texts.
        size_of: what tables take; by default in the memory of C.
    """
    if states is not None or threshold:
        raise InputError("a runtime has all states and all weights", code="states")
    ids = chosen_ids(wfa, words)
    most = None if max_bytes is None else _bytes(max_bytes)
    expected = wfa.decide(wfa.weights(drawn_texts(wfa) if texts is None else wfa.encoder.encode(texts)))
    measured = drawn_texts(wfa) if texts is None else replace(wfa.encoder, forms=None).encode(texts)
    found = []
    for each in [wfa] if max_bytes is None or wfa.readable in (None, wfa) else [wfa, wfa.readable]:
        order = np.argsort(-importance(each, ids), kind="stable") if max_bytes is not None else slice(None)
        tables = make_tables(each, ids[order], bits, most, size_of=size_of)
        if tables is not None:
            decisions = each.decide(outputs(tables, each, measured))
            found.append(_Candidate(each, tables, float((decisions == expected).mean())))
    if not found:
        raise InputError(f"the automaton does not fit into {most:,} bytes without any word", code="too-large")
    best = max(found, key=lambda each: each.agreement)
    return best.tables, _remark(wfa, best, len(measured), texts is None)


def _remark(wfa: WFA, best: _Candidate, texts: int, is_random: bool) -> str:
    what = "" if best.wfa is wfa else "the readable automaton, "
    sort = "random texts" if is_random else "texts"
    words = f"{len(best.tables.ids):,} words with an entry of their own"
    bound = best.tables.error_bound(1)
    off = "" if bound is None else f"; probabilities are off by at most {bound:.1e} for each word of a text"
    words += "" if wfa.encoder.forms is None else ", unknown ones read as <unk> and not by their form"
    return f"{what}{words}; the same class as the automaton on {percent(best.agreement, 1)} of {texts:,} {sort}{off}"


def module_bytes(tables: Tables) -> int:
    return len(_module(tables).encode())


def _module(tables: Tables) -> str:
    return (
        f"// Made by wfalens. predict(text), explain(text) and classes; see the end.\n{runtime_js()}\n"
        f"const model = automaton({_javascript(to_dict(tables))});\n"
        "export const { classes, unit, tokens, predict, trace, explain } = model;\nexport default model;\n"
    )


def to_dict(tables: Tables) -> dict[str, Any]:
    """Tables as runtime.js takes them, ready for JSON."""
    return {
        "kind": tables.kind,
        "unit": tables.unit,
        "class_names": tables.class_names,
        "numbers": tables.numbers,
        "arrays": {name: [str(array.dtype), _text(array)] for name, array in tables.arrays.items()},
    }


def runtime_js() -> str:
    """The code that reads tables, without its comments: a script that defines `automaton(tables)`."""
    lines = map(str.strip, _template("runtime.js").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _text(array: NDArray[Any]) -> str:
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _javascript(data: dict[str, Any]) -> str:
    """JSON that is JavaScript, too, wherever it is embedded."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _bytes(size: int | str) -> int:
    found = _SIZE.fullmatch(str(size).strip())
    if found is None:
        raise InputError(f"a size is a number of bytes, or such as 64k, not {size!r}", code="option-value")
    return int(found[1]) * _UNITS[found[2].lower()]


@cache
def _template(name: str) -> str:
    return (files("wfalens.export.runtime") / name).read_text(encoding="utf-8")


def _header(tables: Tables) -> str:
    """The declarations, which the source has as well."""
    steps = 3 * (tables.numbers["states"] - 1) * tables.numbers["linear"]
    lines = [
        "/* Made by wfalens. */",
        "#ifndef WFALENS_AUTOMATON_H",
        "#define WFALENS_AUTOMATON_H",
        *(f"#define WFA_{name.upper()} {tables.numbers[name]}" for name in _HEADER_NUMBERS),
        f"#define WFA_VALUE_ONE (INT64_C(1) << {50 - tables.numbers['logit_bits']})",
        "#define WFA_WORK(words) (((words) + 3 * WFA_FREE_CLASSES) * WFA_STATES)",
        f"#define WFA_STEP_NUMBERS {-(-steps // (1 + tables.numbers.get('short_steps', 0)))}",
    ]
    return "\n".join([*lines, _template("runtime.h"), "#endif", ""])


def _source(tables: Tables, header: str) -> str:
    numbers = {name: number for name, number in tables.numbers.items() if name not in _HEADER_NUMBERS}
    numbers["state_bits"] = tables.numbers["state_one"].bit_length() - 1
    defined = [f"#define WFA_{name.upper()} {number}" for name, number in numbers.items()]
    given = {name: array for name, array in tables.arrays.items() if len(array)}
    if not tables.numbers["linear"]:
        fits = tables.numbers["state_one"] * tables.numbers["row_one"] < 1 << 31
        types = [f"typedef uint{32 if fits else 64}_t wfa_sum;"]
    else:
        narrow, link = tables.numbers["read_shift"] > 0, tables.arrays["links"].dtype
        types = [f"typedef {link}_t wfa_link;", f"typedef int{16 if narrow else 32}_t wfa_short;"]
        types.append(f"typedef int{32 if narrow else 64}_t wfa_sum;")
    names = ", ".join(_c_string(name) for name in tables.class_names)
    named = f"const char *const wfa_classes[WFA_CLASSES] = {{{names}}};"
    arrays = [_array(name, array) for name, array in given.items()]
    return "\n".join([header, *defined, *types, *arrays, named, "", _template("runtime.c")])


def _array(name: str, array: NDArray[Any]) -> str:
    values = array.tolist()
    rows = (",".join(map(str, values[at : at + _LINE])) for at in range(0, len(values), _LINE))
    joined = ",\n".join(rows)
    return f"static const {array.dtype}_t wfa_{name}[] WFA_ALIGNED = {{\n{joined}\n}};"


def _c_string(text: str) -> str:
    """A literal in ASCII; octal escapes of three digits end where they should."""
    written = (
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{"".join(written)}"'


def _c_files(tables: Tables) -> dict[str, str]:
    header = _header(tables)
    return {"": _source(tables.for_c(), header), ".h": header}


to_js = _runtime_exporter("js", (".js", ".mjs"), module_bytes, lambda tables: {"": _module(tables)})
to_c = _runtime_exporter("c", (".c",), IN_MEMORY, _c_files)
