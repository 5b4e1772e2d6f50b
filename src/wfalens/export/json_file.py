"""JSON, for everything else: the subset as plain lists behind a version number. Holds both kinds.

The schema is described in docs/export.md; `read_json` checks all of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import FormatError, InputError
from wfalens.export.exporters import exporter
from wfalens.export.subset import LOST, Subset
from wfalens.messages import reason_of
from wfalens.results import plain
from wfalens.storage import file_text

FORMAT, VERSION = "wfalens-automaton", 1
READ_OUT = {StochasticWFA.kind: "scale", LinearWFA.kind: "softmax"}
_COLUMNS = ("source", "word", "target", "weight")
_SUM_TOLERANCE = 1e-9


@exporter("json", suffixes=(".json",))
def to_json(part: Subset) -> str:
    """The subset as one JSON object on one line, in ASCII, so that any word survives."""

    def entries(*names: str) -> dict[str, Any]:
        return {name: plain(getattr(part, name)) for name in names if getattr(part, name) is not None}

    document = {
        "format": FORMAT,
        "version": VERSION,
        "kind": part.kind,
        "read_out": READ_OUT[part.kind],
        **entries("class_names", "words", "states", "initial", "final"),
        "transitions": entries(*_COLUMNS),
        **entries("word_counts", "state_frequencies"),
        **part.about,
        **entries("state_names", "word_classes", "class_of_word"),
    }
    return json.dumps(document, allow_nan=False)


def read_json(path: str | Path) -> Subset:
    """The subset of a file; everything in it is checked."""
    try:
        document = json.loads(file_text(Path(path)))
        return _subset(document)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except RecursionError:
        raise FormatError(f"{path}: damaged or not made by wfalens: it is nested too deeply") from None
    except Exception as error:  # files are of anybody
        raise FormatError(f"{path}: damaged or not made by wfalens: {reason_of(error)}") from None


def _subset(document: Any) -> Subset:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f'it has no entry "format" that says "{FORMAT}"')
    if document.get("version") != VERSION:
        raise FormatError(f"its version is {document.get('version')!r}, but this wfalens reads {VERSION}")
    kind = document.get("kind")
    if kind not in READ_OUT or document.get("read_out") != READ_OUT[kind]:
        raise FormatError(f"its kind must be one of {', '.join(READ_OUT)}, with the read-out that belongs to it")
    classes, words = _texts(document, "class_names"), _texts(document, "words")
    states = _numbers(document, "states", np.int64, (None,))
    n, columns = len(states), document.get("transitions")
    if not isinstance(columns, dict):
        raise FormatError('the entry "transitions" is not an object')
    ends = {"source": n, "word": len(words), "target": n}
    shapes = {"initial": (n,), "final": (n, len(classes)), "state_frequencies": (n,)}
    arrays: dict[str, Any] = {
        **{name: _numbers(columns, name, np.int32, (None,), most) for name, most in ends.items()},
        **{name: _numbers(document, name, np.float64, shape) for name, shape in shapes.items()},
    }
    part = Subset(
        kind,
        classes,
        words,
        states,
        **arrays,
        weight=_numbers(columns, "weight", np.float64, (None,)),
        word_counts=_numbers(document, "word_counts", np.int64, (len(words),)),
        about={
            **{name: document.get(name) for name in ("tokenizer", "max_length", "provenance")},
            **{name: document[name] for name in ("truncation_side", "closed") if name in document},
        },
        **_read_names(document, n, len(words)),
    )
    _check_transitions(part)
    return part


def _read_names(document: dict[str, Any], states: int, words: int) -> dict[str, Any]:
    """Of states and word clusters, where the document has them."""
    if "state_names" not in document:
        return {}
    named, clusters = _texts(document, "state_names"), _texts(document, "word_classes")
    if len(named) != states:
        raise FormatError('the entry "state_names" does not name every state once')
    class_of_word = _numbers(document, "class_of_word", np.int64, (words,), len(clusters))
    return {"state_names": named, "word_classes": clusters, "class_of_word": class_of_word}


def _texts(document: dict[str, Any], name: str) -> tuple[str, ...]:
    values = document.get(name)
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise FormatError(f'the entry "{name}" is not a list of texts')
    if len(set(values)) != len(values):
        raise FormatError(f'a text stands twice in the entry "{name}"')
    return tuple(values)


def _numbers(
    document: dict[str, Any], name: str, dtype: type, shape: tuple[int | None, ...], most: int | None = None
) -> NDArray[Any]:
    """An array of the entry: whole numbers for an integer type, finite ones, from 0 to below `most` if it is given."""
    try:
        values = np.asarray(document.get(name))
    except ValueError:
        raise FormatError(f'the entry "{name}" is ragged') from None
    allowed = "iu" if np.issubdtype(dtype, np.integer) else "iuf"
    fits = values.ndim == len(shape) and all(
        size in (None, length) for size, length in zip(shape, values.shape, strict=True)
    )
    if values.dtype.kind not in allowed or not values.size or not fits or not np.all(np.isfinite(values)):
        raise FormatError(f'the entry "{name}" does not hold the numbers that belong there')
    if most is not None and not 0 <= values.min() <= values.max() < most:
        raise FormatError(f'the entry "{name}" holds a number that is not between 0 and {most - 1}')
    return values.astype(dtype)


def _check_transitions(part: Subset) -> None:
    if len({len(getattr(part, name)) for name in _COLUMNS}) != 1:
        raise FormatError("the columns of its transitions differ in length")
    n, words = len(part.states), len(part.words)
    keys = (part.source.astype(np.int64) * words + part.word) * n + part.target
    if np.any(np.diff(keys) <= 0):
        raise FormatError("its transitions are not sorted by source, word and target, each of them once")
    if np.any(part.states[:-1] == LOST):
        raise FormatError("its lost state is not the last one")
    if part.kind == StochasticWFA.kind:
        if part.initial.tolist() != [1.0] + [0.0] * (n - 1):
            raise FormatError("its initial state is not the first one")
        pairs, index = np.unique(keys // n, return_inverse=True)
        sums = np.bincount(index, part.weight)
        is_complete = len(pairs) == n * words
        if not is_complete or np.any(part.weight < 0) or np.any(np.abs(sums - 1) > _SUM_TOLERANCE):
            raise FormatError("the weights of a state and a word are not a distribution")
