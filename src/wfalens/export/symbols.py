"""How words and numbers are written in text formats.

Words become names that every tool can read, and back again; millions of lines are made of columns, without a loop in
Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import FormatError

WORD, CLASS = "w", "class"  # what a name stands for; the prefix also keeps names clear of every tool's keywords
EPSILON = "<eps>"  # number 0 belongs to the empty word
Column = str | Any  # the same text in every line, or a pyarrow array with one text per line
_ODD = re.compile(r"[^A-Za-z0-9]")
_ESCAPE = re.compile(r"_(?:_|([0-9a-f]+)_)")


def escape(text: str, prefix: str = WORD) -> str:
    """An identifier for any text: `don't` becomes `w_don_27_t`. Different texts have different names."""
    return f"{prefix}_" + _ODD.sub(lambda found: "__" if found[0] == "_" else f"_{ord(found[0]):x}_", text)


def unescape(name: str, prefix: str = WORD) -> str:
    """The text that `escape` made a name of."""
    start = f"{prefix}_"
    text = _ESCAPE.sub(_character, name[len(start) :])
    if not name.startswith(start) or escape(text, prefix) != name:
        raise FormatError(f"{name!r} is not a name that wfalens writes for a text")
    return text


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else ord("_")
    return chr(code) if code < 0x110000 else ""  # beyond all characters: `unescape` sees that it was not written by us


def symbol_table(words: Sequence[str]) -> str:
    """Names and numbers of words in the text form that OpenFst reads: a name, a tab, a number; 0 is the empty word."""
    names = [EPSILON, *map(escape, words)]
    return "".join(f"{name}\t{number}\n" for number, name in enumerate(names))


def numbers(values: NDArray[Any]) -> Any:
    """Numbers as text; a float with the fewest digits that read back as the same float."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(pa.array(values), pa.large_string())


def chosen(texts: Sequence[str], places: NDArray[Any]) -> Any:
    """For every line one of a few texts."""
    import pyarrow as pa

    return pa.array(texts, pa.large_string()).take(pa.array(places))


def where(condition: NDArray[np.bool_], texts: Any) -> Any:
    """The texts where the condition holds, nothing elsewhere; one text per true place."""
    import pyarrow as pa

    places = np.where(condition, np.cumsum(condition), 0)
    return pa.concat_arrays([pa.array([""], pa.large_string()), texts]).take(pa.array(places))


def lines(*columns: Column) -> str:
    """The columns beside each other, all lines in one text; line breaks are the caller's."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.large_string()
    parts = [pa.scalar(column, text) if isinstance(column, str) else column for column in columns]
    joined = pc.binary_join_element_wise(*parts, pa.scalar("", text))
    _, ends, text = joined.buffers()  # an array of texts is one run of bytes, and where each text ends
    return str(text[: np.frombuffer(ends, np.int64)[len(joined)]].to_pybytes(), "utf-8") if len(joined) else ""
