"""Millions of lines of text from columns, without a Python loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Column = str | Any  # the same text in every line, or a pyarrow array with one text per line
_TEXT = pa.large_string()


def numbers(values: NDArray[Any]) -> Any:
    """Numbers as text; a float with the fewest digits that read back as the same float."""
    return pc.cast(pa.array(values), _TEXT)


def chosen(texts: Sequence[str], places: NDArray[Any]) -> Any:
    """For every line one of a few texts."""
    return pa.array(texts, _TEXT).take(pa.array(places))


def where(condition: NDArray[np.bool_], texts: Any) -> Any:
    """The texts where the condition holds, nothing elsewhere; one text per true place."""
    places = np.where(condition, np.cumsum(condition), 0)
    return pa.concat_arrays([pa.array([""], _TEXT), texts]).take(pa.array(places))


def lines(*columns: Column) -> str:
    """The columns beside each other, all lines in one text; line breaks are the caller's."""
    parts = [pa.scalar(column, _TEXT) if isinstance(column, str) else column for column in columns]
    joined = pc.binary_join_element_wise(*parts, pa.scalar("", _TEXT))
    _, ends, text = joined.buffers()  # an array of texts is one run of bytes, and where each text ends
    return str(text[: np.frombuffer(ends, np.int64)[len(joined)]].to_pybytes(), "utf-8") if len(joined) else ""
